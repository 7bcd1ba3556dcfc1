//! What does a person read of two reports?

use super::{calls, change, has_changed, left_out, named, notes, outcome, runs, targets, verdict};
use crate::reports::{Compared, ComparedSide, ReportDiff, Several, TestChange};
use anstyle::Style;
use mcptest_core::report::leaderboard::Verdict;
use mcptest_report::Options;
use mcptest_report::pretty::leaderboard;
use mcptest_report::pretty::page::{Line, Page, style};
use mcptest_report::words::count;

pub(super) fn render(compared: &Compared, options: &Options) -> Vec<u8> {
    let mut page = Page::new(options);
    match compared {
        Compared::Two(two) => of_two(&mut page, two, options),
        Compared::Several(several) => of_several(&mut page, several, options),
    }
    page.finish()
}

/// The sides, and a verdict for each except the first; `-v` adds its tests.
fn of_several(page: &mut Page, of: &Several, options: &Options) {
    if let Some(board) = &of.leaderboard {
        leaderboard::show(page, board, options.sort);
    }
    for side in &of.sides {
        if options.verbose > 0 {
            of_two(page, side, options);
            page.blank();
            continue;
        }
        page.line(&Line::at(0).styled(colour(Some(side.verdict)), &side.sentence));
        if let Some(said) = left_out(side) {
            page.line(&Line::at(2).styled(style::YELLOW, format!("note: {said}")));
        }
    }
}

/// A part for each test that changed, the models and the verdict; with `-v` every test and the numbers that differ.
fn of_two(page: &mut Page, comparison: &ReportDiff, options: &Options) {
    for (side, of) in [("first", &comparison.a), ("second", &comparison.b)] {
        page.line(
            &Line::at(0)
                .styled(style::DIM, format!("{side}: "))
                .styled(style::BOLD, &of.name)
                .plain(size(of)),
        );
    }
    page.blank();
    let is_shown = |test: &&TestChange| has_changed(test) || options.verbose > 0;
    let shown: Vec<&TestChange> = comparison.tests.iter().filter(is_shown).collect();
    for test in &shown {
        one_test(page, test, options);
    }
    if let Some(same @ 1..) = comparison.tests.len().checked_sub(shown.len()) {
        let said = format!("{} did not change", count(same, "test"));
        page.line(&Line::at(0).styled(style::DIM, said));
    }
    for said in notes(comparison) {
        page.line(&Line::at(0).styled(style::YELLOW, format!("note: {said}")));
    }
    page.blank();
    if let Some(board) = &comparison.leaderboard {
        leaderboard::show(page, board, options.sort);
    }
    page.line(&Line::at(0).styled(colour(Some(comparison.verdict)), &comparison.sentence));
}

fn size(side: &ComparedSide) -> String {
    format!(
        " ({}, {})",
        count(side.tests, "test"),
        count(side.runs as usize, "run")
    )
}

fn colour(verdict: Option<Verdict>) -> Style {
    match verdict {
        Some(Verdict::Worse) => style::RED,
        Some(Verdict::Better) => style::GREEN,
        Some(Verdict::NoEvidence) => style::DIM,
        Some(Verdict::NotEnoughRuns) => style::YELLOW,
        None => style::MAGENTA,
    }
}

fn one_test(page: &mut Page, test: &TestChange, options: &Options) {
    let line = Line::at(0).styled(style::BOLD, named(test)).plain(": ");
    page.line(&line.styled(colour(test.verdict), verdict(test)));
    if let Some(why) = &test.not_compared {
        page.line(&Line::at(2).plain(why));
        return;
    }
    let change = change(test)
        .map(|change| format!(" ({change})"))
        .unwrap_or_default();
    page.line(&Line::at(2).plain(runs(test)).styled(style::DIM, change));
    let numbers = if options.verbose > 0 {
        targets(test)
    } else {
        Vec::new()
    };
    for said in outcome(test).into_iter().chain(calls(test)).chain(numbers) {
        page.line(&Line::at(2).plain(said));
    }
}
