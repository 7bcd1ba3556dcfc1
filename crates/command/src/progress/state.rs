//! What has happened so far, and how long will the rest take?

use super::words::{count_grouped, dollars, grouped};
use mcptest_core::escape::escape;
use mcptest_replay::Event;
use std::collections::BTreeMap;
use std::time::Duration;

/// The state of a recording. Times are counted from its start and passed in.
#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) rows: Vec<Row>,
    pub(crate) tools: ToolTests,
    pub(crate) grades: Grades,
    /// The most runs that were going on at once.
    peak: usize,
    /// The start of the first run.
    began: Option<Duration>,
}

/// The tool tests, which are called before the rows.
#[derive(Debug, Default)]
pub(crate) struct ToolTests {
    pub(crate) called: usize,
    /// The number of tests to call.
    pub(crate) of: usize,
    pub(crate) failed: usize,
    /// The server whose first answer a test awaits.
    pub(crate) awaits: Option<String>,
}

/// The grades that were given.
#[derive(Debug, Default)]
pub(crate) struct Grades {
    pub(crate) given: u64,
    pub(crate) spent: Spent,
}

/// One row of the plan.
#[derive(Debug, Default)]
pub(crate) struct Row {
    pub(crate) name: String,
    /// The number of its runs in the suite.
    pub(crate) numbered_to: usize,
    /// The number of runs to record now, including known side runs.
    pub(crate) of: usize,
    pub(crate) side_runs: usize,
    /// The name of a side run.
    side: &'static str,
    pub(crate) recorded: usize,
    pub(crate) failed: usize,
    /// The number of unnecessary runs, because the verdict is decided.
    pub(crate) saved: usize,
    pub(crate) spent: Spent,
    /// The runs that are going on, by their numbers.
    pub(crate) active: BTreeMap<usize, Active>,
    /// The time of all runs that ended.
    took: Duration,
    /// The highest number of its concurrent runs.
    peak: usize,
    /// Why one of its runs could not be recorded.
    pub(crate) failure: Option<String>,
}

/// A run that is going on.
#[derive(Debug, Clone, Default)]
pub(crate) struct Active {
    pub(crate) is_side: bool,
    pub(crate) since: Duration,
    /// The time of its last event.
    pub(crate) heard: Duration,
    pub(crate) doing: Doing,
    pub(crate) spent: Spent,
}

/// The current activity of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum Doing {
    /// Its servers start.
    #[default]
    Starting,
    /// The first answer of this server is late.
    Awaiting(String),
    /// The model thinks.
    Asking,
    /// The provider will be asked again at this time.
    Waiting { until: Duration, why: String },
    /// A tool is called: `search @ docs`.
    Calling(String),
}

impl ToolTests {
    fn begin(&mut self, tests: usize) {
        self.called = 0;
        self.of = tests;
    }

    fn count_call(&mut self, is_failed: bool) {
        self.awaits = None;
        self.called += 1;
        self.failed += usize::from(is_failed);
    }

    /// `2 of 5 tool tests called`.
    pub(crate) fn called_in_words(&self) -> String {
        format!(
            "{} of {} called",
            self.called,
            count_grouped(self.of as u64, "tool test")
        )
    }
}

impl Grades {
    fn count(&mut self, tokens: Option<u64>, cost_usd: Option<f64>) {
        self.given += 1;
        self.spent.answer(tokens, cost_usd);
    }
}

impl Doing {
    fn awaiting(server: &str) -> Self {
        Self::Awaiting(escape(server).into_owned())
    }

    fn waiting(until: Duration, why: &str) -> Self {
        let why = escape(why).into_owned();
        Self::Waiting { until, why }
    }

    fn calling(tool: &str, server: Option<&str>) -> Self {
        let at = server
            .map(|server| format!(" @ {server}"))
            .unwrap_or_default();
        Self::Calling(escape(&format!("{tool}{at}")).into_owned())
    }
}

/// Tokens and dollars, if known.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Spent {
    pub(crate) tokens: u64,
    pub(crate) usd: f64,
    answers: u64,
    counted: u64,
    priced: u64,
}

impl Spent {
    fn answer(&mut self, tokens: Option<u64>, cost_usd: Option<f64>) {
        let (counted, priced) = (u64::from(tokens.is_some()), u64::from(cost_usd.is_some()));
        let (tokens, usd) = (tokens.unwrap_or_default(), cost_usd.unwrap_or_default());
        self.add(Self {
            tokens,
            usd,
            answers: 1,
            counted,
            priced,
        });
    }

    fn add(&mut self, more: Self) {
        self.tokens += more.tokens;
        self.usd += more.usd;
        self.answers += more.answers;
        self.counted += more.counted;
        self.priced += more.priced;
    }

