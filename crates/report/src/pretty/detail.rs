//! What does a person read of a row that failed or could not be judged?

use super::fold::Folded;
use super::list::is_bad;
use super::page::{Line, Page, style};
use super::{fold, numbers, table};
use crate::Options;
use crate::doubts::remarks;
use crate::failures::{next_command, reasons};
use crate::suites::grouped;
use crate::words::{self, SCREEN};
use mcptest_core::report::{
    CallTable, Expectation, Finding, GateReport, Reason, ReasonKind, Remark, Report, RunReport,
    Status, TestReport,
};
use std::collections::BTreeSet;

/// The number of findings to show for one gate.
const MOST_FINDINGS: usize = 5;
/// The number of tables to show for one gate after the first.
const MOST_TABLES: usize = 2;
/// The number of details to show for one reason.
const MOST_DETAILS: usize = 20;
/// The number of tool names to show for one run.
const MOST_TOOLS: usize = 12;
/// The number of runs with a separate line.
const MOST_RUN_ROWS: usize = 50;
/// The number of groups of runs to show that failed alike.
const MOST_RUNS: usize = 10;

/// Every row that needs attention, once. Errors with one cause share a block.
pub(super) fn all(page: &mut Page, report: &Report, options: &Options) {
    let bad: Vec<&TestReport> = report
        .tests
        .iter()
        .filter(|test| is_bad(test.status))
        .collect();
    for rows in grouped(&bad, |test| cause(test)) {
        match &rows[..] {
            [test] => one(page, test, options),
            rows => several(page, rows, report.command.as_deref()),
        }
        page.blank();
    }
}

/// Why a row without runs is an error. Rows with equal causes are shown once.
#[derive(PartialEq, Eq, Hash)]
enum Cause<'t> {
    /// Each row has its own path, which says no more than the row's name.
    NotRecorded { help: Option<&'t str> },
    Other {
        message: &'t str,
        details: &'t [String],
        help: Option<&'t str>,
    },
}

fn cause(test: &TestReport) -> Option<Cause<'_>> {
    let reason = test.reason.as_ref().filter(|_| test.runs.is_empty())?;
    let help = reason.help.as_deref();
    Some(match reason.kind {
        ReasonKind::RecordingMissing => Cause::NotRecorded { help },
        _ => Cause::Other {
            message: &reason.message,
            details: &reason.details,
            help,
        },
    })
}

/// `typed` is the command that judged the rows.
fn several(page: &mut Page, rows: &[&&TestReport], typed: Option<&str>) {
    const SHOWN: usize = 6;
    let first = rows[0];
    let (number, message) = match cause(first) {
        Some(Cause::Other { message, .. }) => (format!("{} rows: ", rows.len()), message),
        _ => (format!("{} rows ", rows.len()), "have no recording"),
    };
    page.line(
        &page
            .marked_as(0, first)
            .styled(style::BOLD, number)
            .plain(message),
    );
    for detail in first.reason.iter().flat_map(|reason| &reason.details) {
        text(page, 4, "", detail);
    }
    for test in rows.iter().take(SHOWN) {
        page.line(
            &Line::at(4)
                .plain(test.row_name())
                .styled(style::DIM, format!("  {}", place(test))),
        );
    }
    if let Some(more @ 1..) = rows.len().checked_sub(SHOWN) {
        page.line(&Line::at(4).plain(format!("and {more} more")));
    }
    help(page, first);
    if let Some(all) = typed.and_then(|typed| recording_all(typed, first)) {
        return command(page, &all);
    }
    // Each row has a command of its own where one mends it; else the first is enough to try it again.
    let mended = rows
        .iter()
        .filter(|test| reasons(test).any(|reason| reason.command.is_some()))
        .count();
    rows.iter()
        .take(mended.clamp(1, SHOWN))
        .for_each(|test| rerun(page, test));
}

