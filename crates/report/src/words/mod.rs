//! How are values, matchers and failures written in words? For the formats that people read.

mod causes;
mod evidence;
mod matcher;
mod value;

pub(crate) use causes::causes;
pub(crate) use evidence::{
    details, differences, finding, first_reason, first_sentence_of_gate, first_sentence_of_run,
    headline, label, labelled, of_failing_gates, unmet,
};
pub use mcptest_core::escape::escape;
pub use mcptest_core::words::count;
pub(crate) use value::{arguments, arguments_apart, clipped};

/// Limits on the shown part of one value, text or list.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Characters of a value.
    pub(crate) value: usize,
    /// Characters of a sentence.
    pub(crate) text: usize,
    /// Differences per assertion or finding.
    pub(crate) diffs: usize,
    /// Files or traces of a group of runs.
    pub(crate) origins: usize,
}

/// For a screen, on which the first lines matter.
pub(crate) const SCREEN: Limits = Limits {
    value: 160,
    text: 400,
    diffs: 5,
    origins: 3,
};
/// For a file that other tools display.
pub(crate) const FILE: Limits = Limits {
    value: 1_000,
    text: 4_000,
    diffs: usize::MAX,
    origins: usize::MAX,
};

/// `12 ms`, `1.20 s`, `3 min 5 s`.
pub(crate) fn time(took: std::time::Duration) -> String {
    match took.as_secs() {
        0 => format!("{} ms", took.as_millis()),
        1..60 => format!("{:.2} s", took.as_secs_f64()),
        seconds => format!("{} min {} s", seconds / 60, seconds % 60),
    }
}

/// The tests that a comparison found on one side alone, in a sentence each.
pub fn only_in<'t>(side: &'t str, tests: &'t [String]) -> impl Iterator<Item = String> + 't {
    tests
        .iter()
        .map(move |test| format!("only in {side}: {test}"))
}
