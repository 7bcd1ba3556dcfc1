//! Which tests of two reports are the same?

use mcptest_core::report::leaderboard::by_model;
use mcptest_core::report::{Report, TestReport};
use mcptest_core::suite::Variant;

type Pair<'r> = (&'r TestReport, &'r TestReport);

/// The tests of two reports: those of both, and those that only one has.
pub(super) struct Joined<'r> {
    pub(super) pairs: Vec<Pair<'r>>,
    pub(super) only_a: Vec<&'r TestReport>,
    pub(super) only_b: Vec<&'r TestReport>,
}

/// Where each report has one model and they are not all the same, the model is what is compared, and it does not say
/// which tests are the same.
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

type Name<'r> = (&'r str, Option<&'r str>, Option<Variant>);

fn name(test: &TestReport) -> Name<'_> {
    (&test.name, test.model.as_deref(), test.variant)
}

/// By suite, name, model and variant; then, for a suite that has moved, by all but the suite, where that names one test
/// on each side.
pub(super) fn join<'r>(a: &'r [TestReport], b: &'r [TestReport]) -> Joined<'r> {
    let mut of_b: Vec<Option<&TestReport>> = b.iter().map(Some).collect();
    let mut of_a: Vec<(&TestReport, Option<&TestReport>)> = Vec::new();
    for test in a {
        let is_same =
            |other: &&TestReport| other.suite.file == test.suite.file && name(other) == name(test);
        let found = of_b
            .iter_mut()
            .find(|other| other.as_ref().is_some_and(is_same));
        of_a.push((test, found.and_then(Option::take)));
    }
    let alone: Vec<Name<'_>> = of_a
        .iter()
        .filter(|(_, other)| other.is_none())
        .map(|(test, _)| name(test))
        .collect();
    for (test, other) in of_a.iter_mut().filter(|(_, other)| other.is_none()) {
        let is_only = alone.iter().filter(|one| **one == name(test)).count() == 1;
        let mut found: Vec<_> = of_b
            .iter_mut()
            .filter(|one| one.is_some_and(|one| name(one) == name(test)))
            .collect();
        if let ([found], true) = (&mut found[..], is_only) {
            *other = found.take();
        }
    }
    Joined {
        pairs: of_a
            .iter()
            .filter_map(|(test, other)| Some((*test, (*other)?)))
            .collect(),
        only_a: of_a
            .iter()
            .filter(|(_, other)| other.is_none())
            .map(|(test, _)| *test)
            .collect(),
        only_b: of_b.into_iter().flatten().collect(),
    }
}