    /// `1,204 tokens`, if any are counted.
    pub(crate) fn tokens_in_words(&self) -> Option<String> {
        let at_least = if self.counted < self.answers {
            "≥"
        } else {
            ""
        };
        (self.counted > 0).then(|| format!("{at_least}{}", count_grouped(self.tokens, "token")))
    }

    /// `$0.003`, if any price is known.
    pub(crate) fn cost_in_words(&self) -> Option<String> {
        let at_least = if self.priced < self.answers {
            "≥"
        } else {
            ""
        };
        (self.priced > 0).then(|| format!("{at_least}{}", dollars(self.usd)))
    }

    /// The known and the unknown amounts: `52,110 tokens, about $0.21`.
    pub(crate) fn in_words(&self) -> String {
        let known = |known: u64| {
            if known < self.answers {
                "at least "
            } else {
                ""
            }
        };
        let tokens = format!(
            "{}{}",
            known(self.counted),
            count_grouped(self.tokens, "token")
        );
        let cost = format!("{}about {}", known(self.priced), dollars(self.usd));
        let unpriced = self.answers - self.priced;
        match (self.counted, self.priced) {
            _ if self.answers == 0 => "nothing was spent".to_owned(),
            (0, 0) => "tokens and cost are unknown".to_owned(),
            (0, _) => format!("tokens are unknown, {cost}"),
            (_, 0) => format!("{tokens}, cost unknown (no price is known for the model)"),
            _ if unpriced > 0 => {
                format!(
                    "{tokens}, {cost} ({} of {} answers have no known price)",
                    grouped(unpriced),
                    grouped(self.answers)
                )
            }
            _ => format!("{tokens}, {cost}"),
        }
    }
}

impl Row {
    fn new(row: &mcptest_replay::RowToRecord) -> Self {
        let name = escape(&row.name).into_owned();
        Self {
            name,
            numbered_to: row.of,
            of: row.runs,
            side: row.side,
            ..Self::default()
        }
    }

    fn count_answer(&mut self, run: usize, tokens: Option<u64>, cost_usd: Option<f64>) {
        self.spent.answer(tokens, cost_usd);
        if let Some(active) = self.active.get_mut(&run) {
            active.spent.answer(tokens, cost_usd);
            if matches!(active.doing, Doing::Waiting { .. }) {
                active.doing = Doing::Asking;
            }
        }
    }

    fn finish(&mut self, run: usize, unrecorded: Option<&String>, now: Duration) {
        let active = self.active.remove(&run);
        if let Some(why) = unrecorded {
            self.failed += 1;
            self.failure = Some(why.clone());
        } else {
            self.recorded += 1;
            self.took += active
                .map(|active| now.saturating_sub(active.since))
                .unwrap_or_default();
        }
    }

    fn add_side_runs(&mut self, runs: usize) {
        self.of += runs;
        self.side_runs += runs;
    }

    fn save(&mut self, runs: usize) {
        self.saved += runs;
        self.of = self.of.saturating_sub(runs);
    }
}

impl State {
    /// Applies an event at `now`.
    pub(crate) fn apply(&mut self, event: &Event, now: Duration) {
        match event {
            Event::ToolsBegan { tests } => self.tools.begin(*tests),
            Event::ServerLate { of: None, server } => {
                self.tools.awaits = Some(escape(server).into_owned());
            }
            Event::ServerLate {
                of: Some((row, run)),
                server,
            } => self.begin_to(Doing::awaiting(server), *row, *run, now),
            Event::ToolCalled { unrecorded, .. } => self.tools.count_call(unrecorded.is_some()),
            Event::Began { rows } => self.rows = rows.iter().map(Row::new).collect(),
            Event::RunStarted { row, run, is_side } => self.start((*row, *run), *is_side, now),
            Event::Asks { row, run } => self.begin_to(Doing::Asking, *row, *run, now),
            Event::Waits {
                row,
                run,
                wait,
                why,
            } => self.begin_to(Doing::waiting(now + *wait, why), *row, *run, now),
            Event::Calls {
                row,
                run,
                server,
                tool,
            } => self.begin_to(Doing::calling(tool, server.as_deref()), *row, *run, now),
            Event::Answered {
                row,
                run,
                tokens,
                cost_usd,
            } => self.change(*row, |row| row.count_answer(*run, *tokens, *cost_usd)),
            Event::RunFinished {
                row,
                run,
                unrecorded,
                ..
            } => self.change(*row, |row| row.finish(*run, unrecorded.as_ref(), now)),
            Event::More { row, runs } => self.change(*row, |row| row.add_side_runs(*runs)),
            Event::Decided { row, saved } => self.change(*row, |row| row.save(*saved)),
            Event::Graded {
                said: Some(_),
                tokens,
                cost_usd,
                ..
            } => self.grades.count(*tokens, *cost_usd),
            Event::Graded { .. } => {}
            Event::Ended => self.rows.iter_mut().for_each(|row| row.active.clear()),
        }
    }

