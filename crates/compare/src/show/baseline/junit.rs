//! `junit`: a testcase per test, and one per number that has shifted.

use super::{runs, unpaired};
use crate::baseline::{BaselineDiff, Difference, DifferenceClass, NumberShift, TestDiff};
use mcptest_report::Options;
use mcptest_report::junit::{bad, describe, document, xml};
use mcptest_report::words::escape;
use quick_junit::{NonSuccessKind, TestCase, TestCaseStatus, TestSuite};

pub(super) fn render(comparison: &BaselineDiff, _: &Options) -> Vec<u8> {
    let mut suite = TestSuite::new(xml(&format!(
        "{} and {}",
        comparison.before.file, comparison.after.file
    )));
    suite.add_test_cases(comparison.tests.iter().map(of_test));
    suite.add_test_cases(comparison.numbers.iter().map(of_number));
    for said in unpaired(comparison) {
        suite.add_property((xml("note"), xml(&said)));
    }
    document("mcptest model-baseline diff", [suite])
}

fn of_test(test: &TestDiff) -> TestCase {
    let broken: Vec<&Difference> = test
        .differences
        .iter()
        .filter(|one| one.class == DifferenceClass::Fail)
        .collect();
    let status = match (&test.not_compared, broken.first()) {
        (Some(why), _) => bad(
            NonSuccessKind::Error,
            "not compared",
            why,
            escape(why).into_owned(),
        ),
        (None, Some(first)) => {
            let lines: Vec<String> = broken
                .iter()
                .map(|one| escape(&in_words(one)).into_owned())
                .collect();
            bad(
                NonSuccessKind::Failure,
                "FAIL",
                &first.message,
                lines.join("\n"),
            )
        }
        (None, None) => TestCaseStatus::success(),
    };
    let mut case = TestCase::new(xml(&test.name), status);
    case.set_classname(xml(&test.suite));
    describe(&mut case, [("runs", runs(test))]);
    let tolerated = test
        .differences
        .iter()
        .filter(|one| one.class != DifferenceClass::Fail);
    describe(
        &mut case,
        tolerated.map(|one| (one.class.word(), in_words(one))),
    );
    case
}

fn in_words(one: &Difference) -> String {
    let support = one
        .support_in_words()
        .map(|support| format!(" ({support})"))
        .unwrap_or_default();
    format!("{}{support}", one.message)
}

fn of_number(number: &NumberShift) -> TestCase {
    let status = if number.class == DifferenceClass::Drift {
        bad(
            NonSuccessKind::Failure,
            "DRIFT",
            &number.in_words(),
            escape(&number.in_words()).into_owned(),
        )
    } else {
        TestCaseStatus::success()
    };
    let mut case = TestCase::new(xml(&number.target), status);
    case.set_classname(xml(&format!("numbers of {}", number.gate)));
    describe(
        &mut case,
        [
            ("before", number.before.to_string()),
            ("after", number.after.to_string()),
        ],
    );
    case
}
