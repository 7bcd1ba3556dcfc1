//! What does a person see while runs are recorded: the rows at work, and a line for all of them?

use super::state::{Doing, Row, State};
use super::words::{about, count_grouped, grouped, time};
use crate::output::Paint;
use console::{Alignment, measure_text_width, pad_str, truncate_str};
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
/// Columns for what changes from one moment to the next, lest the table jump.
const LEFT: usize = "~1 min 10 s".len();
const DOING: usize = 16;
const TOKENS: usize = "12,040 tok".len();
const COST: usize = "$0.0021".len();
const SHORTEST_NAME: usize = 14;

/// The lines, none of them as wide as the terminal and all of them fewer than it has rows.
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

/// The widths of the columns next to the name: the bar, the count, the tokens, the cost, the remaining time, and the
/// current activity; `None` for a hidden column.
type Widths = [Option<usize>; 6];

/// Which columns there is room for, and for how much of the names; what matters least goes first.
fn fitting(rows: &[&Row], widest: usize) -> (usize, Widths) {
    let widest_of = |text: fn(&Row) -> Option<String>, least: usize| {
        let widths = rows
            .iter()
            .filter_map(|row| Some(measure_text_width(&text(row)?)));
        widths.max().map(|width| width.max(least))
    };
    let name = widest_of(|row| Some(row.name.clone()), 0).unwrap_or_default();
    let cost = widest_of(|row| row.spent.cost_in_words(), COST);
    let count = widest_of(|row| Some(count(row)), 0);
    let mut widths = [
        Some(BAR),
        count,
        widest_of(tokens, TOKENS),
        cost,
        Some(LEFT),
        Some(DOING),
    ];
    let beside_name = |widths: &Widths| {
        2 + widths
            .iter()
            .flatten()
            .map(|width| width + 2)
            .sum::<usize>()
    };
    for column in [0, 2, 3, 4, 5] {
        // The bar says what the count says: it is not worth a cut name or a cut call.
        let least = if widths[0].is_some() {
            name + DOING / 2
        } else {
            name.min(SHORTEST_NAME)
        };
        if beside_name(&widths) + least <= widest {
            break;
        }
        widths[column] = None;
    }
    (
        name.min(widest.saturating_sub(beside_name(&widths))),
        widths,
    )
}

fn table(rows: &[&Row], now: Duration, widest: usize, paint: Paint) -> Vec<String> {
    let (name, widths) = fitting(rows, widest);
    rows.iter()
        .map(|row| line(row, name, widths, now).rendered(widest, paint))
        .collect()
}

fn line(
    row: &Row,
    name: usize,
    [bar, of, tokens_of, cost, left, does]: Widths,
    now: Duration,
) -> Line {
    let is_quiet = row.active.is_empty();
    let (mark, style): (_, Style) = match row {
        row if row.is_failed() => ("✗", Paint::red),
        row if row.is_over() => ("✓", Paint::green),
        _ if is_quiet => (" ", Paint::dim),
        _ => ("▸", Paint::cyan),
    };
    let shown = cut_within(&row.name, name);
    let shown = pad_str(&shown, name, Alignment::Left, None);
    let mut line = Line::default().with(style, mark).plain(" ");
    line = line.with(if is_quiet { Paint::dim } else { Paint::plain }, shown);
    if bar.is_some() {
        let full = (BAR * row.recorded)
            .checked_div(row.of)
            .unwrap_or(BAR)
            .min(BAR);
        line = line
            .plain("  ")
            .with(Paint::cyan, "█".repeat(full))
            .with(Paint::dim, "░".repeat(BAR - full));
    }
    let time_left = row
        .left(now)
        .filter(|_| !is_quiet)
        .map(|left| format!("~{}", about(left)));
    for (width, text, side) in [
        (of, Some(count(row)), Alignment::Right),
        (tokens_of, tokens(row), Alignment::Right),
        (cost, row.spent.cost_in_words(), Alignment::Right),
        (left, time_left, Alignment::Left),
    ] {
        if let Some(width) = width {
            line = line
                .plain("  ")
                .plain(pad_str(&text.unwrap_or_default(), width, side, None));
        }
    }
    if does.is_some() {
        line = line.plain("  ").with(
            if is_quiet { Paint::dim } else { Paint::cyan },
            doing(row, now),
        );
    }
    line
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
        Doing::Waiting(until, why) => {
            format!("waiting {}: {why}", time(until.saturating_sub(now)))
        }
        Doing::Calling(tool) => tool.clone(),
    };
    match row.active.len() {
        1 => doing,
        more => format!("{doing} (+{})", more - 1),
    }
}

