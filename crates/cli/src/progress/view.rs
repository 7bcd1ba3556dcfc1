//! What does a person see while runs are recorded: the rows at work, and a line for all of them?

use super::state::{Doing, Row, State};
use super::words::{about, counted, grouped, time};
use crate::output::Paint;
use console::{Alignment, measure_text_width, pad_str, truncate_str};
use std::borrow::Cow;
use std::time::Duration;

/// How large the terminal is.
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
    let shown: Vec<&Row> =
        state.rows.iter().filter(|row| all_fit || !row.active.is_empty()).take(room).collect();
    let mut lines = table(&shown, now, widest, paint);
    if !all_fit {
        lines.push(Line::default().with(Style::Dim, rest(state, shown.len())).rendered(widest, paint));
    }
    lines.push(total(state, now, widest, paint));
    let most = size.rows.saturating_sub(1).max(1);
    lines.split_off(lines.len().saturating_sub(most))
}

/// Which columns of the table there is room for.
#[derive(Debug, Clone, Copy, Default)]
struct Columns {
    name: usize,
    count: usize,
    bar: bool,
    tokens: Option<usize>,
    cost: Option<usize>,
    left: bool,
    doing: bool,
}

impl Columns {
    /// The most that fits; what matters least goes first.
    fn fitting(rows: &[&Row], widest: usize) -> Self {
        let widest_of = |text: &dyn Fn(&Row) -> Option<String>, least: usize| {
            let widths = rows.iter().filter_map(|row| Some(measure_text_width(&text(row)?)));
            widths.max().map(|width| width.max(least))
        };
        let all = Self {
            name: rows.iter().map(|row| measure_text_width(&row.name)).max().unwrap_or_default(),
            count: rows.iter().map(|row| measure_text_width(&count(row))).max().unwrap_or_default(),
            bar: true,
            tokens: widest_of(&tokens, TOKENS),
            cost: widest_of(&|row| row.spent.cost_in_words(), COST),
            left: true,
            doing: true,
        };
        let tries = [
            all,
            Self { bar: false, ..all },
            Self { bar: false, tokens: None, ..all },
            Self { bar: false, tokens: None, cost: None, ..all },
            Self { bar: false, tokens: None, cost: None, left: false, ..all },
            Self { bar: false, tokens: None, cost: None, left: false, doing: false, ..all },
        ];
        // The bar says what the count says: it is not worth a cut name or a cut call.
        let least =
            |columns: &Self| if columns.bar { all.name + DOING / 2 } else { all.name.min(SHORTEST_NAME) };
        let fits = |columns: &&Self| columns.beside_name() + least(columns) <= widest;
        let chosen = tries.iter().find(fits).unwrap_or(&tries[tries.len() - 1]);
        Self { name: all.name.min(widest.saturating_sub(chosen.beside_name())), ..*chosen }
    }

    /// All but the name.
    fn beside_name(&self) -> usize {
        let gap = |width: usize| width + 2;
        let or_none = |is_there: bool, width: usize| if is_there { gap(width) } else { 0 };
        2 + gap(self.count)
            + or_none(self.bar, BAR)
            + self.tokens.map_or(0, gap)
            + self.cost.map_or(0, gap)
            + or_none(self.left, LEFT)
            + or_none(self.doing, DOING)
    }
}

fn table(rows: &[&Row], now: Duration, widest: usize, paint: Paint) -> Vec<String> {
    let columns = Columns::fitting(rows, widest);
    rows.iter().map(|row| line(row, columns, now).rendered(widest, paint)).collect()
}

fn line(row: &Row, columns: Columns, now: Duration) -> Line {
    let (mark, style) = match row {
        row if row.is_failed() => ("✗", Style::Red),
        row if row.is_over() => ("✓", Style::Green),
        row if row.active.is_empty() => (" ", Style::Dim),
        _ => ("▸", Style::Cyan),
    };
    let is_quiet = row.active.is_empty();
    let name = cut_within(&row.name, columns.name);
    let name = padded(&name, columns.name);
    let mut line = Line::default()
        .with(style, mark)
        .with(Style::Plain, " ")
        .with(if is_quiet { Style::Dim } else { Style::Plain }, name);
    if columns.bar {
        let full = (BAR * row.recorded).checked_div(row.of).unwrap_or(BAR).min(BAR);
        line = line.with(Style::Plain, "  ").with(Style::Cyan, "█".repeat(full));
        line = line.with(Style::Dim, "░".repeat(BAR - full));
    }
    let column = |line: Line, text: Cow<str>| line.with(Style::Plain, "  ").with(Style::Plain, text);
    line = column(line, flush_right(&count(row), columns.count));
    if let Some(width) = columns.tokens {
        line = column(line, flush_right(&tokens(row).unwrap_or_default(), width));
    }
    if let Some(width) = columns.cost {
        line = column(line, flush_right(&row.spent.cost_in_words().unwrap_or_default(), width));
    }
    if columns.left {
        let left = row.left(now).filter(|_| !is_quiet).map(|left| format!("~{}", about(left)));
        line = column(line, padded(&left.unwrap_or_default(), LEFT));
    }
    if columns.doing {
        let style = if is_quiet { Style::Dim } else { Style::Cyan };
        line = line.with(Style::Plain, "  ").with(style, doing(row, now));
    }
    line
}

