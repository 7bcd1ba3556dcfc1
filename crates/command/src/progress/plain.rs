//! Which lines report a recording without a terminal?

use super::state::{Doing, Row, State};
use super::words::{about, count_grouped, dollars, grouped, time};
use mcptest_core::escape::escape;
use mcptest_replay::Event;
use std::time::Duration;

/// The number of runs above which a run does not get a separate line.
const FEW: u64 = 50;
/// So often at most, with many runs.
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
            } => {
                let row = state.rows.get(*row)?;
                if state.all(|row| row.of) > FEW && now.saturating_sub(self.last) < SPACING {
                    self.unsaid += 1;
                    return None;
                }
                let others = std::mem::take(&mut self.unsaid);
                let others = if others > 0 {
                    format!(" (and {})", count_grouped(others, "other"))
                } else {
                    String::new()
                };
                let verb = if self.is_live { "ran" } else { "recorded" };
                format!(
                    "{verb} {}{others}",
                    finished(row, *run, stop_reason.as_deref(), now)
                )
            }
            Event::Graded {
                row_name,
                run,
                check,
                said: Some(said),
                tokens,
                cost_usd,
                ..
            } => {
                let mut facts = vec![escape(said).into_owned()];
                facts.extend(tokens.map(|tokens| count_grouped(tokens, "token")));
                facts.extend(cost_usd.map(dollars));
                format!(
                    "graded {} run {run} {check}: {}",
                    escape(row_name),
                    facts.join(", ")
                )
            }
            failure_or_other => {
                failure(failure_or_other, state).or_else(|| decided(failure_or_other, state))?
            }
        };
        self.last = now;
        Some(line)
    }

    /// The line after a long silence.
    pub(crate) fn heartbeat(&mut self, state: &State, now: Duration) -> Option<String> {
        if now.saturating_sub(self.last) < SILENCE {
            return None;
        }
        self.last = now;
        let (called, tests) = state.tools;
        if state.rows.is_empty() {
            let mut said = format!(
                "{called} of {} called",
                count_grouped(tests as u64, "tool test")
            );
            said.extend(
                (state.tools_failed > 0).then(|| format!(", {} failed", state.tools_failed)),
            );
            let awaited = state.tools_await.as_ref();
            said.extend(awaited.map(|server| format!(", waits for the first answer of {server}")));
            return (called < tests).then_some(said);
        }
        let latest = state
            .rows
            .iter()
            .filter_map(|row| Some((row, row.latest()?)));
        let (row, (run, active)) = latest.max_by_key(|(_, (_, active))| active.heard)?;
        let doing = match &active.doing {
            Doing::Starting => "is starting".to_owned(),
            Doing::Awaiting(server) => format!("waits for the first answer of {server}"),
            Doing::Asking => "waits for the model".to_owned(),
            Doing::Waiting(until, why) => {
                format!("asks again in {} ({why})", time(until.saturating_sub(now)))
            }
            Doing::Calling(tool) => format!("calls {tool}"),
        };
        let left = state
            .left(now)
            .map(|left| format!(", about {} left", about(left)))
            .unwrap_or_default();
        Some(format!(
            "{} of {}{left}: {} {} {doing}, for {}",
            grouped(state.all(|row| row.recorded)),
            count_grouped(state.all(|row| row.of), "run"),
            row.name,
            row.numbered(run, active.is_side),
            time(now.saturating_sub(active.heard)),
        ))
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

/// A run or a test that could not be recorded. The same failure of several runs of a row is reported once.
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
    let mut lines = why.lines().map(str::trim).filter(|line| !line.is_empty());
    let mut first = lines.next().unwrap_or_default().to_owned();
    if first.ends_with(':') {
        first.extend(lines.next().map(|next| format!(" {next}")));
    }
    let cut = if first.chars().count() > LONGEST_REASON {
        "…"
    } else {
        ""
    };
    let first: String = first.chars().take(LONGEST_REASON).collect();
    Some(format!("failed {what}: {}{cut}", escape(&first)))
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
    let graded = match state.grades {
        (0, _) => None,
        (grades, spent) => Some(format!(
            "gave {}: {}",
            count_grouped(grades, "grade"),
            spent.in_words()
        )),
    };
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
