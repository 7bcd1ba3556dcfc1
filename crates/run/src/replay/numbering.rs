//! Which number does each run of a row have?

use crate::cassette::{Cassette, ReadError, ReadFault};
use mcptest_core::judge::RecordedRun;
use mcptest_core::row::Reason;
use std::path::Path;

/// The runs of these cassettes in their order. Only the header of a cassette that is alone makes its numbers count.
pub(super) fn runs_of<'c>(
    opened: &'c [(&'c Path, Result<Cassette<'c>, Reason>)],
    is_kept: bool,
    reason: impl Fn(&ReadError) -> Reason,
) -> Vec<RecordedRun<'c>> {
    let mut runs = Vec::new();
    for (path, cassette) in opened {
        let source = is_kept.then_some(*path);
        match cassette {
            Ok(cassette) => runs.extend(cassette.runs.iter().map(|run| {
                RecordedRun {
                    number: run.number,
                    trace: run
                        .trace
                        .as_ref()
                        .map_err(|problem| reason(&ReadFault::Bad(problem.clone()).at(path))),
                    header: cassette.header.as_ref(),
                    line: is_kept.then_some(run.line),
                    source,
                }
            })),
            Err(reason) => {
                let trace = Err(reason.clone());
                runs.push(RecordedRun {
                    number: 0,
                    trace,
                    header: None,
                    line: None,
                    source,
                });
            }
        }
    }
    if !matches!(
        opened,
        [(
            _,
            Ok(Cassette {
                header: Some(_),
                ..
            })
        )]
    ) {
        runs.iter_mut()
            .zip(1..)
            .for_each(|(run, number)| run.number = number);
    }
    runs
}