fn count(row: &Row) -> String {
    format!("{}/{}", row.recorded, row.of)
}

fn tokens(row: &Row) -> Option<String> {
    row.spent.tokens_in_words().map(|words| words.replace("tokens", "tok").replace("token", "tok"))
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
    let (over, at_work) = (count(&|row| row.is_over()), count(&|row| !row.active.is_empty()));
    let waiting = state.rows.len() - over - at_work;
    let mut parts = Vec::new();
    if at_work > shown {
        parts.push(format!("{} more at work", grouped((at_work - shown) as u64)));
    }
    if over > 0 {
        parts.push(format!("{} done", counted(over as u64, "row")));
    }
    if waiting > 0 {
        parts.push(format!("{} waiting", counted(waiting as u64, "row")));
    }
    format!("  {}", parts.join(", "))
}

/// All rows in one line; what matters least is left out where there is no room.
fn total(state: &State, now: Duration, widest: usize, paint: Paint) -> String {
    let (called, tests) = state.tools;
    let mut parts: Vec<(u8, Style, String)> = Vec::new();
    if state.rows.is_empty() {
        parts.push((0, Style::Bold, format!("{called} of {} called", counted(tests as u64, "tool test"))));
        if state.tools_failed > 0 {
            parts.push((1, Style::Red, format!("{} failed", state.tools_failed)));
        }
        let awaited = state.tools_await.as_ref();
        parts.extend(awaited.map(|server| (2, Style::Plain, format!("waiting for {server} to start"))));
    } else {
        let of = counted(state.of() as u64, "run");
        parts.push((0, Style::Bold, format!("{} of {of}", grouped(state.recorded() as u64))));
        if state.failed() > 0 {
            parts.push((1, Style::Red, format!("{} failed", state.failed())));
        }
        let spent = state.spent();
        parts.extend(spent.tokens_in_words().map(|tokens| (4, Style::Plain, tokens)));
        parts.extend(spent.cost_in_words().map(|cost| (3, Style::Plain, cost)));
        let elapsed = state.elapsed(now).as_secs();
        let elapsed = if elapsed < 60 { format!("{elapsed} s") } else { time(Duration::from_secs(elapsed)) };
        parts.push((5, Style::Plain, elapsed));
        let left = state.left(now).map(|left| format!("about {} left", about(left)));
        parts.extend(left.map(|left| (2, Style::Plain, left)));
        if state.saved() > 0 {
            parts.push((6, Style::Plain, format!("{} saved", counted(state.saved() as u64, "run"))));
        }
    }
    let width = |parts: &[(u8, Style, String)]| {
        parts.iter().map(|(_, _, text)| measure_text_width(text) + 3).sum::<usize>()
    };
    while parts.len() > 1 && width(&parts) > widest + 3 {
        let least = parts.iter().enumerate().max_by_key(|(_, (rank, ..))| *rank).map_or(0, |(at, _)| at);
        parts.remove(least);
    }
    let mut line = Line::default();
    for (at, (_, style, text)) in parts.into_iter().enumerate() {
        line = line.with(Style::Dim, if at > 0 { " · " } else { "" }).with(style, text);
    }
    line.rendered(widest, paint)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Style {
    Plain,
    Bold,
    Dim,
    Cyan,
    Green,
    Red,
}

/// A line before it is coloured.
#[derive(Debug, Default)]
struct Line {
    spans: Vec<(Style, String)>,
}

impl Line {
    fn with(mut self, style: Style, text: impl Into<String>) -> Self {
        self.spans.push((style, text.into()));
        self
    }

    /// In at most so many columns.
    fn rendered(&self, widest: usize, paint: Paint) -> String {
        let mut text = String::new();
        for (style, span) in &self.spans {
            text.push_str(&match style {
                Style::Plain => span.clone(),
                Style::Bold => paint.bold(span),
                Style::Dim => paint.dim(span),
                Style::Cyan => paint.cyan(span),
                Style::Green => paint.green(span),
                Style::Red => paint.red(span),
            });
        }
        truncate_str(text.trim_end(), widest, "…").into_owned()
    }
}

/// The text in at most so many columns, cut in its first half: rows differ in their last words.
fn cut_within(text: &str, columns: usize) -> String {
    if measure_text_width(text) <= columns {
        return text.to_owned();
    }
    let head = truncate_str(text, (columns / 3).max(1), "…");
    let room = columns.saturating_sub(measure_text_width(&head));
    let fits = |at: &usize| measure_text_width(&text[*at..]) <= room;
    let tail = text.char_indices().map(|(at, _)| at).find(fits).unwrap_or(text.len());
    format!("{head}{}", &text[tail..])
}

/// The text with blanks up to so many columns.
fn padded(text: &str, columns: usize) -> Cow<'_, str> {
    pad_str(text, columns, Alignment::Left, None)
}

/// The text at the right of so many columns.
fn flush_right(text: &str, columns: usize) -> Cow<'_, str> {
    pad_str(text, columns, Alignment::Right, None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_keeps_the_model_at_its_end() {
        assert_eq!(cut_within("asks the weather tool [gpt-5]", 18), "asks …tool [gpt-5]");
        assert_eq!(
            (cut_within("asks", 4), cut_within("asks", 3), cut_within("asks", 1)),
            ("asks".to_owned(), "…ks".to_owned(), "…".to_owned())
        );
    }
}
