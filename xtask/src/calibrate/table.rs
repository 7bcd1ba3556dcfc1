//! How are the measures shown?

use super::measures::{Bound, Picture, Row};
use mcptest_core::eval::stats::{separation, wilson};
use std::fmt::Write;

const STEPS: usize = 10;

/// The table in Markdown: counts, share and its 95% Wilson interval.
pub(super) fn render(rows: &[Row]) -> String {
    let mut text = String::from(
        "| Corpus | Measure | Count | Share | 95% interval | Bound |\n|---|---|---:|---:|---:|---|\n",
    );
    for row in rows {
        let bound = match row.bound {
            Bound::AtMost(percent) => format!("at most {percent}%"),
            Bound::AtLeast(percent) => format!("at least {percent}%"),
            Bound::Told => String::new(),
        };
        let missed = if row.holds() { "" } else { ", **missed**" };
        let _ = writeln!(
            text,
            "| {} | {} | {} of {} | {}% | {} | {bound}{missed} |",
            row.corpus,
            row.measure,
            row.hits,
            row.of,
            row.hits * 100 / row.of,
            interval(row)
        );
    }
    text
}

fn interval(row: &Row) -> String {
    let Ok(interval) = wilson(row.hits, row.of, 0.95) else {
        return String::new();
    };
    format!(
        "{:.0} to {:.0}%",
        interval.lower * 100.0,
        interval.upper * 100.0
    )
}

/// Two distributions side by side, one character for each group.
pub(super) fn histogram(picture: &Picture) -> String {
    let told = separation(&picture.steady, &picture.unsteady, 0.95).map_or_else(
        |_| String::new(),
        |told| {
            format!(
                ", AUC {:.2} ({:.2} to {:.2})",
                told.auc, told.interval.lower, told.interval.upper
            )
        },
    );
    let mut text = format!(
        "`{}` on {}: {} steady and {} unsteady groups{told}\n\n```text\n",
        picture.target,
        picture.corpus,
        picture.steady.len(),
        picture.unsteady.len()
    );
    let most = (0..STEPS)
        .map(|step| within(&picture.steady, step))
        .max()
        .unwrap_or_default();
    for step in 0..STEPS {
        let (steady, unsteady) = (
            within(&picture.steady, step),
            within(&picture.unsteady, step),
        );
        let line = format!(
            "{:.1} to {:.1}  {:<width$}  {}",
            step as f64 / STEPS as f64,
            (step + 1) as f64 / STEPS as f64,
            "#".repeat(steady),
            "o".repeat(unsteady),
            width = most,
        );
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text.push_str("```\n");
    text
}

fn within(values: &[f64], step: usize) -> usize {
    let is_here = |value: &&f64| ((**value * STEPS as f64) as usize).min(STEPS - 1) == step;
    values.iter().filter(is_here).count()
}
