//! `mcptest run --watch`: judge the affected tests after each change, until Ctrl-C.

use super::run::{self, Invocation};
use mcptest_command::waiting::OtherView;
use mcptest_command::{Destination, Failure, interrupt, output, suites};
use mcptest_core::escape::escape_path;
use mcptest_core::report::Report;
use mcptest_replay::{Interrupt, Judged, Stamps};
use std::io::IsTerminal;
use std::time::Duration;

/// The interval of looking at files. It is also the time to wait for an editor that writes in several steps.
const PAUSE: Duration = Duration::from_millis(30);

/// Clears the screen and moves to its top.
const CLEAR: &str = "\u{1b}[H\u{1b}[2J\u{1b}[3J";

pub(super) fn run(
    invocation: Invocation<'_>,
    destinations: &[Destination<Report>],
) -> Result<u8, Failure> {
    let _view = OtherView::begin();
    let interrupt = interrupt::listen();
    let redraws = std::io::stdout().is_terminal() && !output::is_dumb();
    let mut judged = Judged::default();
    let mut files = Stamps::default();
    loop {
        if redraws {
            output::own(CLEAR)?;
        }
        match round(invocation, destinations, (&mut judged, &files.now())) {
            Ok(seen) => files = seen,
            // A path that is gone for a moment, or for good: it may come back.
            Err(failure) if files != Stamps::default() => {
                files = files.now();
                output::stderr(&format!("error: {}\n", failure.why));
            }
            Err(failure) => return Err(failure),
        }
        match change(&files, &interrupt) {
            Ok(changed) if !redraws => output::stderr(&format!("--- changed: {changed} ---\n")),
            Ok(_) => {}
            Err(exit_code) => return Ok(exit_code),
        }
    }
}

/// Judges the changed rows and shows all rows. Returns the files to watch, in the state before they were read.
fn round(
    invocation: Invocation<'_>,
    destinations: &[Destination<Report>],
    (judged, then): (&mut Judged, &Stamps),
) -> Result<Stamps, Failure> {
    let suites = invocation.load()?;
    let (loaded, plan) = (&suites.loaded, invocation.plan(&suites));
    Destination::refuse_inputs(destinations, suites::inputs(loaded).chain(plan.files()))?;
    if *then == Stamps::default() {
        Destination::discard_earlier(destinations)?;
    }
    let files = then.of_plan(loaded, &plan);
    let all = plan.rows.len();
    let (report, again) = judged.report(loaded, plan, then, |plan| {
        let options = run::options(invocation.args, Destination::evidence(destinations));
        Ok::<_, Failure>(run::watched(plan, options, true)?.report)
    })?;
    Destination::write_all(destinations, &report, invocation.args.suites.verbose, None)?;
    let count = files.files();
    output::stderr(&format!(
        "judged {again} of {all} tests; watching {count} files, Ctrl-C stops\n"
    ));
    Ok(files)
}

/// Waits until files change and stay unchanged for a moment, and names them. An error is the exit
/// code of an interrupt.
fn change(before: &Stamps, interrupt: &Interrupt) -> Result<String, u8> {
    let mut last = before.clone();
    loop {
        std::thread::sleep(PAUSE);
        if let Some(exit_code) = *interrupt.borrow() {
            return Err(exit_code);
        }
        let now = last.now();
        if now == last && now != *before {
            let names: Vec<String> = now.changed_since(before).map(escape_path).collect();
            return Ok(if names.is_empty() {
                "a folder".to_owned()
            } else {
                names.join(", ")
            });
        }
        last = now;
    }
}
