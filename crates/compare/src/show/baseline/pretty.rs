//! What does a person read of two baselines?

use super::{named, runs, totals, unpaired, verdict, why_undecided};
use crate::baseline::{BaselineDiff, Difference, DifferenceClass, NumberShift, TestDiff};
use anstyle::Style;
use mcptest_core::report::Number;
use mcptest_report::Options;
use mcptest_report::pretty::page::{Line, Page, style};

/// A section per test, the numbers and the verdict. `-v` adds what is tolerated, `-vv` what stayed.
pub(super) fn render(comparison: &BaselineDiff, options: &Options) -> Vec<u8> {
    let mut page = Page::new(options);
    let BaselineDiff { before, after, .. } = comparison;
    let line = Line::at(0)
        .styled(style::BOLD, named(before))
        .plain(" before, ");
    page.line(&line.styled(style::BOLD, named(after)).plain(" now"));
    page.line(&Line::at(0).styled(style::DIM, format!("{} and {}", before.file, after.file)));
    page.blank();
    for test in &comparison.tests {
        one_test(&mut page, test, options);
    }
    numbers(&mut page, &comparison.numbers, options);
    for said in unpaired(comparison) {
        page.line(&Line::at(0).styled(style::YELLOW, format!("note: {said}")));
    }
    page.blank();
    let line = Line::at(0).styled(colour(comparison.verdict), verdict(comparison));
    page.line(&line.plain(format!(": {}", totals(comparison))));
    page.finish()
}

fn colour(class: DifferenceClass) -> Style {
    match class {
        DifferenceClass::Fail => style::RED,
        DifferenceClass::Drift => style::MAGENTA,
        DifferenceClass::Undecided => style::YELLOW,
        DifferenceClass::Pass => style::GREEN,
    }
}

fn one_test(page: &mut Page, test: &TestDiff, options: &Options) {
    let name = format!("{} · {}", test.suite, test.name);
    if let Some(why) = &test.not_compared {
        page.line(
            &Line::at(0)
                .styled(style::MAGENTA, "NOT COMPARED ")
                .styled(style::BOLD, name),
        );
        page.line(&Line::at(2).plain(why));
        return;
    }
    let line = Line::at(0)
        .styled(colour(test.verdict), test.verdict.word())
        .plain(" ");
    page.line(
        &line
            .styled(style::BOLD, name)
            .styled(style::DIM, format!(" ({})", runs(test))),
    );
    let is_shown = |one: &&Difference| one.class != DifferenceClass::Pass || options.verbose > 0;
    for one in test.differences.iter().filter(is_shown) {
        let line = Line::at(2)
            .styled(colour(one.class), one.class.word())
            .plain(format!(" {}", one.message));
        let support = one
            .support_in_words()
            .map(|support| format!(" ({support})"))
            .unwrap_or_default();
        page.line(&line.styled(style::DIM, support));
    }
    if options.verbose > 1 && test.varied > 0 {
        let varied = format!("{} varied before, so they are not invariants", test.varied);
        page.line(&Line::at(2).styled(style::DIM, varied));
    }
}

fn numbers(page: &mut Page, numbers: &[NumberShift], options: &Options) {
    let has_moved = |one: &NumberShift| (one.after - one.before).abs() > 0.0;
    let is_shown = |one: &&NumberShift| {
        one.class == DifferenceClass::Drift
            || options.verbose > 1
            || (options.verbose > 0 && has_moved(one))
    };
    let shown: Vec<&NumberShift> = numbers.iter().filter(is_shown).collect();
    if !shown.is_empty() {
        page.line(&Line::at(0).styled(style::BOLD, "numbers of gates"));
    }
    for one in shown {
        if one.class == DifferenceClass::Drift {
            page.line(&Line::at(2).styled(style::MAGENTA, one.in_words()));
            continue;
        }
        let (before, after) = (Number::Float(one.before), Number::Float(one.after));
        let said = if has_moved(one) {
            format!("{before} before, {after} now")
        } else {
            format!("{before}")
        };
        let why = if has_moved(one) {
            format!(": {}", why_undecided(one.class))
        } else {
            String::new()
        };
        page.line(
            &Line::at(2)
                .plain(format!("{} {said}", one.target))
                .styled(style::DIM, why),
        );
    }
}
