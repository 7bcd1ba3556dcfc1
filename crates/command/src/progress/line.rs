//! Which parts of a line fit the terminal?

use crate::output::Paint;
use console::{measure_text_width, truncate_str};

/// The colour of a text.
pub(super) type Style = fn(Paint, &str) -> String;

const SEPARATOR: &str = " · ";

/// A line before it is coloured.
#[derive(Default)]
pub(super) struct Line {
    spans: Vec<(Style, String)>,
}

impl Line {
    pub(super) fn with(mut self, style: Style, text: impl Into<String>) -> Self {
        self.spans.push((style, text.into()));
        self
    }

    pub(super) fn plain(self, text: impl Into<String>) -> Self {
        self.with(Paint::plain, text)
    }

    /// The parts in order, with dots between them.
    pub(super) fn from_parts(parts: Vec<Part>) -> Self {
        let mut line = Self::default();
        for (at, part) in parts.into_iter().enumerate() {
            line = line
                .with(Paint::dim, if at > 0 { SEPARATOR } else { "" })
                .with(part.style, part.text);
        }
        line
    }

    /// The text in at most this number of columns.
    pub(super) fn rendered(&self, widest: usize, paint: Paint) -> String {
        let text: String = self
            .spans
            .iter()
            .map(|(style, span)| style(paint, span))
            .collect();
        truncate_str(text.trim_end(), widest, "…").into_owned()
    }
}

/// A part of a line that is omitted if the line is too long.
pub(super) struct Part {
    /// The part with the highest number is omitted first.
    rank: u8,
    style: Style,
    text: String,
}

impl Part {
    pub(super) fn new(rank: u8, style: Style, text: Option<String>) -> Option<Self> {
        let text = text?;
        Some(Self { rank, style, text })
    }
}

/// As many of the parts as fit, but at least one.
pub(super) fn keep_fitting(mut parts: Vec<Part>, widest: usize) -> Vec<Part> {
    while parts.len() > 1 && width_in_a_line(&parts) > widest {
        let least = (0..parts.len())
            .max_by_key(|at| parts[*at].rank)
            .unwrap_or_default();
        parts.remove(least);
    }
    parts
}

fn width_in_a_line(parts: &[Part]) -> usize {
    let texts: usize = parts
        .iter()
        .map(|part| measure_text_width(&part.text))
        .sum();
    texts + parts.len().saturating_sub(1) * measure_text_width(SEPARATOR)
}

/// The text in at most this number of columns, cut in its first half: rows differ in their last words.
pub(super) fn cut_within(text: &str, columns: usize) -> String {
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
