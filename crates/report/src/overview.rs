//! What do rows say together: a test over its models, an agent over its distractors?

use mcptest_core::report::{Report, TestReport};
use mcptest_core::suite::Variant;

/// The tests that were judged with several models, and how each did with each.
pub(crate) struct Grid<'r> {
    /// The models, in the order of the report.
    pub(crate) models: Vec<&'r str>,
    /// A test's name, and its row with each of the models where there is one.
    pub(crate) rows: Vec<(String, Vec<Option<&'r TestReport>>)>,
}

/// The grid of models and tests; `None` when no test has several models.
pub(crate) fn grid(report: &Report) -> Option<Grid<'_>> {
    let of_matrices = || report.tests.iter().filter(|test| test.matrix && test.model.is_some());
    let mut models: Vec<&str> = Vec::new();
    for model in of_matrices().filter_map(|test| test.model.as_deref()) {
        if !models.contains(&model) {
            models.push(model);
        }
    }
    let mut rows: Vec<(Key<'_>, Vec<Option<&TestReport>>)> = Vec::new();
    for test in of_matrices() {
        let Some(column) = models.iter().position(|model| test.model.as_deref() == Some(model)) else {
            continue;
        };
        let key = key(test);
        let row = rows.iter().position(|(other, _)| *other == key).unwrap_or_else(|| {
            rows.push((key, vec![None; models.len()]));
            rows.len() - 1
        });
        rows[row].1[column] = Some(test);
    }
    rows.retain(|(_, cells)| cells.iter().flatten().count() > 1);
    let is_used = |column: usize| rows.iter().any(|(_, cells)| cells[column].is_some());
    let used: Vec<usize> = (0..models.len()).filter(|column| is_used(*column)).collect();
    let rows: Vec<_> = rows
        .into_iter()
        .map(|((_, name, variant), cells)| {
            let variant = variant.map(|variant| format!(" [{variant}]")).unwrap_or_default();
            (format!("{name}{variant}"), used.iter().map(|&column| cells[column]).collect())
        })
        .collect();
    (!rows.is_empty()).then(|| Grid { models: used.iter().map(|&column| models[column]).collect(), rows })
}

/// The same test, whatever its model.
type Key<'r> = (&'r str, &'r str, Option<Variant>);

fn key(test: &TestReport) -> Key<'_> {
    (&test.suite.file, &test.name, test.variant)
}

/// How an agent with one model does among more and more distractors.
pub(crate) struct Curve {
    /// The agent, and its model where it has several.
    pub(crate) name: String,
    /// How many distractors there were, and the accuracy in percent among them, where it was measured.
    pub(crate) points: Vec<(usize, Option<String>)>,
}

/// The curve of every agent that was judged with several numbers of distractors.
pub(crate) fn curves(report: &Report) -> Vec<Curve> {
    let mut curves: Vec<((&str, String), Curve)> = Vec::new();
    for test in &report.tests {
        let Some(Variant::Distractors(count)) = test.variant else { continue };
        let name = test.base_name();
        let gate = test.gates.iter().find(|gate| gate.key == "distractors");
        let accuracy = gate.and_then(|gate| gate.targets.get("distractors.accuracy").copied().flatten());
        let point = (count, accuracy.map(|percent| percent.to_string()));
        let key = (test.suite.file.as_str(), name.clone());
        match curves.iter_mut().find(|(other, _)| *other == key) {
            Some((_, curve)) => curve.points.push(point),
            None => curves.push((key, Curve { name, points: vec![point] })),
        }
    }
    let curves = curves.into_iter().map(|(_, curve)| curve);
    curves.filter(|curve| curve.points.len() > 1).collect()
}