    fn change(&mut self, row: usize, change: impl FnOnce(&mut Row)) {
        if let Some(row) = self.rows.get_mut(row) {
            change(row);
        }
    }

    fn start(&mut self, (row, run): (usize, usize), is_side: bool, now: Duration) {
        let active = Active {
            is_side,
            since: now,
            heard: now,
            ..Active::default()
        };
        self.began.get_or_insert(now);
        if let Some(row) = self.rows.get_mut(row) {
            row.active.insert(run, active);
            row.peak = row.peak.max(row.active.len());
        }
        self.peak = self
            .peak
            .max(self.rows.iter().map(|row| row.active.len()).sum());
    }

    fn begin_to(&mut self, doing: Doing, row: usize, run: usize, now: Duration) {
        self.change(row, |row| {
            if let Some(active) = row.active.get_mut(&run) {
                active.heard = now;
                active.doing = doing;
            }
        });
    }

    /// The sum over all rows.
    pub(crate) fn all(&self, number: fn(&Row) -> usize) -> u64 {
        self.rows.iter().map(number).sum::<usize>() as u64
    }

    pub(crate) fn spent(&self) -> Spent {
        let mut spent = Spent::default();
        self.rows.iter().for_each(|row| spent.add(row.spent));
        spent
    }

    /// The time since the first run.
    pub(crate) fn elapsed(&self, now: Duration) -> Duration {
        now.saturating_sub(self.began.unwrap_or_default())
    }

    /// The remaining time, once a run has ended that allows an estimate.
    pub(crate) fn left(&self, now: Duration) -> Option<Duration> {
        let mean = mean(
            self.rows.iter().map(|row| row.took).sum(),
            self.all(|row| row.recorded) as usize,
        )?;
        let of_rows = self
            .rows
            .iter()
            .map(|row| row.work_left(row.mean().unwrap_or(mean), now));
        let work: Duration = of_rows.sum();
        Some(work / u32::try_from(self.peak.max(1)).unwrap_or(u32::MAX))
    }
}

impl Row {
    /// Returns true if its recording has finished.
    pub(crate) fn is_over(&self) -> bool {
        self.active.is_empty() && (self.is_failed() || self.recorded >= self.of)
    }

    pub(crate) fn is_failed(&self) -> bool {
        self.failure.is_some()
    }

    fn mean(&self) -> Option<Duration> {
        mean(self.took, self.recorded)
    }

    /// The time of its remaining runs, one at a time. Failures are not repeated.
    fn work_left(&self, mean: Duration, now: Duration) -> Duration {
        let waiting = if self.is_failed() {
            0
        } else {
            self.of.saturating_sub(self.recorded + self.active.len())
        };
        let going_on = self
            .active
            .values()
            .map(|active| mean.saturating_sub(now.saturating_sub(active.since)));
        mean * u32::try_from(waiting).unwrap_or(u32::MAX) + going_on.sum::<Duration>()
    }

    /// The remaining time of its runs, once an ended run allows an estimate.
    pub(crate) fn left(&self, now: Duration) -> Option<Duration> {
        let work = self.work_left(self.mean()?, now);
        Some(work / u32::try_from(self.peak.max(1)).unwrap_or(u32::MAX))
    }

    /// The run with the latest event. A run that calls a tool comes first.
    pub(crate) fn latest(&self) -> Option<(usize, &Active)> {
        let calls = |active: &Active| matches!(active.doing, Doing::Calling(_));
        let latest = self
            .active
            .iter()
            .max_by_key(|(_, active)| (calls(active), active.heard));
        latest.map(|(run, active)| (*run, active))
    }

    /// `run 3 of 10`, or `fault 3 of 12` among the side runs.
    pub(crate) fn numbered(&self, run: usize, is_side: bool) -> String {
        if is_side && run > self.side_runs {
            // Some are recorded already, so that how many there are in all is not known here.
            format!("{} {run}", self.side)
        } else if is_side {
            format!("{} {run} of {}", self.side, self.side_runs)
        } else {
            format!("run {run} of {}", self.numbered_to)
        }
    }
}

fn mean(sum: Duration, count: usize) -> Option<Duration> {
    let count = u32::try_from(count).ok().filter(|count| *count > 0)?;
    Some(sum / count)
}