/// The command that records all rows with the cause of this one, if it was `run` that judged them.
fn recording_all(typed: &str, first: &TestReport) -> Option<String> {
    let is_run = typed == "mcptest run" || typed.starts_with("mcptest run ");
    let reason = first.reason.as_ref().filter(|one| one.command.is_some())?;
    let mode = match reason.kind {
        ReasonKind::RecordingMissing => "--record=missing",
        ReasonKind::RecordingStale => "--record=stale",
        ReasonKind::RecordingFailed
        | ReasonKind::ProviderUnusable
        | ReasonKind::ServerUnusable
        | ReasonKind::PriceUnknown
        | ReasonKind::CallFailed => "--record",
        _ => return None,
    };
    is_run.then(|| format!("{typed} {mode}"))
}

fn one(page: &mut Page, test: &TestReport, options: &Options) {
    page.line_with_end(
        page.marked_as(0, test).styled(style::BOLD, test.row_name()),
        &place(test),
    );
    if let Some(said) = &test.reason {
        reason(page, 2, said);
    }
    runs(page, test, options);
    for gate in failed_gates(test) {
        failed_gate(page, gate, test);
    }
    let is_untold = |gate: &&GateReport| !is_bad(gate.status);
    for said in test.gates.iter().filter(is_untold).flat_map(remarks) {
        text(page, 2, "", &said);
    }
    if options.verbose > 0 {
        let passed = test
            .gates
            .iter()
            .filter(|gate| gate.status == Status::Passed);
        for gate in passed {
            page.line(&numbers::after(
                page.marked(2, gate.status).plain(&gate.key),
                gate,
                options,
            ));
        }
    }
    about(page, 2, test, options);
    help(page, test);
    rerun(page, test);
}

pub(super) fn failed_gates(test: &TestReport) -> impl Iterator<Item = &GateReport> {
    test.gates.iter().filter(|gate| is_bad(gate.status))
}

fn place(test: &TestReport) -> String {
    if test.probe.is_some() {
        return test.suite.file.clone();
    }
    format!("{}:{}", test.file_here(), test.suite.line)
}

fn help(page: &mut Page, test: &TestReport) {
    if let Some(help) = reasons(test).find_map(|reason| reason.help.as_ref()) {
        text(page, 2, "help: ", help);
    }
}

/// The next command, on one line for copying: the one that fixes the row, otherwise the one that judges it alone.
fn rerun(page: &mut Page, test: &TestReport) {
    command(page, next_command(test));
}

fn command(page: &mut Page, command: &str) {
    page.line(
        &Line::at(2)
            .styled(style::DIM, "$ ")
            .plain(command)
            .unwrapped(),
    );
}

/// The message to a server, its answer, and the finding.
pub(super) fn probe(page: &mut Page, indent: usize, test: &TestReport) {
    let Some(probe) = test
        .probe
        .as_ref()
        .filter(|_| test.status == Status::Passed)
    else {
        return;
    };
    text(page, indent, "sent: ", &probe.sent);
    text(page, indent, "came: ", &probe.came);
    text(page, indent, &format!("{}: ", probe.section), &probe.says);
}

/// Further facts besides the verdict.
pub(super) fn about(page: &mut Page, indent: usize, test: &TestReport, options: &Options) {
    for note in &test.notes {
        text(page, indent, "note: ", note);
    }
    for advice in &test.advice {
        text(page, indent, "advice: ", &test.advice_in_words(advice));
    }
    // A run among several is named with it.
    if let [
        RunReport {
            trace_id: Some(id), ..
        },
    ] = &test.runs[..]
    {
        text(page, indent, "trace: ", id);
    }
    if options.verbose > 0 {
        scorers(page, indent, test, options);
        surroundings(page, indent, test);
    }
}

/// The numbers that scorers gave the first runs.
fn scorers(page: &mut Page, indent: usize, test: &TestReport, options: &Options) {
    for run in test.runs.iter().take(MOST_RUNS) {
        let scores = numbers::of_scorers(run, options);
        if scores.is_empty() {
            continue;
        }
        let label = if test.runs.len() > 1 {
            format!("{}: ", test.run_label(run.index))
        } else {
            String::new()
        };
        text(page, indent, &label, &scores.join(", "));
    }
}

