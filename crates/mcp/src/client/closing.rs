//! A connection has ended: how, and what was seen until its very end?

use super::Observed;
use std::ops::Deref;

/// How a connection ended, and all that was seen on it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Closing {
    /// Everything that [`observed`](super::Client::observed) gives, with what came during the ending.
    pub observed: Vec<Observed>,
    process: mcptest_process::Closing,
}

impl Closing {
    pub(super) fn new(process: mcptest_process::Closing, mut observed: Vec<Observed>) -> Self {
        let mut note = |what| observed.push(Observed::Ending { what });
        if process.killed {
            note("it ended neither when its input ended nor on SIGTERM, and was killed");
        } else if process.left_processes {
            note("it left processes behind, which were ended");
        }
        Self { observed, process }
    }
}

impl Deref for Closing {
    type Target = mcptest_process::Closing;

    fn deref(&self) -> &mcptest_process::Closing {
        &self.process
    }
}
