//! What does a person read of a check of judges?

use crate::judge_quality::{JudgeCheck, Retold, ShareOfRuns};
use crate::retell::Retelling;
use mcptest_report::Options;
use mcptest_report::pretty::page::{Line, Page, style};
use mcptest_report::words::count;

pub(super) fn render(checks: &[JudgeCheck], options: &Options) -> Vec<u8> {
    let mut page = Page::new(options);
    for (at, check) in checks.iter().enumerate() {
        if at > 0 {
            page.blank();
        }
        one_check(&mut page, check);
    }
    page.finish()
}

fn one_check(page: &mut Page, check: &JudgeCheck) {
    let heading = Line::at(0).styled(style::BOLD, &check.check).plain(format!(
        ", judged by {} at {}: {} good and {} bad runs",
        check.judges.join(", "),
        check.threshold,
        check.good,
        check.bad
    ));
    page.line(&heading);
    if check.ungraded > 0 {
        let text = format!(
            "{} could not be graded and {} skipped",
            count(check.ungraded, "run"),
            if check.ungraded == 1 { "is" } else { "are" }
        );
        page.line(&Line::at(2).styled(style::YELLOW, text));
    }
    if check.good + check.bad == 0 {
        return;
    }
    measures(page, check);
    for retold in &check.retold {
        let value = format!("{}, mean score {:+.2}", changed(retold), retold.shift);
        row(page, in_words(retold.how), &value);
    }
}

fn measures(page: &mut Page, check: &JudgeCheck) {
    row(page, "agreement", &share(&check.agreement, "runs"));
    row(page, "kappa", &kappa(check));
    row(
        page,
        "false passes",
        &share(&check.false_passes, "bad runs"),
    );
    row(page, "false fails", &share(&check.false_fails, "good runs"));
}

fn kappa(check: &JudgeCheck) -> String {
    match (check.kappa, check.kappa_interval) {
        (Some(kappa), Some([lower, upper])) => {
            format!("{kappa:.2} (95%: {lower:.2} to {upper:.2})")
        }
        _ => "undefined: every label and every grade is equal".to_owned(),
    }
}

fn changed(retold: &Retold) -> String {
    if retold.how.is_persuasion() {
        share(&retold.changed, "failed bad runs then pass")
    } else {
        share(&retold.changed, "verdicts change")
    }
}

fn in_words(how: Retelling) -> &'static str {
    match how {
        Retelling::Reversed => "in reversed order",
        Retelling::Padded => "padded",
        Retelling::Rewritten => "reasoning rewritten",
        Retelling::Praised => "praise injected",
    }
}

fn row(page: &mut Page, name: &str, value: &str) {
    page.line(
        &Line::at(2)
            .styled(style::DIM, format!("{name:<20} "))
            .plain(value),
    );
}

/// `3 of 20 verdicts change (15%, 95%: 3 to 38%)`.
fn share(share: &ShareOfRuns, what: &str) -> String {
    let percent = |rate: f64| (rate * 100.0).round();
    match (share.lower, share.upper) {
        (Some(lower), Some(upper)) => format!(
            "{} of {} {what} ({}%; 95%: {} to {}%)",
            share.count,
            share.of,
            percent(share.rate()),
            percent(lower),
            percent(upper)
        ),
        _ => format!("none: no {what}"),
    }
}
