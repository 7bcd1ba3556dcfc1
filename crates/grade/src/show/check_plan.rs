//! What would grading take, for people?

use crate::CheckPlan;
use mcptest_command::progress::words::{count_grouped, dollars, grouped};
use mcptest_core::escape::escape;
use mcptest_core::grade::{Asks, Criterion, Question, Sees};

/// Every check with its question, judges and cost, then the total.
pub(crate) fn explained(checks: &[CheckPlan<'_>]) -> String {
    let mut text: String = checks.iter().map(check_in_words).collect();
    let calls: usize = checks.iter().map(|check| check.calls).sum();
    let cost: Option<f64> = checks.iter().map(|check| check.cost_usd).sum();
    let unrecorded = |check: &CheckPlan<'_>| check.unrecorded > 0 && check.calls > 0;
    let (when, cost) = if checks.iter().any(unrecorded) {
        let known = cost.filter(|cost| *cost > 0.0);
        let known =
            known.map(|cost| format!(", about {} of them for existing recordings", dollars(cost)));
        (
            " once all runs are recorded",
            format!("at an unknown cost until then{}", known.unwrap_or_default()),
        )
    } else {
        let unknown = || "at an unknown cost".to_owned();
        (
            "",
            cost.map_or_else(unknown, |cost| format!("about {}", dollars(cost))),
        )
    };
    text.push_str(&format!(
        "{} to judges{when}, {cost}; no judge was called\n",
        count_grouped(calls as u64, "call")
    ));
    text
}

/// One check: its question, its judges, and its cost.
fn check_in_words(check: &CheckPlan<'_>) -> String {
    let question = check.question;
    let mut lines = vec![format!("{}  {}", escape(&check.row_name), check.check)];
    let mut put =
        |name: &str, value: String| lines.push(format!("  {name:<10} {}", escape(&value)));
    if let Some(scorer) = question.scorer() {
        put("command", scorer.program.command.join(" "));
        let runs = check.runs + check.unrecorded;
        put("runs", format!("{runs}{}", graded_already(check)));
        return lines.join("\n") + "\n\n";
    }
    for (at, line) in rubric(question).into_iter().enumerate() {
        put(if at == 0 { "rubric" } else { "" }, line);
    }
    put("threshold", threshold(check));
    let judge = if check.judges.len() == 1 {
        "judge"
    } else {
        "jurors"
    };
    put(judge, judges(check));
    put("sees", seen_by_judges(question).to_owned());
    put("calls", calls(check));
    put("cost", cost(check));
    if let Some(limit) = question.max_cost_usd {
        put("max_cost", dollars(limit));
    }
    lines.join("\n") + "\n\n"
}

fn threshold(check: &CheckPlan<'_>) -> String {
    let question = check.question;
    if check.judges.len() > 1 {
        format!("{}, quorum {}", question.threshold, question.quorum)
    } else {
        question.threshold.to_string()
    }
}

fn judges(check: &CheckPlan<'_>) -> String {
    let labels = check.judges.iter().map(|(label, _)| label.as_str());
    let labels = labels.collect::<Vec<_>>().join(", ");
    match check.question.samples {
        samples @ 2.. => format!("{labels}, {samples} times each"),
        _ => labels,
    }
}

fn seen_by_judges(question: &Question) -> &'static str {
    match question.sees {
        Sees::Run => "task, calls, results, text",
        Sees::Text => "the text alone",
    }
}

fn cost(check: &CheckPlan<'_>) -> String {
    let tokens = format!("{} tokens", grouped(check.tokens));
    match check.cost_usd {
        None => format!("unknown: no price is known for {}", unpriced(check)),
        Some(_) if check.runs == 0 && check.unrecorded > 0 => {
            "unknown until the runs are recorded".to_owned()
        }
        Some(cost) if check.unrecorded > 0 => format!(
            "about {} ({tokens}) for {}, unknown for the others",
            dollars(cost),
            count_grouped(check.runs as u64, "recorded run")
        ),
        Some(cost) => format!("about {} ({tokens})", dollars(cost)),
    }
}

fn unpriced(check: &CheckPlan<'_>) -> String {
    let unpriced = check.judges.iter().filter(|(_, price)| price.is_none());
    unpriced
        .map(|(label, _)| format!("`{label}`"))
        .collect::<Vec<_>>()
        .join(", ")
}

/// `3 runs × 2 criteria × 1 judge = 6`, and the existing grades.
fn calls(check: &CheckPlan<'_>) -> String {
    let question = check.question;
    let of_rubric = match &question.asks {
        Asks::Rubric(rubric) if rubric.tree.is_some() => "1 tree".to_owned(),
        Asks::Rubric(rubric) if rubric.criteria.len() == 1 => "1 criterion".to_owned(),
        Asks::Rubric(rubric) => format!("{} criteria", rubric.criteria.len()),
        Asks::Similar(_) => "1 comparison".to_owned(),
        Asks::Scorer(_) => "1 program".to_owned(),
    };
    let runs = check.runs + check.unrecorded;
    let mut factors = vec![count_grouped(runs as u64, "run"), of_rubric];
    factors.push(count_grouped(check.judges.len() as u64, "judge"));
    factors.extend((question.samples > 1).then(|| format!("{} samples", question.samples)));
    format!(
        "{} = {}{}",
        factors.join(" × "),
        check.calls,
        graded_already(check)
    )
}

fn graded_already(check: &CheckPlan<'_>) -> String {
    let graded = check.recorded - check.runs;
    let mut parts = Vec::new();
    if check.recorded == 0 && check.unrecorded == 0 {
        parts.push("no recording to grade".to_owned());
    }
    parts.extend((check.unrecorded > 0).then(|| {
        format!(
            "{} not recorded yet",
            count_grouped(check.unrecorded as u64, "run")
        )
    }));
    parts.extend(
        (graded > 0).then(|| format!("{} graded already", count_grouped(graded as u64, "run"))),
    );
    let mut told = String::new();
    for part in parts {
        told.push_str("; ");
        told.push_str(&part);
    }
    told
}

fn rubric(question: &Question) -> Vec<String> {
    let rubric = match &question.asks {
        Asks::Similar(to) => return vec![format!("near to: {to}")],
        Asks::Scorer(_) => return Vec::new(),
        Asks::Rubric(rubric) => rubric,
    };
    if let Some(tree) = &rubric.tree {
        return (1..)
            .zip(tree.questions())
            .map(|(number, ask)| format!("{number}. {ask}"))
            .collect();
    }
    let of_criterion = |criterion: &Criterion| {
        let mut marks = Vec::new();
        marks.extend((criterion.weight != 1.0).then(|| format!("weight {}", criterion.weight)));
        marks.extend(criterion.required.then(|| "required".to_owned()));
        marks.extend(rubric.strict.then(|| "yes or no".to_owned()));
        let marks = if marks.is_empty() {
            String::new()
        } else {
            format!(" ({})", marks.join(", "))
        };
        format!("{}{marks}: {}", criterion.name, criterion.text.trim())
    };
    rubric.criteria.iter().map(of_criterion).collect()
}
