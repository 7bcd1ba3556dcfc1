//! How do models stand side by side on a terminal?

use super::page::{Line, Page, style};
use crate::leaderboard::{Column, columns, notes};
use crate::words::escape;
use mcptest_core::report::leaderboard::Leaderboard;
use unicode_width::UnicodeWidthStr;

/// The most columns of a model's name.
const NAME: usize = 34;

/// The minimum columns: the name, the runs, pass@1 and the difference to the first.
const LEAST: usize = 4;

/// One line for each model.
pub fn show(page: &mut Page, board: &Leaderboard, sort: Option<&Column>) {
    let mut columns = columns(board, sort);
    let width = |(head, cells): &(String, Vec<String>)| {
        cells
            .iter()
            .chain([head])
            .map(|cell| escape(cell).width())
            .max()
            .unwrap_or_default()
            .min(NAME)
    };
    let mut widths: Vec<usize> = columns.iter().map(width).collect();
    // Where they do not fit, numbers that a wider terminal and other reports have are left out: those before the last.
    while widths.iter().map(|width| width + 2).sum::<usize>() > page.width + 2
        && columns.len() > LEAST
    {
        let at = columns.len() - 2;
        columns.remove(at);
        widths.remove(at);
    }
    let columns: Vec<_> = columns.into_iter().zip(widths).collect();
    page.cells(
        0,
        columns
            .iter()
            .map(|((head, _), width)| (style::BOLD, head.clone(), *width)),
    );
    for row in 0..board.models.len() {
        page.cells(
            0,
            columns
                .iter()
                .map(|((_, cells), width)| (style::PLAIN, cells[row].clone(), *width)),
        );
    }
    for note in notes(board) {
        page.line(&Line::at(0).styled(style::YELLOW, format!("note: {note}")));
    }
    page.blank();
}
