//! Which bytes put new lines in the place of those drawn before?

use unicode_width::UnicodeWidthStr;

/// The lines that stand at the bottom of the terminal; the cursor is below the last of them.
#[derive(Debug, Default)]
pub(crate) struct Screen {
    drawn: Vec<String>,
    columns: usize,
}

impl Screen {
    /// What draws these lines over the old ones, and `above` over them for good. A terminal that has become narrower
    /// has broken the old lines into several.
    pub(crate) fn draw(&mut self, above: &[String], lines: &[String], columns: usize) -> String {
        let columns = columns.max(1);
        if above.is_empty() && self.drawn == lines && self.columns == columns {
            return String::new();
        }
        let rows: usize = self.drawn.iter().map(|line| width(line).div_ceil(columns).max(1)).sum();
        let mut bytes = "\r".to_owned();
        if rows > 0 {
            bytes.push_str(&format!("\u{1b}[{rows}A"));
        }
        if !above.is_empty() || rows != self.drawn.len() {
            bytes.push_str("\u{1b}[J");
        }
        for line in above.iter().chain(lines) {
            bytes.push_str(line);
            bytes.push_str("\u{1b}[K\n");
        }
        bytes.push_str("\u{1b}[J");
        self.drawn = lines.to_vec();
        self.columns = columns;
        bytes
    }

    /// What takes the lines away again.
    pub(crate) fn clear(&mut self, columns: usize) -> String {
        if self.drawn.is_empty() { String::new() } else { self.draw(&[], &[], columns) }
    }
}

/// How many columns a line takes, colours aside.
pub(crate) fn width(line: &str) -> usize {
    let mut parts = line.split('\u{1b}');
    let first = parts.next().unwrap_or_default().width();
    let after_colour = |part: &str| part.split_once('m').map_or(0, |(_, text)| text.width());
    first + parts.map(after_colour).sum::<usize>()
}

/// The text in at most so many columns, with `…` where it was cut.
pub(crate) fn cut(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let mut kept = String::new();
    for character in text.chars() {
        kept.push(character);
        if kept.width() + 1 > columns {
            kept.pop();
            break;
        }
    }
    if columns > 0 {
        kept.push('…');
    }
    kept
}

/// The text in at most so many columns, cut in its first half: rows differ in their last words.
pub(crate) fn cut_within(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let head = cut(text, columns / 3);
    let mut tail = String::new();
    for character in text.chars().rev() {
        tail.insert(0, character);
        if head.width() + tail.width() > columns {
            tail.remove(0);
            break;
        }
    }
    head + &tail
}

/// The text with blanks up to so many columns.
pub(crate) fn padded(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(text.width())))
}

/// The text at the right of so many columns.
pub(crate) fn flush_right(text: &str, columns: usize) -> String {
    format!("{}{text}", " ".repeat(columns.saturating_sub(text.width())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn new_lines_are_drawn_over_the_old_ones_and_leave_nothing_behind() {
        let mut screen = Screen::default();
        assert_eq!(screen.clear(80), "");
        assert_eq!(screen.draw(&[], &lines(&["one", "two"]), 80), "\rone\u{1b}[K\ntwo\u{1b}[K\n\u{1b}[J");
        assert_eq!(screen.draw(&[], &lines(&["one", "two"]), 80), "", "nothing is new");
        let failed = lines(&["failed"]);
        assert_eq!(
            screen.draw(&failed, &lines(&["one"]), 80),
            "\r\u{1b}[2A\u{1b}[Jfailed\u{1b}[K\none\u{1b}[K\n\u{1b}[J"
        );
        assert_eq!(screen.clear(80), "\r\u{1b}[1A\u{1b}[J");
        assert_eq!(screen.clear(80), "");
    }

    #[test]
    fn lines_that_a_narrower_terminal_has_broken_are_taken_away_whole() {
        let mut screen = Screen::default();
        screen.draw(&[], &lines(&["\u{1b}[1m0123456789\u{1b}[0m", "", "天気"]), 80);
        assert!(screen.draw(&[], &[], 4).starts_with("\r\u{1b}[5A\u{1b}[J"));
    }

    #[test]
    fn a_text_is_cut_by_columns_not_by_characters() {
        assert_eq!((cut("weather", 7), cut("weather", 6)), ("weather".to_owned(), "weath…".to_owned()));
        assert_eq!(
            (cut("天気予報", 6), cut("天気予報", 1), cut("天気", 0)),
            ("天気…".to_owned(), "…".to_owned(), String::new())
        );
    }

    #[test]
    fn a_name_keeps_the_model_at_its_end() {
        assert_eq!(cut_within("asks the weather tool [gpt-5]", 18), "asks …tool [gpt-5]");
        assert_eq!(
            (cut_within("asks", 4), cut_within("asks", 3), cut_within("asks", 1)),
            ("asks".to_owned(), "…ks".to_owned(), "s".to_owned())
        );
    }
}
