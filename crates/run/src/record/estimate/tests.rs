//! Are the numbers those that come out by hand?

use super::{Estimate, ExceededBudget, ExpectedTokens, RowEstimate, SideRunsEstimate, estimate};
use crate::{Mode, Options, Which};
use mcptest_replay::{Plan, Selection, load_suites};
use std::fs;
use tempfile::TempDir;

const ALL: Mode = Mode::Record(Which::All);

/// A folder with a suite that differs only in `agents:`, and its recordings.
fn folder(agents: &str, recordings: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let suite = format!("servers:\n  weather: {{ command: [weather-server] }}\n{agents}");
    fs::write(folder.path().join("mcptest.yml"), suite).unwrap();
    for (name, text) in recordings {
        fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

fn estimated(folder: &TempDir, mode: Mode, max_cost_usd: Option<f64>) -> Estimate {
    let loaded = load_suites(
        &[folder.path().join("mcptest.yml")],
        mcptest_core::eval::GATES,
    );
    assert!(loaded[0].1.suite.is_some(), "{:?}", loaded[0].1.problems);
    let plan = Plan::new(&loaded, &Selection::default());
    estimate(
        &plan,
        &Options {
            mode,
            max_cost_usd,
            ..Options::default()
        },
    )
}

fn only_row(agents: &str, recordings: &[(&str, &str)]) -> RowEstimate {
    let mut rows = estimated(&folder(agents, recordings), ALL, None).rows;
    assert_eq!(rows.len(), 1);
    rows.remove(0)
}

fn about(side: SideRunsEstimate) -> (usize, Option<usize>) {
    (side.about, side.at_most)
}

fn agent(model: &str, more: &str) -> String {
    format!(
        "agents:\n  - {{ name: a, {model}, servers: [weather], prompt: 'Is it sunny in Oslo?', cassette: a.jsonl{more} }}\n"
    )
}

/// Unpinned runs with these prompt and completion tokens, each with one call.
fn runs(tokens: &[(u64, u64)]) -> String {
    let line = |(prompt, completion): &(u64, u64)| {
        format!(
            r#"{{"tool_calls":[{{"name":"get_weather"}}],"final_response":"sunny","conversation":{{"tokens":{{"prompt":{prompt},"completion":{completion}}}}}}}"#
        )
    };
    tokens.iter().map(|one| line(one) + "\n").collect()
}

/// 20 characters are 5 tokens, the tools 1,000; three answers of 150, and 400 more to read for each.
#[test]
fn a_row_that_was_never_recorded_is_guessed_roughly() {
    let row = only_row(&agent("model: claude-sonnet-4-5", ", runs: 2"), &[]);
    assert_eq!(
        (row.runs, row.calls_at_most, row.tokens_at_most),
        (2, Some(2 * 25), None)
    );
    let (prompt, completion) = (2.0 * (3.0 * 1005.0 + 1200.0), 2.0 * 450.0);
    assert_eq!(
        row.tokens,
        Some(ExpectedTokens {
            total: 9330,
            is_rough: true
        })
    );
    let cost = row.cost_usd.unwrap();
    assert!(
        (cost - (prompt * 3.0 + completion * 15.0) / 1e6).abs() < 1e-12,
        "{cost}"
    );
}

#[test]
fn the_mean_of_the_recorded_runs_is_better_than_a_guess() {
    let recorded = runs(&[(1000, 100), (2000, 300)]);
    let row = only_row(
        &agent("model: claude-sonnet-4-5", ", runs: 10"),
        &[("a.jsonl", &recorded)],
    );
    assert_eq!(
        row.tokens,
        Some(ExpectedTokens {
            total: 17_000,
            is_rough: false
        })
    );
    let cost = row.cost_usd.unwrap();
    assert!(
        (cost - (15_000.0 * 3.0 + 2000.0 * 15.0) / 1e6).abs() < 1e-12,
        "{cost}"
    );
}

#[test]
fn what_limits_a_run_limits_the_row() {
    let limits = ", runs: 3, max_turns: 4, token_budget: 5000, max_tokens: 100";
    let agents = agent("model: claude-sonnet-4-5", limits);
    let row = only_row(&agents, &[]);
    assert_eq!(
        (row.calls_at_most, row.tokens_at_most),
        (Some(12), Some(15_000))
    );
    assert_eq!(row.tokens.unwrap().total, 3 * (3 * 1005 + 3 * 350 + 300));
    let row = only_row(
        &format!("budget: {{ per_run_tokens: 1100 }}\n{agents}"),
        &[],
    );
    assert_eq!(row.tokens_at_most, Some(3300));
    assert_eq!(
        row.tokens.unwrap().total,
        3 * 1105,
        "no second question is asked after 1,105 tokens: {row:?}"
    );
}

#[test]
fn a_model_without_a_price_costs_nobody_knows_what() {
    let row = only_row(&agent("model: gpt-from-the-cellar", ""), &[]);
    assert_eq!(
        (row.cost_usd, row.unpriced.as_deref(), row.refused),
        (None, Some("gpt-from-the-cellar"), None)
    );
    let priced = ", token_efficiency: { classes: [{ name: weather, members: [get_weather] }], prices: { gpt-from-the-cellar: \
                  { prompt_usd_per_million: 1, completion_usd_per_million: 2 } } }";
    let row = only_row(&agent("model: gpt-from-the-cellar", priced), &[]);
    assert_eq!(row.unpriced, None);
    let cost = row.cost_usd.unwrap();
    assert!(
        (cost - (4215.0 + 2.0 * 450.0) / 1e6).abs() < 1e-12,
        "{cost}"
    );
}

#[test]
fn a_model_on_this_machine_costs_nothing_and_a_gateway_on_it_is_not_guessed() {
    let of = |id: &str| {
        let local = "providers: { box: { type: openai, base_url: 'http://localhost:11434/v1' } }\n";
        let model = format!("model: {{ provider: box, id: '{id}' }}");
        only_row(&format!("{local}{}", agent(&model, "")), &[])
    };
    let free = of("llama3.1:8b");
    assert_eq!((free.cost_usd, free.unpriced), (Some(0.0), None));
    assert_eq!(of("gpt-5").unpriced.as_deref(), Some("box/gpt-5"));
}

#[test]
fn a_budget_in_dollars_that_cannot_be_held_or_kept_is_told() {
    let of_nobody = folder(&agent("model: gpt-from-the-cellar", ""), &[]);
    let refused = estimated(&of_nobody, ALL, Some(1.0)).rows[0]
        .refused
        .clone()
        .unwrap();
    assert!(
        refused.starts_with("no price is known for `gpt-from-the-cellar`"),
        "{refused}"
    );
    let budget = "budget: { per_test_usd: 0.0001, per_suite_usd: 0.0002 }\n";
    let dear = folder(
        &format!("{budget}{}", agent("model: claude-sonnet-4-5", "")),
        &[],
    );
    let exceeded = estimated(&dear, ALL, Some(0.0003)).exceeded;
    let limits: Vec<f64> = exceeded
        .iter()
        .map(|ExceededBudget { limit_usd, .. }| *limit_usd)
        .collect();
    assert_eq!(limits, [0.0001, 0.0002, 0.0003]);
    assert_eq!(exceeded[2].name, "--max-cost");
    assert_eq!(estimated(&dear, ALL, Some(0.02)).exceeded.len(), 2);
}

#[test]
fn of_a_program_only_the_runs_are_known_until_it_was_recorded() {
    let agents = agent("agent: { command: [my-agent] }", ", runs: 4");
    let row = only_row(&agents, &[]);
    assert_eq!((row.runs, row.is_own, row.calls_at_most), (4, true, None));
    assert_eq!(
        (row.tokens, row.tokens_at_most, row.cost_usd, row.unpriced),
        (None, None, None, None)
    );
    let recorded = runs(&[(700, 50)]).replace(r#""tokens""#, r#""cost_usd":0.25,"tokens""#);
    let row = only_row(&agents, &[("a.jsonl", &recorded)]);
    assert_eq!(
        row.tokens,
        Some(ExpectedTokens {
            total: 3000,
            is_rough: false
        })
    );
    assert_eq!(row.cost_usd, Some(1.0));
}

#[test]
fn a_fault_matrix_is_counted_as_far_as_it_is_known() {
    let matrix = |block: &str| {
        agent(
            "model: claude-sonnet-4-5",
            &format!(", runs: 2, max_turns: 10, fault_matrix: {block}"),
        )
    };
    let row = only_row(&matrix("{ kinds: [hang, malformed], calls: 3 }"), &[]);
    assert_eq!(row.side_runs.map(about), Some((6, Some(6))));
    assert_eq!(row.calls_at_most, Some((2 + 6) * 10));
    let row = only_row(&matrix("true"), &[]);
    assert_eq!(row.side_runs.map(about), Some((12, Some(60))));
    assert_eq!(row.calls_at_most, Some((2 + 60) * 10));
    assert_eq!(row.tokens.unwrap().total, (2 + 12) * 4665);
    let row = only_row(&matrix("true"), &[("a.jsonl", &runs(&[(1000, 100)]))]);
    assert_eq!(row.side_runs.map(about), Some((6, Some(60))));
    assert_eq!(row.tokens.unwrap().total, (2 + 6) * 1100);
}

#[test]
fn each_level_of_a_sweep_is_a_row_and_its_distractors_take_tokens() {
    let agents = agent(
        "model: claude-sonnet-4-5",
        ", distractors: { correct: [get_weather], sweep: [0, 16] }",
    )
    .replace("cassette: a.jsonl", "tags: [a]");
    let rows = estimated(&folder(&agents, &[]), ALL, None).rows;
    let names: Vec<&str> = rows.iter().map(|row| row.row_name.as_str()).collect();
    assert_eq!(names.len(), 2, "{names:?}");
    assert_eq!(rows[0].tokens.unwrap().total, 4665);
    assert!(
        rows[1].tokens.unwrap().total > 4665 + 3 * 16 * 10,
        "{:?}",
        rows[1]
    );
}

#[test]
fn only_what_the_mode_asks_for_is_estimated() {
    let agents = agent("model: claude-sonnet-4-5", ", runs: 2");
    let recorded = folder(&agents, &[("a.jsonl", &runs(&[(1000, 100), (1000, 100)]))]);
    let rows = |which| estimated(&recorded, Mode::Record(which), None).rows.len();
    assert_eq!(
        (
            rows(Which::All),
            rows(Which::Missing),
            rows(Which::Stale),
            rows(Which::Failed)
        ),
        (1, 0, 0, 0)
    );
    let nothing = folder(&agents, &[]);
    assert_eq!(
        estimated(&nothing, Mode::Record(Which::Missing), None).rows[0].runs,
        2
    );
    let read = folder(
        &agents.replace("a.jsonl", "[a.jsonl]"),
        &[("a.jsonl", &runs(&[(1, 1), (1, 1)]))],
    );
    let read = estimated(&read, ALL, None);
    assert_eq!((read.rows.len(), read.read_only), (0, 1));
}

#[test]
fn an_ablation_counts_its_sets_and_says_when_the_tools_are_not_known() {
    let of = |ablate: &str| {
        let more = format!(", runs: 3, ablate: {ablate}");
        only_row(&agent("model: claude-sonnet-4-5, max_turns: 5", &more), &[])
    };
    let listed = of("[search, [look, search]]");
    assert_eq!(
        (listed.side_runs.map(about), listed.calls_at_most),
        (Some((6, Some(6))), Some(45))
    );
    let unknown = of("true");
    assert_eq!(
        (unknown.side_runs.map(about), unknown.calls_at_most),
        (Some((0, None)), None)
    );
}
