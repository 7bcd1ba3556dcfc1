//! How does a stream of traces become a stream of verdicts, in constant memory and in order?
//!
//! A reader cuts the input into blocks, workers judge the blocks, and the caller's thread writes
//! their rows in the order of the input.

mod cut;
mod export;
mod groups;
mod input;
mod judge;
mod otlp;
mod queue;

pub(crate) use export::Export;

use cut::{Cutter, Room};
use input::{Input, Opened, Unreadable};
use judge::{Judging, Rows, Tally};
use mcptest_command::output::{self, Reader};
use mcptest_command::suites::TraceFiles;
use mcptest_command::{EXIT_BROKEN, EXIT_FAILED, EXIT_NOTHING_SELECTED, Failure};
use mcptest_core::escape::escape;
use mcptest_core::score::{Arrangement, Refusal, Scorer};
use otlp::Records;
use queue::Queue;
use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::thread;

/// The maximum number of refusals to print.
const SHOWN: usize = 10;

/// The traces to judge, and the options.
pub(crate) struct Score<'s> {
    pub(crate) scorer: &'s Scorer<'s>,
    /// The suite as rows name it.
    pub(crate) suite: String,
    /// True if no text of the suite contains a secret.
    pub(crate) is_suite_clean: bool,
    pub(crate) inputs: Vec<PathBuf>,
    /// Which files of folders are traces.
    pub(crate) files: &'s TraceFiles,
    pub(crate) jobs: usize,
    pub(crate) export: Option<Export>,
}

impl Score<'_> {
    /// Judges all traces of the inputs, and returns the exit code.
    pub(crate) fn run(self) -> Result<u8, Failure> {
        refuse(&self.scorer.refusals(Arrangement::Grouped))?;
        let arrangement = self.scorer.arrangement();
        let mut inputs: VecDeque<Input> = input::inputs(&self.inputs, self.files)?.into();
        let first = first_input(&mut inputs);
        if arrangement == Arrangement::Grouped
            && let Some(Ok(first)) = &first
            && !first.is_grouped()
        {
            refuse(&self.scorer.refusals(Arrangement::Alone))?;
        }
        let judging = Judging {
            scorer: self.scorer,
            arrangement,
            suite: self.suite,
            is_suite_clean: self.is_suite_clean,
            records: self.export.as_ref().map(|_| Records::new()),
        };
        let writer = Writer {
            export: self.export,
            next: 0,
            early: BTreeMap::new(),
            tally: Tally::default(),
        };
        stream(&judging, first, inputs, self.jobs, writer)
    }
}

/// Opens the first input that is not empty.
fn first_input(inputs: &mut VecDeque<Input>) -> Option<Result<Opened, Unreadable>> {
    let mut room = Room::new();
    while let Some(input) = inputs.pop_front() {
        let opened = Opened::open(input, &mut room);
        if opened.as_ref().is_ok_and(Opened::is_empty) {
            continue;
        }
        return Some(opened);
    }
    None
}

/// Refuses a suite that cannot judge the traces.
fn refuse(refusals: &[Refusal]) -> Result<(), Failure> {
    if refusals.is_empty() {
        return Ok(());
    }
    let mut lines: Vec<String> = refusals
        .iter()
        .take(SHOWN)
        .map(|refusal| escape(&refusal.to_string()).into_owned())
        .collect();
    if refusals.len() > SHOWN {
        lines.push(format!("and {} more", refusals.len() - SHOWN));
    }
    let help = if refusals.iter().all(|refusal| refusal.needs_groups) {
        "write `{\"group\": …, \"trace\": …}` on each line, with the traces of a group together, or \
         select other agents with `--filter`"
    } else {
        "select other agents with `--filter`, or judge recordings with `mcptest run`"
    };
    Err(Failure::with_help(lines.join("\n"), help))
}

fn stream(
    judging: &Judging<'_>,
    first: Option<Result<Opened, Unreadable>>,
    rest: VecDeque<Input>,
    jobs: usize,
    mut writer: Writer,
) -> Result<u8, Failure> {
    let queue = Arc::new(Queue::new(jobs));
    read_apart(&queue, judging.arrangement, first, rest)?;
    let written = thread::scope(|scope| {
        let (sender, receiver) = channel();
        for _ in 0..jobs {
            let (queue, sender) = (&queue, sender.clone());
            scope.spawn(move || {
                while let Some(block) = queue.pop() {
                    if sender.send(judging.judge(&block)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        let written = writer.write_all(&receiver, &queue);
        queue.stop();
        written
    });
    written?;
    writer.finish()
}

/// Starts the thread that reads. It is never joined: after a failure it may wait for input that never
/// arrives.
fn read_apart(
    queue: &Arc<Queue>,
    arrangement: Arrangement,
    first: Option<Result<Opened, Unreadable>>,
    rest: VecDeque<Input>,
) -> Result<(), Failure> {
    /// Ends the queue even if the reader panics.
    struct Ending(Arc<Queue>);
    impl Drop for Ending {
        fn drop(&mut self) {
            self.0.end();
        }
    }
    let queue = Arc::clone(queue);
    let read = move || {
        let ending = Ending(queue);
        let mut cutter = Cutter::new(&ending.0, arrangement);
        let _stopped = cutter.cut_all(first, rest.into_iter());
    };
    let started = thread::Builder::new().name("reader".to_owned()).spawn(read);
    match started {
        Ok(_) => Ok(()),
        Err(error) => Err(Failure::cannot("start the thread that reads", &error)),
    }
}

/// Writes rows in the order of the input.
struct Writer {
    export: Option<Export>,
    /// The number of the next block to write.
    next: usize,
    /// The rows of later blocks.
    early: BTreeMap<usize, Rows>,
    tally: Tally,
}

impl Writer {
    /// Writes all rows, until the reader closes its end.
    fn write_all(&mut self, judged: &Receiver<Rows>, queue: &Queue) -> Result<(), Failure> {
        for rows in judged {
            self.early.insert(rows.number, rows);
            while let Some(rows) = self.early.remove(&self.next) {
                self.next += 1;
                self.tally.add(rows.tally);
                queue.written();
                if let (Some(export), Some(records)) = (&mut self.export, &rows.records) {
                    export.write(records)?;
                }
                if output::rows(&rows.lines)? == Reader::Gone {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    fn finish(self) -> Result<u8, Failure> {
        if let Some(export) = self.export {
            export.finish()?;
        }
        let Tally {
            judged,
            failed,
            errors,
        } = self.tally;
        if judged + errors == 0 {
            output::stderr("nothing to judge: the input has no trace\n");
            return Ok(EXIT_NOTHING_SELECTED);
        }
        Ok(match (errors, failed) {
            (1.., _) => EXIT_BROKEN,
            (0, 1..) => EXIT_FAILED,
            (0, 0) => 0,
        })
    }
}
