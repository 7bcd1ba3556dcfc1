//! How does the view stay at the bottom of the terminal and replace its previous version?

use crate::output;
use console::Term;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// The lines at the bottom of the terminal.
#[derive(Debug, Clone)]
pub(crate) struct Screen {
    bar: ProgressBar,
    drawn: usize,
    columns: usize,
}

impl Screen {
    pub(crate) fn new() -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        bar.set_style(
            ProgressStyle::with_template("{msg}")
                .unwrap_or_else(|_| ProgressStyle::default_spinner()),
        );
        Self {
            bar,
            drawn: 0,
            columns: 0,
        }
    }

    /// Replaces the old lines by these.
    pub(crate) fn draw(&mut self, lines: &[String], columns: usize) {
        let joined = lines.join("\n");
        let message = output::shown(&joined, &std::io::stderr()).into_owned();
        if lines.is_empty() || (columns == self.columns && message == self.bar.message()) {
            return;
        }
        if columns != self.columns && self.drawn > 0 {
            let term = Term::stderr();
            let rows = rows_after_resize(self.drawn, self.columns, columns);
            let _gone = term
                .move_cursor_up(rows - 1)
                .and_then(|()| term.clear_to_end_of_screen());
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        (self.drawn, self.columns) = (lines.len(), columns);
        self.bar.set_message(message);
    }

    /// Writes text that stays, above the lines.
    pub(crate) fn say_above(&self, text: &str) {
        match (text.is_empty(), self.drawn) {
            (true, _) => {}
            (false, 0) => output::stderr(text),
            _ => self.bar.suspend(|| output::stderr(text)),
        }
    }

    /// Removes the lines for good.
    pub(crate) fn clear(&self) {
        if self.drawn > 0 {
            self.bar.finish_and_clear();
        }
    }
}

/// The number of rows that the drawn lines take after a resize. The lines are padded and touch the
/// edge, so a terminal breaks and joins them as one text.
fn rows_after_resize(drawn: usize, before: usize, now: usize) -> usize {
    (drawn * before).div_ceil(now.max(1)).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_resized_terminal_breaks_and_joins_the_lines() {
        assert_eq!(rows_after_resize(3, 80, 80), 3);
        assert_eq!(rows_after_resize(3, 80, 50), 5, "broken");
        assert_eq!(rows_after_resize(3, 80, 120), 2, "joined");
        assert_eq!(rows_after_resize(3, 80, 0), 240);
    }
}
