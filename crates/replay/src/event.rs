//! Which events does a recording report to its observers?

use std::sync::Arc;
use std::time::Duration;

/// An event of a recording.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// Tool tests are going to be called.
    ToolsBegan {
        /// The number of tests.
        tests: usize,
    },
    /// The first answer of a server is late.
    ServerLate {
        /// The row and the run that wait for it; `None` for a tool test.
        of: Option<(usize, usize)>,
        /// The server.
        server: String,
    },
    /// A tool test was called.
    ToolCalled {
        /// The row.
        row_name: String,
        /// The reason that it has no recording, if so.
        unrecorded: Option<String>,
    },
    /// Recording begins: the rows, and the number of runs that each needs.
    Began {
        /// The rows. Other events refer to them by index.
        rows: Vec<RowToRecord>,
    },
    /// A run has started.
    RunStarted {
        /// The row.
        row: usize,
        /// The run, from 1.
        run: usize,
        /// True for a side run.
        is_side: bool,
    },
    /// The model is called.
    Asks {
        /// The row.
        row: usize,
        /// The run.
        run: usize,
    },
    /// The provider pauses for this time.
    Waits {
        /// The row.
        row: usize,
        /// The run.
        run: usize,
        /// The duration.
        wait: Duration,
        /// Why; without secrets.
        why: String,
    },
    /// The model has answered.
    Answered {
        /// The row.
        row: usize,
        /// The run.
        run: usize,
        /// The tokens of this answer, if counted.
        tokens: Option<u64>,
        /// The cost, if known.
        cost_usd: Option<f64>,
    },
    /// A tool is called.
    Calls {
        /// The row.
        row: usize,
        /// The run.
        run: usize,
        /// The server, if any.
        server: Option<String>,
        /// The tool.
        tool: String,
    },
    /// A run has ended and is on disk, unless it gives a reason why not.
    RunFinished {
        /// The row.
        row: usize,
        /// The run.
        run: usize,
        /// The stop reason, if the agent stopped.
        stop_reason: Option<String>,
        /// The reason that it is not recorded, if so; without secrets.
        unrecorded: Option<String>,
    },
    /// A row needs additional runs: side runs, such as the runs of a fault matrix.
    More {
        /// The row.
        row: usize,
        /// The number of additional runs.
        runs: usize,
    },
    /// The rest of a row's runs is not needed: its verdict is decided.
    Decided {
        /// The row.
        row: usize,
        /// The number of saved runs.
        saved: usize,
    },
    /// A check of a run was graded, or was not.
    Graded {
        /// The row.
        row_name: String,
        /// The run.
        run: usize,
        /// The check, by its path in the test.
        check: String,
        /// The grade, if it has one.
        said: Option<String>,
        /// The tokens, if counted.
        tokens: Option<u64>,
        /// The cost, if known.
        cost_usd: Option<f64>,
        /// The reason for a missing grade, without secrets.
        ungraded: Option<String>,
    },
    /// The recording has ended.
    Ended,
}

/// A row with runs to record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowToRecord {
    /// Its name.
    pub name: String,
    /// The number of runs to record now.
    pub runs: usize,
    /// The total number of its runs.
    pub of: usize,
    /// The name of its side runs, if a gate has any.
    pub side: &'static str,
}

/// An observer.
pub type Watch = Arc<dyn Fn(Event) + Send + Sync>;

/// An observer that ignores all events.
pub fn unwatched() -> Watch {
    Arc::new(|_| {})
}
