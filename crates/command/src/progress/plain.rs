//! Which lines report a recording without a terminal?

use super::state::{Doing, Row, State, ToolTests};
use super::words::{about, count_grouped, dollars, grouped, time};
use mcptest_core::escape::escape;
use mcptest_replay::Event;
use std::time::Duration;

/// Up to this number of runs, each run gets a separate line.
const FEW: u64 = 50;
/// The shortest time between lines, with many runs.
const SPACING: Duration = Duration::from_secs(1);
/// The longest time without a line.
const SILENCE: Duration = Duration::from_secs(30);
const LONGEST_REASON: usize = 300;

/// Lines of text in order.
#[derive(Debug, Default)]
pub(crate) struct Plain {
    /// True if runs are made and not written.
    is_live: bool,
    last: Duration,
    unsaid: u64,
}

impl Plain {
    pub(crate) fn new(is_live: bool) -> Self {
        Self {
            is_live,
            ..Self::default()
        }
    }

    /// The line for an event. `state` is the state before it.
    pub(crate) fn line(&mut self, event: &Event, state: &State, now: Duration) -> Option<String> {
        let line = match event {
            Event::RunFinished {
                row,
                run,
                unrecorded: None,
                stop_reason,
            } => self.recorded(state, (*row, *run), stop_reason.as_deref(), now)?,
            graded_or_other => graded(graded_or_other)
                .or_else(|| failure(graded_or_other, state))
                .or_else(|| decided(graded_or_other, state))?,
        };
        self.last = now;
        Some(line)
    }

    /// Reports a recorded run, unless another of many runs was just reported.
    fn recorded(
        &mut self,
        state: &State,
        (row, run): (usize, usize),
        stop_reason: Option<&str>,
        now: Duration,
    ) -> Option<String> {
        let row = state.rows.get(row)?;
        if state.all(|row| row.of) > FEW && now.saturating_sub(self.last) < SPACING {
            self.unsaid += 1;
            return None;
        }
        let others = match std::mem::take(&mut self.unsaid) {
            0 => String::new(),
            unsaid => format!(" (and {})", count_grouped(unsaid, "other")),
        };
        let verb = if self.is_live { "ran" } else { "recorded" };
        let run = finished(row, run, stop_reason, now);
        Some(format!("{verb} {run}{others}"))
    }

    /// The line after a long silence.
    pub(crate) fn heartbeat(&mut self, state: &State, now: Duration) -> Option<String> {
        if now.saturating_sub(self.last) < SILENCE {
            return None;
        }
        self.last = now;
        if state.rows.is_empty() {
            calling_tools(&state.tools)
        } else {
            recording(state, now)
        }
    }
}

/// The progress of the calls of tool tests; `None` after the last.
fn calling_tools(tools: &ToolTests) -> Option<String> {
    let mut line = tools.called_in_words();
    if tools.failed > 0 {
        line.push_str(&format!(", {} failed", tools.failed));
    }
    if let Some(server) = &tools.awaits {
        line.push_str(&format!(", waits for the first answer of {server}"));
    }
    (tools.called < tools.of).then_some(line)
}

/// The progress of the recording, and the activity of the run with the latest event.
fn recording(state: &State, now: Duration) -> Option<String> {
    let (row, (run, active)) = state
        .rows
        .iter()
        .filter_map(|row| Some((row, row.latest()?)))
        .max_by_key(|(_, (_, active))| active.heard)?;
    let left = state
        .left(now)
        .map(|left| format!(", about {} left", about(left)))
        .unwrap_or_default();
    Some(format!(
        "{} of {}{left}: {} {} {}, for {}",
        grouped(state.all(|row| row.recorded)),
        count_grouped(state.all(|row| row.of), "run"),
        row.name,
        row.numbered(run, active.is_side),
        doing(&active.doing, now),
        time(now.saturating_sub(active.heard)),
    ))
}

fn doing(doing: &Doing, now: Duration) -> String {
    match doing {
        Doing::Starting => "is starting".to_owned(),
        Doing::Awaiting(server) => format!("waits for the first answer of {server}"),
        Doing::Asking => "waits for the model".to_owned(),
        Doing::Waiting { until, why } => {
            format!("asks again in {} ({why})", time(until.saturating_sub(now)))
        }
        Doing::Calling(tool) => format!("calls {tool}"),
    }
}

