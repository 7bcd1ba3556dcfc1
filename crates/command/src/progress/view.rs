//! What does a person see during a recording: the active rows, and a line for all of them?

use super::line::{Line, Part, Style, cut_within, keep_fitting};
use super::state::{Doing, Row, State, ToolTests};
use super::words::{about, count_grouped, grouped, time};
use crate::output::Paint;
use console::{Alignment, measure_text_width, pad_str};
use std::time::Duration;

/// The size of the terminal.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Size {
    pub(crate) columns: usize,
    pub(crate) rows: usize,
}

/// More rows than these are too many to look at.
const MOST_ROWS: usize = 12;
const BAR: usize = 10;
/// Fixed widths for changing values, so that the table does not jump.
const LEFT: usize = "~1 min 10 s".len();
const DOING: usize = 16;
const TOKENS: usize = "12,040 tok".len();
const COST: usize = "$0.0021".len();
const SHORTEST_NAME: usize = 14;

/// The lines, each narrower than the terminal, and fewer than its rows.
pub(crate) fn lines(state: &State, now: Duration, size: Size, paint: Paint) -> Vec<String> {
    let widest = size.columns.saturating_sub(1);
    let room = size.rows.saturating_sub(3).clamp(1, MOST_ROWS);
    let all_fit = state.rows.len() <= room;
    let shown: Vec<&Row> = state
        .rows
        .iter()
        .filter(|row| all_fit || !row.active.is_empty())
        .take(room)
        .collect();
    let mut lines = table(&shown, now, widest, paint);
    if !all_fit {
        lines.push(
            Line::default()
                .with(Paint::dim, rest(state, shown.len()))
                .rendered(widest, paint),
        );
    }
    lines.push(total(state, now, widest, paint));
    let most = size.rows.saturating_sub(1).max(1);
    lines.split_off(lines.len().saturating_sub(most))
}

/// The widths of the columns; `None` for a hidden one.
struct Columns {
    name: usize,
    bar: Option<usize>,
    count: Option<usize>,
    tokens: Option<usize>,
    cost: Option<usize>,
    time_left: Option<usize>,
    doing: Option<usize>,
}

impl Columns {
    /// The columns that fit, and the width for names.
    fn fitting(rows: &[&Row], widest: usize) -> Self {
        let mut columns = Self::whole(rows);
        columns.hide_until_they_fit(widest);
        columns.name = columns
            .name
            .min(widest.saturating_sub(columns.beside_name()));
        columns
    }

    /// Every column, as wide as its texts.
    fn whole(rows: &[&Row]) -> Self {
        let widest_of = |text: fn(&Row) -> Option<String>| {
            rows.iter()
                .filter_map(|row| Some(measure_text_width(&text(row)?)))
                .max()
        };
        Self {
            name: widest_of(|row| Some(row.name.clone())).unwrap_or_default(),
            bar: Some(BAR),
            count: widest_of(|row| Some(count(row))),
            tokens: widest_of(tokens).map(|width| width.max(TOKENS)),
            cost: widest_of(|row| row.spent.cost_in_words()).map(|width| width.max(COST)),
            time_left: Some(LEFT),
            doing: Some(DOING),
        }
    }

    /// Hides the least important columns until the others fit.
    fn hide_until_they_fit(&mut self, widest: usize) {
        // The bar says what the count says: it is not worth a cut name or a cut call.
        if self.beside_name() + self.name + DOING / 2 <= widest {
            return;
        }
        self.bar = None;
        let by_importance: [fn(&mut Self) -> &mut Option<usize>; 4] = [
            |columns| &mut columns.tokens,
            |columns| &mut columns.cost,
            |columns| &mut columns.time_left,
            |columns| &mut columns.doing,
        ];
        for column in by_importance {
            if self.beside_name() + self.name.min(SHORTEST_NAME) <= widest {
                return;
            }
            *column(self) = None;
        }
    }

    /// The width of all columns but the name.
    fn beside_name(&self) -> usize {
        let beside = [
            self.bar,
            self.count,
            self.tokens,
            self.cost,
            self.time_left,
            self.doing,
        ];
        2 + beside
            .iter()
            .flatten()
            .map(|width| width + 2)
            .sum::<usize>()
    }
}

fn table(rows: &[&Row], now: Duration, widest: usize, paint: Paint) -> Vec<String> {
    let columns = Columns::fitting(rows, widest);
    rows.iter()
        .map(|row| line(row, &columns, now).rendered(widest, paint))
        .collect()
}

fn line(row: &Row, columns: &Columns, now: Duration) -> Line {
    let is_quiet = row.active.is_empty();
    let mut line = mark_and_name(row, columns.name);
    if columns.bar.is_some() {
        line = with_bar(line, row);
    }
    let time_left = row
        .left(now)
        .filter(|_| !is_quiet)
        .map(|left| format!("~{}", about(left)));
    for (width, text, side) in [
        (columns.count, Some(count(row)), Alignment::Right),
        (columns.tokens, tokens(row), Alignment::Right),
        (columns.cost, row.spent.cost_in_words(), Alignment::Right),
        (columns.time_left, time_left, Alignment::Left),
    ] {
        if let Some(width) = width {
            line = line
                .plain("  ")
                .plain(pad_str(&text.unwrap_or_default(), width, side, None));
        }
    }
    if columns.doing.is_some() {
        line = line.plain("  ").with(
            if is_quiet { Paint::dim } else { Paint::cyan },
            doing(row, now),
        );
    }
    line
}

