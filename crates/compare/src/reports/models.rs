//! Which models are compared?

use super::Named;
use mcptest_core::report::Report;
use mcptest_core::report::leaderboard::{Group, by_model};

/// If each report has one model and the models differ, the comparison is between the models. Tests
/// are then matched without them.
pub fn leave_models_out(reports: &mut [Report]) {
    let models: Vec<Vec<String>> = reports
        .iter()
        .map(|report| {
            by_model(&report.tests)
                .into_iter()
                .map(|(model, _)| model)
                .collect()
        })
        .collect();
    let are_single = models.iter().all(|models| models.len() == 1);
    if are_single && models.windows(2).any(|two| two[0] != two[1]) {
        for test in reports.iter_mut().flat_map(|report| &mut report.tests) {
            test.model = None;
        }
    }
}

/// The models of both sides. If both have one model, the groups are the sides.
pub(super) fn groups<'r>((a, name_a): Named<'r>, (b, name_b): Named<'r>) -> Vec<Group<'r>> {
    let (of_a, of_b) = (by_model(&a.tests), by_model(&b.tests));
    let is_in_both = of_a
        .iter()
        .any(|(model, _)| of_b.iter().any(|(other, _)| other == model));
    let named = |groups: Vec<Group<'r>>, side: &str| -> Vec<Group<'r>> {
        let name = |model: String| {
            if is_in_both {
                format!("{model} ({side})")
            } else {
                model
            }
        };
        groups
            .into_iter()
            .map(|(model, tests)| (name(model), tests))
            .collect()
    };
    named(of_a, name_a)
        .into_iter()
        .chain(named(of_b, name_b))
        .collect()
}
