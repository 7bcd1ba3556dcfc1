//! What was recorded of a row is read, and handed over to be judged.

use crate::grade::GradedRow;
use crate::record::RecordedRow;
use crate::{Mode, Options, replay, tool_test};
use mcptest_core::guard::guarded;
use mcptest_core::judge::{Judging, Recorded, judge_row};
use mcptest_core::report::{Status, TestReport};
use mcptest_core::row::{Reason, ReasonKind, Row, Subject};

/// The report of a row that nothing was done for, because another one failed.
pub(crate) fn after_a_failure(row: &Row<'_>, why: &str) -> TestReport {
    let mut report = row.blank();
    report.status = Status::Skipped;
    report.reason = Some(Reason::new(ReasonKind::FailFast, why));
    report
}

/// What a row comes to, whatever judges would say of it.
pub(crate) fn status(row: &Row<'_>, options: Options, fresh: Option<&RecordedRow>) -> Status {
    judge(row, options, fresh, None, |_| {}).status_but_for_grades()
}

/// Judges one row: from its recordings, or from what was recorded for it just now. Whatever is wrong with it stays in
/// it, a bug in mcptest included. `also` sees what the row is judged by.
pub(crate) fn judge(
    row: &Row<'_>,
    options: Options,
    fresh: Option<&RecordedRow>,
    graded: Option<&GradedRow>,
    also: impl Fn(&Recorded<'_>),
) -> TestReport {
    guarded(|| read_and_judge(row, options, fresh, graded, also))
        .unwrap_or_else(|panic| row.broken(panic.into()))
}

fn read_and_judge(
    row: &Row<'_>,
    options: Options,
    fresh: Option<&RecordedRow>,
    graded: Option<&GradedRow>,
    also: impl Fn(&Recorded<'_>),
) -> TestReport {
    let judging = Judging {
        deny_vacuous: options.deny_vacuous,
        deny_unpinned: options.deny_unpinned,
        is_live: options.mode == Mode::Live,
        evidence: options.evidence,
    };
    let judged = |recorded: &Recorded<'_>| {
        also(recorded);
        let mut report = match graded {
            Some(graded) => judge_row(row, &graded.over(recorded), judging),
            None => judge_row(row, recorded, judging),
        };
        report
            .notes
            .extend(fresh.into_iter().flat_map(RecordedRow::notes).cloned());
        report
    };
    match fresh {
        // Nothing is read for a row that is not judged.
        _ if row.skip.is_some() || row.is_refused() => {
            judged(&Recorded::Nothing(Reason::default()))
        }
        Some(RecordedRow::NotRun) => after_a_failure(row, "not run: --fail-fast"),
        Some(RecordedRow::Failed(reason)) => judged(&Recorded::Nothing(reason.clone())),
        _ => with_recorded(row, fresh, judged),
    }
}

/// Reads what was recorded of a row: just now, where that is not written, or what is on the disk.
pub(crate) fn with_recorded<T>(
    row: &Row<'_>,
    fresh: Option<&RecordedRow>,
    work: impl FnOnce(&Recorded<'_>) -> T,
) -> T {
    let unwritten = match fresh {
        Some(RecordedRow::InMemory {
            recording, matrix, ..
        }) => Some((recording, matrix)),
        _ => None,
    };
    match row.subject {
        Subject::Agent(of) => {
            let live = unwritten.map(|(recording, matrix)| replay::Live {
                cassette: recording,
                matrix: matrix.as_deref(),
            });
            replay::with_runs(row, of, live, work)
        }
        Subject::Tool(of) => tool_test::with_call(
            row,
            of,
            unwritten.map(|(recording, _)| recording.as_str()),
            work,
        ),
        Subject::Refused(_) => work(&Recorded::Nothing(Reason::default())),
    }
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
        let begun = |row: &Row<'_>| {
            let breaks = |_: &Recorded<'_>| assert!(row.name != "one", "the first is broken");
            judge(row, Options::default(), None, None, breaks)
        };
        let (one, other) = (begun(&rows[0]), begun(&rows[1]));
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
