//! What share of the classes did the runs find?

use super::{Class, Reach};
use crate::engine::target::Target;
use crate::trace::Run;

/// The number of reached classes, run by run, over all runs.
#[derive(Debug, Default)]
pub(crate) struct Discovery {
    pub(crate) reached: usize,
    pub(crate) declared: usize,
    /// The classes that a run missed, in words.
    pub(crate) missed: Vec<String>,
}

impl Discovery {
    /// The target, with one name in all gates that use it.
    pub(crate) const TARGET: Target = Target::percent(
        "orchestration.discovery",
        "percent of the classes that the calls of a run reached",
    )
    .pooled();

    pub(crate) fn over(classes: &[Class], runs: &[Run<'_>]) -> Self {
        let mut found = Self::default();
        let mut missed_in = vec![0; classes.len()];
        for run in runs {
            let reach = Reach::from_calls(&run.trace.tool_calls, classes);
            found.reached += classes.len() - reach.unreached.len();
            found.declared += classes.len();
            for &class in &reach.unreached {
                missed_in[class] += 1;
            }
        }
        let missed = classes.iter().zip(missed_in).filter(|(_, runs)| *runs > 0);
        let missed =
            missed.map(|(class, missed)| why_missed(class, runs.len() - missed, runs.len()));
        found.missed = missed.collect();
        found
    }

    /// In whole percent, floored; `None` without classes or runs.
    pub(crate) fn percent(&self) -> Option<usize> {
        (100 * self.reached).checked_div(self.declared)
    }
}

fn why_missed(class: &Class, reached: usize, runs: usize) -> String {
    let (name, members) = (&class.name, class.members.join(", "));
    match reached {
        0 => format!("no run reaches the class `{name}` ({members})"),
        some => format!("{some} of {runs} runs reach the class `{name}` ({members})"),
    }
}