/// The model, the servers and the tags of a row.
fn surroundings(page: &mut Page, indent: usize, test: &TestReport) {
    if let Some(model) = &test.model {
        text(page, indent, "model: ", model);
    }
    for server in &test.servers {
        let spoken = format!(
            "{} (MCP {}, {})",
            server.name, server.protocol_version, server.era
        );
        text(page, indent, "server: ", &spoken);
    }
    if !test.tags.is_empty() {
        text(page, indent, "tags: ", &test.tags.join(", "));
    }
}

/// The problem and its details.
fn reason(page: &mut Page, indent: usize, reason: &Reason) {
    text(page, indent, "", &reason.message);
    // Loading tells the problems of a suite with their lines, and so does the next command.
    if reason.kind == ReasonKind::SuiteRefused {
        return;
    }
    for detail in reason.details.iter().take(MOST_DETAILS) {
        page.line(&Line::at(indent + 2).plain(words::clipped(detail, SCREEN.text)));
    }
    say_left_out(page, indent + 2, reason.details.len(), MOST_DETAILS);
}

/// Each line of the text, the first after its label.
fn text(page: &mut Page, indent: usize, label: &str, text: &str) {
    for (number, line) in text.trim_end().lines().enumerate() {
        let (label, further) = if number == 0 {
            (label, 0)
        } else {
            ("", label.len())
        };
        page.line(
            &Line::at(indent + further)
                .styled(style::BOLD, label)
                .plain(words::clipped(line, SCREEN.text)),
        );
    }
}

/// The failed runs, grouped by their evidence.
fn runs(page: &mut Page, test: &TestReport, options: &Options) {
    let is_said = |run: &RunReport| match (&run.reason, &test.reason) {
        (Some(own), Some(said)) => own.message == said.message && run.expectations.is_empty(),
        _ => false,
    };
    let shown = |run: &&RunReport| (options.verbose > 1 || run.fails_by_itself()) && !is_said(run);
    let listed: Vec<&RunReport> = test.runs.iter().filter(shown).collect();
    let groups = grouped(&listed, |run| {
        let RunReport {
            status,
            failed_by,
            reason,
            expectations,
            tool_names,
            ..
        } = run;
        serde_json::to_string(&(status, failed_by, reason, expectations, tool_names)).ok()
    });
    for group in groups.iter().take(MOST_RUNS) {
        let indexes: Vec<usize> = group.iter().map(|run| run.index).collect();
        let indent = if test.runs.len() > 1 {
            page.line(
                &page
                    .marked(2, group[0].status)
                    .plain(words::label(test, &indexes, SCREEN)),
            );
            4
        } else {
            2
        };
        run(page, indent, test, group[0], options);
    }
    say_left_out(page, 2, groups.len(), MOST_RUNS);
    if options.verbose == 1 {
        run_rows(page, 2, test);
    }
}

/// A line for each of several runs: its outcome, the name for selecting it, and the gates that fail
/// it.
pub(super) fn run_rows(page: &mut Page, indent: usize, test: &TestReport) {
    if test.runs.len() < 2 {
        return;
    }
    for run in test.runs.iter().take(MOST_RUN_ROWS) {
        let calls = format!("  {}", words::count(run.calls, "call"));
        let line = page
            .marked(indent, run.status)
            .plain(test.run_name(run))
            .styled(style::DIM, calls);
        let by = run.failed_by.join(", ");
        page.line(&if by.is_empty() {
            line
        } else {
            line.styled(style::DIM, format!("  failed by {by}"))
        });
    }
    say_left_out(page, indent, test.runs.len(), MOST_RUN_ROWS);
}