fn mark_and_name(row: &Row, width: usize) -> Line {
    let is_quiet = row.active.is_empty();
    let (mark, style): (_, Style) = match row {
        row if row.is_failed() => ("✗", Paint::red),
        row if row.is_over() => ("✓", Paint::green),
        _ if is_quiet => (" ", Paint::dim),
        _ => ("▸", Paint::cyan),
    };
    let cut = cut_within(&row.name, width);
    Line::default().with(style, mark).plain(" ").with(
        if is_quiet { Paint::dim } else { Paint::plain },
        pad_str(&cut, width, Alignment::Left, None),
    )
}

fn with_bar(line: Line, row: &Row) -> Line {
    let full = (BAR * row.recorded)
        .checked_div(row.of)
        .unwrap_or(BAR)
        .min(BAR);
    line.plain("  ")
        .with(Paint::cyan, "█".repeat(full))
        .with(Paint::dim, "░".repeat(BAR - full))
}

fn count(row: &Row) -> String {
    format!("{}/{}", row.recorded, row.of)
}

fn tokens(row: &Row) -> Option<String> {
    row.spent
        .tokens_in_words()
        .map(|words| words.replace("tokens", "tok").replace("token", "tok"))
}

fn doing(row: &Row, now: Duration) -> String {
    let Some((_, active)) = row.latest() else {
        return match row {
            row if row.is_failed() => "failed".to_owned(),
            row if row.saved > 0 => format!("decided, {} saved", row.saved),
            row if row.is_over() => String::new(),
            _ => "waiting".to_owned(),
        };
    };
    let doing = match &active.doing {
        Doing::Starting => "starting".to_owned(),
        Doing::Awaiting(server) => format!("waiting for {server}"),
        Doing::Asking => "thinking".to_owned(),
        Doing::Waiting { until, why } => {
            format!("waiting {}: {why}", time(until.saturating_sub(now)))
        }
        Doing::Calling(tool) => tool.clone(),
    };
    match row.active.len() {
        1 => doing,
        more => format!("{doing} (+{})", more - 1),
    }
}

/// The hidden rows, counted by activity.
fn rest(state: &State, shown: usize) -> String {
    let count = |wanted: &dyn Fn(&&Row) -> bool| state.rows.iter().filter(wanted).count();
    let (over, at_work) = (
        count(&|row| row.is_over()),
        count(&|row| !row.active.is_empty()),
    );
    let waiting = state.rows.len() - over - at_work;
    let more =
        (at_work > shown).then(|| format!("{} more at work", grouped((at_work - shown) as u64)));
    let over = (over > 0).then(|| format!("{} done", count_grouped(over as u64, "row")));
    let waiting =
        (waiting > 0).then(|| format!("{} waiting", count_grouped(waiting as u64, "row")));
    format!(
        "  {}",
        [more, over, waiting]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join(", ")
    )
}

/// All rows in one line. The least important parts are omitted if the line is too long.
fn total(state: &State, now: Duration, widest: usize, paint: Paint) -> String {
    let parts = if state.rows.is_empty() {
        parts_of_tools(&state.tools)
    } else {
        parts_of_rows(state, now)
    };
    Line::from_parts(keep_fitting(parts, widest)).rendered(widest, paint)
}

fn parts_of_tools(tools: &ToolTests) -> Vec<Part> {
    [
        Part::new(0, Paint::bold, Some(tools.called_in_words())),
        Part::new(1, Paint::red, failed(tools.failed as u64)),
        Part::new(
            2,
            Paint::plain,
            tools
                .awaits
                .as_ref()
                .map(|server| format!("waiting for {server} to start")),
        ),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn parts_of_rows(state: &State, now: Duration) -> Vec<Part> {
    let recorded = grouped(state.all(|row| row.recorded));
    let of = count_grouped(state.all(|row| row.of), "run");
    let spent = state.spent();
    let left = state.left(now);
    let saved = state.all(|row| row.saved);
    [
        Part::new(0, Paint::bold, Some(format!("{recorded} of {of}"))),
        Part::new(1, Paint::red, failed(state.all(|row| row.failed))),
        Part::new(4, Paint::plain, spent.tokens_in_words()),
        Part::new(3, Paint::plain, spent.cost_in_words()),
        Part::new(5, Paint::plain, Some(whole_seconds(state.elapsed(now)))),
        Part::new(
            2,
            Paint::plain,
            left.map(|left| format!("about {} left", about(left))),
        ),
        Part::new(
            6,
            Paint::plain,
            (saved > 0).then(|| format!("{} saved", count_grouped(saved, "run"))),
        ),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn failed(failed: u64) -> Option<String> {
    (failed > 0).then(|| format!("{failed} failed"))
}

/// `2 s`, `1 min 10 s`: without tenths, which would flicker.
fn whole_seconds(length: Duration) -> String {
    match length.as_secs() {
        seconds @ ..60 => format!("{seconds} s"),
        seconds => time(Duration::from_secs(seconds)),
    }
}
