//! How are tests over their models, and agents over their distractors, shown in 80 columns?

use super::page::{Cell, Line, Page, style};
use crate::suites::grouped;
use crate::words::escape;
use anstyle::Style;
use mcptest_core::report::{Number, Report, Status, TestReport};
use mcptest_core::suite::Variant;
use std::collections::BTreeMap;
use unicode_width::UnicodeWidthStr;

const WIDEST: usize = 80;
const NAME: usize = 34;
const MODEL: usize = 24;
const GAP: usize = 2;

/// The tests with several models, and the result of each model.
struct Grid<'r> {
    /// The models, in the order of the report.
    models: Vec<&'r str>,
    /// Each test's name, and its row for each model.
    rows: Vec<(String, BTreeMap<&'r str, &'r TestReport>)>,
}

/// The grid of models and tests; `None` if no test has several models.
fn grid(report: &Report) -> Option<Grid<'_>> {
    let mut models: Vec<&str> = Vec::new();
    let mut rows: Vec<(_, BTreeMap<&str, &TestReport>)> = Vec::new();
    for test in report.tests.iter().filter(|test| test.has_several_models) {
        let Some(model) = test.model.as_deref() else {
            continue;
        };
        models.extend((!models.contains(&model)).then_some(model));
        // The same test, whatever its model.
        let key = (&test.suite.file, &test.name, test.variant);
        let row = rows
            .iter()
            .position(|(other, _)| *other == key)
            .unwrap_or_else(|| {
                rows.push((key, BTreeMap::new()));
                rows.len() - 1
            });
        rows[row].1.insert(model, test);
    }
    rows.retain(|(_, cells)| cells.len() > 1);
    models.retain(|model| rows.iter().any(|(_, cells)| cells.contains_key(model)));
    let named = |((_, name, variant), cells): ((_, &String, Option<Variant>), _)| {
        (
            format!(
                "{name}{}",
                variant
                    .map(|variant| format!(" [{variant}]"))
                    .unwrap_or_default()
            ),
            cells,
        )
    };
    (!rows.is_empty()).then(|| Grid {
        models,
        rows: rows.into_iter().map(named).collect(),
    })
}

/// The table of models and tests; empty if no test has several models.
pub(super) fn models(page: &mut Page, report: &Report) {
    let Some(grid) = grid(report) else { return };
    let name = grid
        .rows
        .iter()
        .map(|(name, _)| escape(name).width())
        .max()
        .unwrap_or_default()
        .clamp(6, NAME);
    let widths: Vec<(&str, usize)> = grid
        .models
        .iter()
        .map(|model| (*model, width_of(&grid, model)))
        .collect();
    let mut left = &widths[..];
    while !left.is_empty() {
        let mut used = 2 + name;
        let fits = left.iter().take_while(|(_, width)| {
            used += GAP + width;
            used <= WIDEST
        });
        let (fitting, rest) = left.split_at(fits.count().max(1));
        block(page, &grid, name, fitting);
        left = rest;
    }
}

fn width_of(grid: &Grid<'_>, model: &str) -> usize {
    let cells = grid
        .rows
        .iter()
        .filter_map(|(_, cells)| cells.get(model))
        .map(|test| outcome(test).1.width());
    let widest = cells
        .max()
        .unwrap_or_default()
        .max("passed".len())
        .max(tally(grid, model).width());
    widest.max(escape(model).width().min(MODEL))
}

fn block(page: &mut Page, grid: &Grid<'_>, name: usize, models: &[(&str, usize)]) {
    let row = |first: Cell, cell: &dyn Fn(&str) -> (Style, String)| {
        let cells = models.iter().map(|(model, width)| {
            let (style, text) = cell(model);
            (style, text, *width)
        });
        [first].into_iter().chain(cells).collect::<Vec<Cell>>()
    };
    let head = (style::BOLD, "Models".to_owned(), name + 2);
    page.cells(0, row(head, &|model| (style::BOLD, model.to_owned())));
    for (test, cells) in &grid.rows {
        let outcome = |model: &str| {
            cells
                .get(model)
                .map_or((style::PLAIN, String::new()), |test| outcome(test))
        };
        page.cells(2, row((style::PLAIN, test.clone(), name), &outcome));
    }
    let last = (style::DIM, "passed".to_owned(), name);
    page.cells(2, row(last, &|model| (style::DIM, tally(grid, model))));
    page.blank();
}