/// Why a run did not pass, and its calls.
pub(super) fn run(
    page: &mut Page,
    indent: usize,
    test: &TestReport,
    run: &RunReport,
    options: &Options,
) {
    if let Some(said) = &run.reason {
        reason(page, indent, said);
    }
    // A gate that failed tells of its runs by itself.
    let has_failed = |key: &str| failed_gates(test).any(|gate| gate.key == key);
    for (gate, found) in
        words::of_failing_gates(test, run, SCREEN).filter(|(gate, _)| !has_failed(gate))
    {
        page.line(
            &Line::at(indent)
                .styled(style::BOLD, gate)
                .plain(": ")
                .plain(found),
        );
    }
    for expectation in run
        .expectations
        .iter()
        .filter(|one| options.verbose > 1 || !one.passed)
    {
        assertion(page, indent, expectation);
    }
    let names_calls = |one: &Expectation| !one.passed && one.target == "tool_names";
    if run.status == Status::Failed && !run.expectations.iter().any(names_calls)
        || options.verbose > 1
    {
        tools(page, indent, run);
    }
}

fn assertion(page: &mut Page, indent: usize, expectation: &Expectation) {
    let held = if expectation.passed { "held: " } else { "" };
    let line = Line::at(indent)
        .plain(held)
        .styled(style::BOLD, &expectation.target)
        .plain(" ");
    page.line(&line.plain(words::headline(expectation, None, SCREEN)));
    if !expectation.passed {
        for detail in words::details(expectation, SCREEN) {
            page.line(&Line::at(indent + 2).plain(detail));
        }
    }
}

/// The evidence of a failed gate, in the order of display.
struct GateEvidence<'g> {
    /// The requirements of the block that the runs do not meet.
    unmet: Vec<String>,
    tables: Vec<Folded<'g, CallTable>>,
    /// The findings that no table shows.
    findings: Vec<Folded<'g, Finding>>,
}

/// The gate in the words of its block, then its evidence.
fn failed_gate(page: &mut Page, gate: &GateReport, test: &TestReport) {
    let mut evidence = GateEvidence {
        unmet: words::unmet(gate, SCREEN),
        tables: fold::tables(&gate.tables),
        findings: untold(gate),
    };
    lead(page, gate, test, &mut evidence);
    for line in evidence.unmet {
        page.line(&Line::at(4).plain(line));
    }
    beside(page, 4, &evidence.tables, test);
    folded(page, 4, &evidence.findings, test);
    let is_told = |remark: &Remark| {
        let mut told = gate.explanation.iter();
        told.any(|finding| finding.message.contains(&remark.message))
    };
    for remark in gate.remarks.iter().filter(|remark| !is_told(remark)) {
        page.line(&Line::at(4).plain(&remark.message));
    }
}

/// The line of the gate: the first thing that is unmet, or else its summary or the first piece of its evidence, which
/// is not shown again.
fn lead(page: &mut Page, gate: &GateReport, test: &TestReport, evidence: &mut GateEvidence<'_>) {
    if let Some(unmet) = take_first(&mut evidence.unmet) {
        gate_line(page, gate, test, &unmet);
        evidence.unmet.extend(gate.summary.clone());
    } else if let Some(summary) = &gate.summary {
        gate_line(page, gate, test, summary);
    } else if let Some(first) = take_first(&mut evidence.tables) {
        let heading = words::labelled(&first.shown.summary, &first.runs, test, SCREEN);
        gate_line(page, gate, test, &heading);
        table::show(page, 6, first.shown);
    } else if let Some(first) = take_first(&mut evidence.findings) {
        let heading = words::labelled(&first.shown.message, &first.runs, test, SCREEN);
        gate_line(page, gate, test, &heading);
        differences(page, 4, first.shown);
    } else {
        let heading = gate.not_exercised.as_deref().unwrap_or("it did not pass");
        gate_line(page, gate, test, heading);
    }
}

fn take_first<T>(list: &mut Vec<T>) -> Option<T> {
    (!list.is_empty()).then(|| list.remove(0))
}