/// `weather [gpt-5] run 3 of 10: 1,204 tokens, $0.003, 2.1 s`.
fn finished(row: &Row, run: usize, stop_reason: Option<&str>, now: Duration) -> String {
    let active = row.active.get(&run).cloned().unwrap_or_default();
    let mut facts = Vec::new();
    facts.extend(active.spent.tokens_in_words());
    facts.extend(active.spent.cost_in_words());
    facts.push(time(now.saturating_sub(active.since)));
    // A run that came to its own end says nothing of it.
    let odd = stop_reason.filter(|reason| !matches!(*reason, "end_turn" | "stop_sequence"));
    facts.extend(odd.map(|reason| format!("ended by {}", escape(reason))));
    format!(
        "{} {}: {}",
        row.name,
        row.numbered(run, active.is_side),
        facts.join(", ")
    )
}

/// A check that was graded.
fn graded(event: &Event) -> Option<String> {
    let Event::Graded {
        row_name,
        run,
        check,
        said: Some(said),
        tokens,
        cost_usd,
        ..
    } = event
    else {
        return None;
    };
    let mut facts = vec![escape(said).into_owned()];
    facts.extend(tokens.map(|tokens| count_grouped(tokens, "token")));
    facts.extend(cost_usd.map(dollars));
    Some(format!(
        "graded {} run {run} {check}: {}",
        escape(row_name),
        facts.join(", ")
    ))
}

/// Reports a run or a test that could not be recorded. An equal failure of several runs of a row is
/// reported once.
pub(crate) fn failure(event: &Event, state: &State) -> Option<String> {
    let (what, why) = match event {
        Event::RunFinished {
            row,
            run,
            unrecorded: Some(why),
            ..
        } => {
            let row = state
                .rows
                .get(*row)
                .filter(|row| row.failure.as_ref() != Some(why))?;
            let is_side = row.active.get(run).is_some_and(|active| active.is_side);
            (format!("{} {}", row.name, row.numbered(*run, is_side)), why)
        }
        Event::ToolCalled {
            row_name,
            unrecorded: Some(why),
        } => (escape(row_name).into_owned(), why),
        Event::Graded {
            row_name,
            run,
            check,
            ungraded: Some(why),
            ..
        } => (
            format!("grading {} run {run} {check}", escape(row_name)),
            why,
        ),
        _ => return None,
    };
    Some(format!("failed {what}: {}", first_line(why)))
}

/// The first line of a reason, with the line after a colon at its end; cut to a bounded length.
fn first_line(why: &str) -> String {
    let mut lines = why.lines().map(str::trim).filter(|line| !line.is_empty());
    let mut first = lines.next().unwrap_or_default().to_owned();
    if first.ends_with(':') {
        first.extend(lines.next().map(|next| format!(" {next}")));
    }
    let Some((end, _)) = first.char_indices().nth(LONGEST_REASON) else {
        return escape(&first).into_owned();
    };
    format!("{}…", escape(&first[..end]))
}

/// A row that needs no more runs.
pub(crate) fn decided(event: &Event, state: &State) -> Option<String> {
    let Event::Decided { row, saved } = event else {
        return None;
    };
    let row = state.rows.get(*row)?;
    let are = if *saved == 1 { "is" } else { "are" };
    Some(format!(
        "decided {} after {}: {} more {are} not needed",
        row.name,
        count_grouped(row.recorded as u64, "run"),
        grouped(*saved as u64)
    ))
}

/// The total: `recorded 30 runs: 52,110 tokens, about $0.21`.
pub(crate) fn spent(state: &State, is_live: bool) -> Option<String> {
    let graded = (state.grades.given > 0).then(|| {
        format!(
            "gave {}: {}",
            count_grouped(state.grades.given, "grade"),
            state.grades.spent.in_words()
        )
    });
    if state.rows.is_empty() {
        return graded;
    }
    let graded = graded.map(|line| format!("\n{line}")).unwrap_or_default();
    let verb = if is_live { "ran" } else { "recorded" };
    let (recorded, of) = (state.all(|row| row.recorded), state.all(|row| row.of));
    let runs = if recorded == of {
        count_grouped(recorded, "run")
    } else {
        format!("{} of {}", grouped(recorded), count_grouped(of, "run"))
    };
    let decided = match state.all(|row| row.saved) {
        0 => String::new(),
        1 => " (1 more was not needed: its verdict was decided)".to_owned(),
        more => format!(
            " ({} more were not needed: their verdicts were decided)",
            grouped(more)
        ),
    };
    Some(format!(
        "{verb} {runs}{decided}: {}{graded}",
        state.spent().in_words()
    ))
}
