//! `run_options:` and `budget:`.

use super::read::{Block, Field};

/// Options for running a suite.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RunOptions {
    /// The treatment of a stale cassette.
    pub stale: Stale,
    /// Fail rows whose recording has no fingerprint.
    pub deny_unpinned: bool,
}

/// The treatment of a row whose cassette was recorded with a different prompt, model or parameters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Stale {
    /// The row is an error.
    #[default]
    Error,
    /// Judge the row and add a note.
    Warn,
}

/// The limits for recording.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Budget {
    /// The limit in dollars for one test.
    pub per_test_usd: Option<f64>,
    /// Dollars for the whole suite.
    pub per_suite_usd: Option<f64>,
    /// The limit in tokens for one run.
    pub per_run_tokens: Option<u64>,
}

impl RunOptions {
    pub(super) fn read(field: &mut Field<'_>) -> Option<Self> {
        field.block(|block: &mut Block<'_>| {
            let doc = "`error` (the default) or `warn` if a cassette no longer fits the suite";
            let words = [("error", Stale::Error), ("warn", Stale::Warn)];
            let stale = block.or_default("stale", doc, |f| {
                f.choice("how to treat a stale cassette", &words)
            });
            let doc = "Fail tests whose recording has no fingerprint (`unpinned`)";
            Self {
                stale,
                deny_unpinned: block.flag("deny_unpinned", doc, false),
            }
        })
    }
}

impl Budget {
    pub(super) fn read(field: &mut Field<'_>) -> Option<Self> {
        let usd = |f: &mut Field<'_>| f.number(0.0..=f64::MAX);
        let tokens = |f: &mut Field<'_>| f.whole(1..=u64::MAX);
        field.block(|block: &mut Block<'_>| Self {
            per_test_usd: block.optional(
                "per_test_usd",
                "The maximum cost of recording one test, in dollars",
                usd,
            ),
            per_suite_usd: block.optional(
                "per_suite_usd",
                "The maximum cost of recording the suite, in dollars",
                usd,
            ),
            per_run_tokens: block.optional(
                "per_run_tokens",
                "The maximum number of tokens of one recorded run",
                tokens,
            ),
        })
    }
}
