//! What happens while runs are recorded, for those who want to watch.

use std::sync::Arc;
use std::time::Duration;

/// One thing that happened.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// Tool tests are going to be called.
    ToolsBegan {
        /// How many.
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
        /// Why there is no recording of it, when there is none.
        unrecorded: Option<String>,
    },
    /// Recording begins: the rows and how many runs each needs.
    Began {
        /// The rows, which other events name by their place here.
        rows: Vec<RowToRecord>,
    },
    /// A run has started.
    RunStarted {
        /// The row.
        row: usize,
        /// The run, from 1.
        run: usize,
        /// Whether it is a side run.
        is_side: bool,
    },
    /// The model is asked.
    Asks {
        /// The row.
        row: usize,
        /// The run.
        run: usize,
    },
    /// The provider is not asked again before so much time has passed.
    Waits {
        /// The row.
        row: usize,
        /// The run.
        run: usize,
        /// How long that is.
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
        /// Tokens of this answer, where they are counted.
        tokens: Option<u64>,
        /// What it cost, where that is known.
        cost_usd: Option<f64>,
    },
    /// A tool is called.
    Calls {
        /// The row.
        row: usize,
        /// The run.
        run: usize,
        /// The server it is meant for, where there is one.
        server: Option<String>,
        /// The tool.
        tool: String,
    },
    /// A run is over and, unless it says why not, on the disk.
    RunFinished {
        /// The row.
        row: usize,
        /// The run.
        run: usize,
        /// Why the agent stopped, where it did.
        stop_reason: Option<String>,
        /// Why it is not recorded, when it is not; without secrets.
        unrecorded: Option<String>,
    },
    /// More runs of a row are needed than was known: side runs, as of a fault matrix.
    More {
        /// The row.
        row: usize,
        /// How many more.
        runs: usize,
    },
    /// The rest of a row's runs is not needed: its verdict is decided.
    Decided {
        /// The row.
        row: usize,
        /// How many runs are saved.
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
        /// What it came to, where there is a grade.
        said: Option<String>,
        /// Its tokens, where they are counted.
        tokens: Option<u64>,
        /// What it cost, where that is known.
        cost_usd: Option<f64>,
        /// Why there is no grade, when there is none; without secrets.
        ungraded: Option<String>,
    },
    /// Nothing more is recorded.
    Ended,
}

/// A row whose runs are recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowToRecord {
    /// Its name.
    pub name: String,
    /// How many runs are recorded now.
    pub runs: usize,
    /// How many runs it has in all.
    pub of: usize,
    /// What a run for one of its gates is called, where there are such.
    pub side: &'static str,
}

/// Whoever watches.
pub type Watch = Arc<dyn Fn(Event) + Send + Sync>;

/// Nobody does.
pub fn unwatched() -> Watch {
    Arc::new(|_| {})
}
