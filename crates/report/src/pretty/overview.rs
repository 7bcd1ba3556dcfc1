//! How are tests over their models, and agents over their distractors, shown in 80 columns?

use super::page::{Line, Page, style};
use crate::overview::{Curve, Grid, curves, grid};
use crate::words::escape;
use anstyle::Style;
use mcptest_core::report::{Report, Status, TestReport};
use unicode_width::UnicodeWidthStr;

const WIDEST: usize = 80;
const NAME: usize = 34;
const MODEL: usize = 24;
const GAP: usize = 2;

/// The table of models and tests; nothing when no test has several models.
pub(super) fn models(page: &mut Page, report: &Report) {
    let Some(grid) = grid(report) else { return };
    let name =
        grid.rows.iter().map(|(name, _)| escape(name).width()).max().unwrap_or_default().clamp(6, NAME);
    let mut columns: Vec<usize> = (0..grid.models.len()).collect();
    while !columns.is_empty() {
        let fitting = fitting(&grid, name, &columns);
        block(page, &grid, name, &columns[..fitting]);
        columns.drain(..fitting);
    }
}

/// How many of these columns stand beside one another.
fn fitting(grid: &Grid<'_>, name: usize, columns: &[usize]) -> usize {
    let mut used = 2 + name;
    let fits = columns.iter().take_while(|&&column| {
        used += GAP + width_of(grid, column);
        used <= WIDEST
    });
    fits.count().max(1)
}

fn width_of(grid: &Grid<'_>, column: usize) -> usize {
    let cells = grid.rows.iter().filter_map(|(_, cells)| cells[column]).map(|test| outcome(test).0.width());
    let widest = cells.max().unwrap_or_default().max("passed".len()).max(tally(grid, column).width());
    widest.max(escape(grid.models[column]).width().min(MODEL))
}

fn block(page: &mut Page, grid: &Grid<'_>, name: usize, columns: &[usize]) {
    let mut head = Line::at(0).glued(style::BOLD, page.fixed("Models", name + 2));
    for &column in columns {
        head = head.plain(gap()).glued(style::BOLD, page.fixed(grid.models[column], width_of(grid, column)));
    }
    page.line(&head.unwrapped());
    for (test, cells) in &grid.rows {
        let mut line = Line::at(2).glued(style::PLAIN, page.fixed(test, name));
        for &column in columns {
            let (text, style) = cells[column].map_or((String::new(), style::PLAIN), outcome);
            line = line.plain(gap()).glued(style, page.fixed(&text, width_of(grid, column)));
        }
        page.line(&line.unwrapped());
    }
    let mut line = Line::at(2).glued(style::DIM, page.fixed("passed", name));
    for &column in columns {
        line = line.plain(gap()).glued(style::DIM, page.fixed(&tally(grid, column), width_of(grid, column)));
    }
    page.line(&line.unwrapped());
    page.blank();
}

fn gap() -> String {
    " ".repeat(GAP)
}

/// How a test ended, and how many of its runs passed.
fn outcome(test: &TestReport) -> (String, Style) {
    let runs = if test.runs.is_empty() {
        String::new()
    } else {
        format!(" {}/{}", test.passed_runs(), test.runs.len())
    };
    match test.status {
        Status::Passed => (format!("pass{runs}"), style::GREEN),
        Status::Failed => (format!("FAIL{runs}"), style::RED),
        Status::Error => ("ERROR".to_owned(), style::MAGENTA),
        Status::Skipped => ("skip".to_owned(), style::YELLOW),
    }
}

/// How many tests of a model passed.
fn tally(grid: &Grid<'_>, column: usize) -> String {
    let tests: Vec<&TestReport> = grid.rows.iter().filter_map(|(_, cells)| cells[column]).collect();
    let passed = tests.iter().filter(|test| test.status == Status::Passed).count();
    format!("{passed} of {}", tests.len())
}

/// How accuracy falls with the number of distractors; nothing where there is no sweep.
pub(super) fn degradation(page: &mut Page, report: &Report) {
    let curves = curves(report);
    if curves.is_empty() {
        return;
    }
    page.line(&Line::at(0).styled(style::BOLD, "Accuracy by number of distractors"));
    let name = curves.iter().map(|curve| escape(&curve.name).width()).max().unwrap_or_default().min(NAME);
    for curve in &curves {
        for (at, points) in lines_of(curve, WIDEST - 2 - name - GAP).into_iter().enumerate() {
            let label = if at == 0 { page.fixed(&curve.name, name) } else { " ".repeat(name) };
            page.line(&Line::at(2).glued(style::PLAIN, label).plain(gap()).plain(points).unwrapped());
        }
    }
    page.blank();
}

/// `0: 100%   4: 90%   16: n/a`, on as many lines as it takes.
fn lines_of(curve: &Curve, room: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for (count, accuracy) in &curve.points {
        let accuracy = accuracy.as_ref().map_or("n/a".to_owned(), |percent| format!("{percent}%"));
        let point = format!("{count}: {accuracy}");
        match lines.last_mut() {
            Some(line) if line.width() + 3 + point.width() <= room => line.push_str(&format!("   {point}")),
            _ => lines.push(point),
        }
    }
    lines
}