/// The rows that are not shown, by what they are at.
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
    let mut parts: Vec<(u8, Style, String)> = Vec::new();
    let mut put = |rank: u8, style: Style, text: Option<String>| {
        parts.extend(text.map(|text| (rank, style, text)));
    };
    let failed = |failed: u64| (failed > 0).then(|| format!("{failed} failed"));
    if state.rows.is_empty() {
        let (called, tests) = state.tools;
        put(
            0,
            Paint::bold,
            Some(format!(
                "{called} of {} called",
                count_grouped(tests as u64, "tool test")
            )),
        );
        put(1, Paint::red, failed(state.tools_failed as u64));
        let awaited = state.tools_await.as_ref();
        put(
            2,
            Paint::plain,
            awaited.map(|server| format!("waiting for {server} to start")),
        );
    } else {
        let (recorded, of) = (
            state.all(|row| row.recorded),
            count_grouped(state.all(|row| row.of), "run"),
        );
        put(
            0,
            Paint::bold,
            Some(format!("{} of {of}", grouped(recorded))),
        );
        put(1, Paint::red, failed(state.all(|row| row.failed)));
        put(4, Paint::plain, state.spent().tokens_in_words());
        put(3, Paint::plain, state.spent().cost_in_words());
        let elapsed = state.elapsed(now).as_secs();
        let elapsed = if elapsed < 60 {
            format!("{elapsed} s")
        } else {
            time(Duration::from_secs(elapsed))
        };
        put(5, Paint::plain, Some(elapsed));
        put(
            2,
            Paint::plain,
            state
                .left(now)
                .map(|left| format!("about {} left", about(left))),
        );
        let saved = state.all(|row| row.saved);
        put(
            6,
            Paint::plain,
            (saved > 0).then(|| format!("{} saved", count_grouped(saved, "run"))),
        );
    }
    let width = |parts: &[(u8, Style, String)]| {
        parts
            .iter()
            .map(|(_, _, text)| measure_text_width(text) + 3)
            .sum::<usize>()
    };
    while parts.len() > 1 && width(&parts) > widest + 3 {
        let least = parts
            .iter()
            .enumerate()
            .max_by_key(|(_, (rank, ..))| *rank)
            .map_or(0, |(at, _)| at);
        parts.remove(least);
    }
    let mut line = Line::default();
    for (at, (_, style, text)) in parts.into_iter().enumerate() {
        line = line
            .with(Paint::dim, if at > 0 { " · " } else { "" })
            .with(style, text);
    }
    line.rendered(widest, paint)
}

/// The colour of a text.
type Style = fn(Paint, &str) -> String;

/// A line before it is coloured.
#[derive(Default)]
struct Line {
    spans: Vec<(Style, String)>,
}

impl Line {
    fn with(mut self, style: Style, text: impl Into<String>) -> Self {
        self.spans.push((style, text.into()));
        self
    }

    fn plain(self, text: impl Into<String>) -> Self {
        self.with(Paint::plain, text)
    }

    /// The text in at most this number of columns.
    fn rendered(&self, widest: usize, paint: Paint) -> String {
        let text: String = self
            .spans
            .iter()
            .map(|(style, span)| style(paint, span))
            .collect();
        truncate_str(text.trim_end(), widest, "…").into_owned()
    }
}

/// The text in at most this number of columns, cut in its first half: rows differ in their last words.
fn cut_within(text: &str, columns: usize) -> String {
    if measure_text_width(text) <= columns {
        return text.to_owned();
    }
    let head = truncate_str(text, (columns / 3).max(1), "…");
    let room = columns.saturating_sub(measure_text_width(&head));
    let fits = |at: &usize| measure_text_width(&text[*at..]) <= room;
    let tail = text
        .char_indices()
        .map(|(at, _)| at)
        .find(fits)
        .unwrap_or(text.len());
    format!("{head}{}", &text[tail..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_keeps_the_model_at_its_end() {
        assert_eq!(
            cut_within("asks the weather tool [gpt-5]", 18),
            "asks …tool [gpt-5]"
        );
        assert_eq!(
            (
                cut_within("asks", 4),
                cut_within("asks", 3),
                cut_within("asks", 1)
            ),
            ("asks".to_owned(), "…ks".to_owned(), "…".to_owned())
        );
    }
}
