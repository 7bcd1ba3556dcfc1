//! What happens while runs are recorded, for those who want to watch.

use std::sync::Arc;

/// One thing that happened.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// Recording begins: the rows and how many runs each needs.
    Began {
        /// The rows, which other events name by their place here.
        cells: Vec<(String, usize)>,
    },
    /// A run has started.
    RunStarted {
        /// The row.
        cell: usize,
        /// The run, from 1.
        run: usize,
    },
    /// The model has answered.
    Answered {
        /// The row.
        cell: usize,
        /// The run.
        run: usize,
        /// Tokens of this answer.
        tokens: u64,
        /// What it cost, where that is known.
        cost_usd: Option<f64>,
    },
    /// A tool is called.
    Calls {
        /// The row.
        cell: usize,
        /// The run.
        run: usize,
        /// The tool.
        tool: String,
    },
    /// A run is over and, unless it says why not, on the disk.
    RunFinished {
        /// The row.
        cell: usize,
        /// The run.
        run: usize,
        /// Why it is not recorded, when it is not.
        unrecorded: Option<String>,
    },
    /// More runs of a row are needed than was known, as for a fault matrix.
    More {
        /// The row.
        cell: usize,
        /// How many more.
        runs: usize,
    },
    /// The rest of a row's runs is not needed: its verdict is decided.
    Decided {
        /// The row.
        cell: usize,
        /// How many runs are saved.
        saved: usize,
    },
    /// Nothing more is recorded.
    Ended,
}

/// Whoever watches.
pub type Watch = Arc<dyn Fn(Event) + Send + Sync>;

/// Nobody does.
pub fn unwatched() -> Watch {
    Arc::new(|_| {})
}
