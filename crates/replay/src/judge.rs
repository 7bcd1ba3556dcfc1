//! Which verdict do the recordings of one row lead to?

use crate::fresh::FreshRow;
use crate::grades::GradedRow;
use crate::judge_plan::JudgeOptions;
use crate::open::OpenedRow;
use mcptest_core::coverage::Exercised;
use mcptest_core::guard::guarded;
use mcptest_core::judge::judge_row;
use mcptest_core::report::{Status, TestReport};
use mcptest_core::row::{Reason, ReasonKind, Row};

/// The report of a row that was skipped because another one failed.
pub fn after_a_failure(row: &Row<'_>, why: &str) -> TestReport {
    let mut report = row.blank();
    report.status = Status::Skipped;
    report.reason = Some(Reason::new(ReasonKind::FailFast, why));
    report
}

/// The status of a row, without judges.
pub fn status(row: &Row<'_>, options: JudgeOptions, fresh: Option<&FreshRow>) -> Status {
    judge(row, options, fresh, None).0.status_but_for_grades()
}

/// Judges one row from its recordings, or from its new recording. Adds its coverage, if requested.
pub fn judge(
    row: &Row<'_>,
    options: JudgeOptions,
    fresh: Option<&FreshRow>,
    graded: Option<&GradedRow>,
) -> (TestReport, Option<Exercised>) {
    or_broken(row, || open_and_judge(row, options, fresh, graded))
}

/// Turns any failure of a row into an error of that row, including bugs in mcptest.
fn or_broken(
    row: &Row<'_>,
    judge: impl FnOnce() -> (TestReport, Option<Exercised>),
) -> (TestReport, Option<Exercised>) {
    guarded(judge).unwrap_or_else(|panic| (row.broken(panic.into()), None))
}

fn open_and_judge(
    row: &Row<'_>,
    options: JudgeOptions,
    fresh: Option<&FreshRow>,
    graded: Option<&GradedRow>,
) -> (TestReport, Option<Exercised>) {
    if let Some(FreshRow::NotRun) = fresh {
        return (after_a_failure(row, "not run: --fail-fast"), None);
    }
    let opened = OpenedRow::open(row, fresh);
    let parsed = opened.parse();
    let recorded = parsed.recorded();
    let mut report = match graded {
        Some(graded) => judge_row(row, &graded.over(&recorded), options.row),
        None => judge_row(row, &recorded, options.row),
    };
    if fresh.is_some_and(FreshRow::is_unwritten) && !options.row.is_live {
        let again = || row.rerun.recording("--record");
        match &mut report.reason {
            Some(reason) => {
                reason.command.get_or_insert_with(again);
            }
            None => report.rerun = again(),
        }
    }
    let notes = fresh.map(FreshRow::notes).unwrap_or_default();
    report.notes.extend(notes.iter().cloned());
    let exercised = options
        .coverage
        .is_some()
        .then(|| Exercised::from_row(row, &recorded));
    (report, exercised)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mcptest_core::suite::{Host, load};
    use std::path::Path;

    const SUITE: &str = "agents:\n  - name: one\n    cassette: none.json\n    narrative: {}\n  \
                         - name: other\n    cassette: none.json\n    narrative: {}\n";

    #[test]
    fn a_panic_is_an_error_of_its_row() {
        let read = |_: &Path| Ok(SUITE.as_bytes().to_vec());
        let suite = load(Path::new("suite.yml"), &Host::new(&read, &|_| None))
            .suite
            .unwrap();
        let rows = suite.rows();
        let (one, _) = or_broken(&rows[0], || panic!("the first is broken"));
        let (other, _) = judge(&rows[1], JudgeOptions::default(), None, None);
        assert_eq!((one.name.as_str(), one.status), ("one", Status::Error));
        let reason = one.reason.unwrap();
        assert_eq!(reason.kind, ReasonKind::Panicked);
        assert!(
            reason
                .message
                .starts_with("mcptest itself failed: the first is broken"),
            "{}",
            reason.message
        );
        assert_eq!(other.reason.unwrap().kind, ReasonKind::RecordingMissing);
    }
}