fn gate_line(page: &mut Page, gate: &GateReport, test: &TestReport, heading: &str) {
    let line = Line::at(2).styled(style::BOLD, &gate.key);
    let partial = gate
        .scored_runs
        .map(|scored| format!(" ({scored} of {} runs)", test.runs.len()));
    let mode = gate
        .tables
        .first()
        .map(|table| format!(" ({})", table.mode))
        .unwrap_or_default();
    let line = line
        .plain(mode)
        .plain(partial.unwrap_or_default())
        .plain(": ")
        .plain(heading);
    let vacuous = gate
        .not_exercised
        .as_ref()
        .filter(|why| !heading.contains(why.as_str()));
    page.line(&vacuous.iter().fold(line, |line, why| {
        line.plain("  ")
            .styled(style::YELLOW, format!("[not exercised: {why}]"))
    }));
}

/// A gate's findings, with equal findings of several runs in one line.
pub(super) fn findings(page: &mut Page, indent: usize, gate: &GateReport, test: &TestReport) {
    beside(page, indent, &fold::tables(&gate.tables), test);
    folded(page, indent, &untold(gate), test);
}

/// The findings that no table shows.
fn untold(gate: &GateReport) -> Vec<Folded<'_, Finding>> {
    let tabled: BTreeSet<Option<usize>> = gate.tables.iter().map(|table| table.run).collect();
    fold::findings(
        gate.explanation
            .iter()
            .filter(|finding| !tabled.contains(&finding.run)),
    )
}

/// The calls of runs side by side, once for equal runs.
fn beside(page: &mut Page, indent: usize, tables: &[Folded<'_, CallTable>], test: &TestReport) {
    for table in tables.iter().take(MOST_TABLES) {
        let summary = words::labelled(&table.shown.summary, &table.runs, test, SCREEN);
        page.line(&Line::at(indent).plain(summary));
        table::show(page, indent + 2, table.shown);
    }
    say_left_out(page, indent, tables.len(), MOST_TABLES);
}

fn folded(page: &mut Page, indent: usize, found: &[Folded<'_, Finding>], test: &TestReport) {
    for finding in found.iter().take(MOST_FINDINGS) {
        let message = words::labelled(&finding.shown.message, &finding.runs, test, SCREEN);
        page.line(&Line::at(indent).plain(message));
        differences(page, indent + 2, finding.shown);
    }
    say_left_out(page, indent, found.len(), MOST_FINDINGS);
}

fn differences(page: &mut Page, indent: usize, finding: &Finding) {
    for difference in words::differences(&finding.diff, SCREEN) {
        page.line(&Line::at(indent).plain(difference));
    }
}

/// The tools a run called, in order.
fn tools(page: &mut Page, indent: usize, run: &RunReport) {
    if run.calls == 0 {
        page.line(&Line::at(indent).styled(style::DIM, "no tool was called"));
        return;
    }
    let names: Vec<_> = run
        .tool_names
        .iter()
        .take(MOST_TOOLS)
        .map(|name| words::clipped(name, 80))
        .collect();
    let mut said = format!("called: {}", names.join(", "));
    if run.calls > names.len() {
        said = format!("{said} and {} more", run.calls - names.len());
    }
    if let Some(duration_ms) = run.duration_ms.filter(|_| run.is_single_call()) {
        said = format!("{said} ({duration_ms} ms)");
    }
    page.line(&Line::at(indent).styled(style::DIM, said));
}

/// Ends a list of which only the first entries are shown.
fn say_left_out(page: &mut Page, indent: usize, all: usize, most: usize) {
    if let Some(more @ 1..) = all.checked_sub(most) {
        page.line(&Line::at(indent).plain(left_out(more)));
    }
}

/// The line that ends a shortened list: the number of omitted entries.
pub(super) fn left_out(more: usize) -> String {
    format!("and {more} more (see --reporter json)")
}