/// A test's outcome, and the number of its passed runs.
fn outcome(test: &TestReport) -> (Style, String) {
    let runs = if test.runs.is_empty() {
        String::new()
    } else {
        format!(" {}/{}", test.passed_runs(), test.runs.len())
    };
    match test.status {
        Status::Passed => (style::GREEN, format!("pass{runs}")),
        Status::Failed => (style::RED, format!("FAIL{runs}")),
        Status::Error => (style::MAGENTA, "ERROR".to_owned()),
        Status::Skipped => (style::YELLOW, "skip".to_owned()),
    }
}

/// The number of a model's passed tests.
fn tally(grid: &Grid<'_>, model: &str) -> String {
    let tests: Vec<&&TestReport> = grid
        .rows
        .iter()
        .filter_map(|(_, cells)| cells.get(model))
        .collect();
    let passed = tests
        .iter()
        .filter(|test| test.status == Status::Passed)
        .count();
    format!("{passed} of {}", tests.len())
}

/// An agent with one model among increasing numbers of distractors: its name, with its model if it
/// has several, and the measured accuracy in percent for each number.
type Curve = (String, Vec<(usize, Option<String>)>);

/// The curve of every agent that was judged with several numbers of distractors.
fn curves(report: &Report) -> Vec<Curve> {
    let point = |test: &&TestReport| {
        let Some(Variant::Distractors(count)) = test.variant else {
            return None;
        };
        let gate = test.gates.iter().find(|gate| gate.key == "distractors");
        let number =
            |target: &str| gate.and_then(|gate| gate.targets.get(target).copied().flatten());
        let neither = number("distractors.chose_neither").map_or(0.0, Number::as_f64) as usize;
        // Accuracy is over the runs that chose at all.
        let of = match neither {
            0 => String::new(),
            neither => format!(
                " ({} of {} chose)",
                test.runs.len().saturating_sub(neither),
                test.runs.len()
            ),
        };
        let accuracy = number("distractors.accuracy");
        Some((count, accuracy.map(|percent| format!("{percent}%{of}"))))
    };
    let key = |test: &TestReport| point(&test).map(|_| (test.suite.file.clone(), test.base_name()));
    let agents = grouped(&report.tests, key).into_iter();
    let curves = agents.map(|tests| {
        (
            tests[0].base_name(),
            tests.iter().filter_map(point).collect(),
        )
    });
    curves
        .filter(|(_, points): &Curve| points.len() > 1)
        .collect()
}

/// The drop in accuracy with the number of distractors, if a sweep was recorded.
pub(super) fn degradation(page: &mut Page, report: &Report) {
    let curves = curves(report);
    if curves.is_empty() {
        return;
    }
    page.line(&Line::at(0).styled(style::BOLD, "Accuracy by number of distractors"));
    let widest = curves
        .iter()
        .map(|(name, _)| escape(name).width())
        .max()
        .unwrap_or_default()
        .min(NAME);
    for (name, points) in &curves {
        for (at, points) in lines_of(points, WIDEST - 2 - widest - GAP)
            .into_iter()
            .enumerate()
        {
            let name = if at == 0 { name.clone() } else { String::new() };
            page.cells(
                2,
                [(style::PLAIN, name, widest), (style::PLAIN, points, WIDEST)],
            );
        }
    }
    page.blank();
}

/// The points of a curve, such as "0: 100%", "4: 90%" and "16: n/a", on as many lines as they need.
fn lines_of(points: &[(usize, Option<String>)], room: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for (count, accuracy) in points {
        let accuracy = accuracy
            .as_ref()
            .map_or_else(|| "n/a".to_owned(), Clone::clone);
        let point = format!("{count}: {accuracy}");
        match lines.last_mut() {
            Some(line) if line.width() + 3 + point.width() <= room => {
                line.push_str(&format!("   {point}"));
            }
            _ => lines.push(point),
        }
    }
    lines
}
