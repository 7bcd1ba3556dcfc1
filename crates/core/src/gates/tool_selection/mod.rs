//! `tool_selection:` do enough of the runs call the right tool, within their tokens?

pub mod selection;

use crate::engine::facts::AgentFacts;
use crate::engine::gate::{Documentation, Gate, GateKind, RunFailsBy};
use crate::engine::outlook::Outlook;
use crate::engine::scores::Scores;
use crate::engine::shown::Shown;
use crate::engine::target::{Target, Unit};
use crate::problem::{Level, Problem};
use crate::report::evidence::SelectedTool;
use crate::report::{Evidence, Finding, Number};
use crate::suite::read::Block;
use crate::trace::{Run, Tool};
use crate::words::count;
use mcptest_stats::Decimal;
use selection::{Choice, SelectionFloor, aggregate, floor_line};
use std::collections::BTreeMap;

const SELECTION_RATE: Target = Target::ratio(
    "tool_selection.selection_rate",
    "runs that called the tool over runs",
)
.pooled()
.rising(|selected, runs| selected as f64 / runs as f64);
const PASS_HAT_K: Target = Target::percent(
    "tool_selection.pass_hat_k",
    "runs that called the tool within their tokens, in percent",
)
.pooled()
.rising(|selected, runs| (100 * selected / runs) as f64);
const MAX_TOKENS: Target =
    Target::count("tool_selection.max_tokens", "the most tokens of a run").in_unit(Unit::Tokens);
const PASSED: Target = Target::flag(
    "tool_selection.passed",
    "1 when the floor in the block is met",
)
.pooled();

const TARGETS: &[Target] = &[SELECTION_RATE, PASS_HAT_K, MAX_TOKENS, PASSED];

/// As many runs as a reader will look at.
const MOST_LISTED: usize = 20;

/// The block as written: the library's floor.
pub(crate) struct ToolSelectionBlock {
    floor: SelectionFloor,
    /// True if the gate asserts the floor itself.
    is_default: bool,
}

pub(super) const KIND: GateKind = GateKind::new(
    "tool_selection",
    Documentation {
        summary: "Do enough of the runs call the right tool, within their tokens?",
        doc: include_str!("doc.md"),
        example: include_str!("example.yml"),
    },
    TARGETS,
    RunFailsBy::Rule,
    |block| Box::new(ToolSelectionBlock::read(block)),
)
.with_floors(&[(PASSED, 1.0)]);

impl Gate for ToolSelectionBlock {
    /// The floor in the block applies with any `expect:`.
    fn expect_beside(&self, has_expect: bool) -> Vec<(Target, f64)> {
        if has_expect {
            KIND.floors.to_vec()
        } else {
            Vec::new()
        }
    }

    fn score(&self, runs: &[Run<'_>]) -> Scores {
        let choices = self.choices(runs);
        let summary = aggregate(&choices, &self.floor);
        let mut scores = Scores::default();
        scores
            .set(
                &SELECTION_RATE,
                Some(Number::Float(summary.selection_rate())),
            )
            .set(&PASS_HAT_K, Some(Number::Int(summary.pass_hat_k() as i64)))
            .set(
                &MAX_TOKENS,
                summary.max_tokens.map(|tokens| Number::Int(tokens as i64)),
            )
            .set(&PASSED, Some(Number::Int(i64::from(summary.passed))));
        let cap = self.floor.max_total_tokens;
        scores.failed_runs = runs
            .iter()
            .zip(&choices)
            .filter(|(_, choice)| !choice.selected || !choice.is_within(cap))
            .map(|(run, _)| run.number)
            .collect();
        scores.summary = Some(summary.numbers());
        scores.findings = self.findings(runs, &choices);
        scores
    }

    fn evidence(&self, shown: &Shown<'_, '_>) -> Option<Evidence> {
        let summary = aggregate(&self.choices(shown.all), &self.floor);
        let name = self.floor.expected_tool.clone();
        let (right, missed) = (summary.selected, summary.runs - summary.selected);
        let asked = SelectedTool {
            name,
            right,
            missed,
            extra: 0,
        };
        let mut others: BTreeMap<String, usize> = BTreeMap::new();
        let calls = shown.all.iter().flat_map(|run| &run.trace.tool_calls);
        for call in calls.filter(|call| !call.is_to(&self.floor.expected_tool)) {
            *others.entry(Tool::from(call).full_name()).or_default() += 1;
        }
        let others = others.into_iter().map(|(name, extra)| SelectedTool {
            name,
            right: 0,
            missed: 0,
            extra,
        });
        Some(Evidence::ToolSelection {
            tools: std::iter::once(asked).chain(others).collect(),
        })
    }

    fn outlook(&self, target: &Target, scores: &Scores, runs: &[Run<'_>], of: usize) -> Outlook {
        let choices = self.choices(runs);
        let now = aggregate(&choices, &self.floor);
        let remaining = of - runs.len();
        match target.name {
            name if name == SELECTION_RATE.name => {
                Outlook::from_good_runs(target, now.selected, runs.len(), of)
            }
            name if name == PASS_HAT_K.name => {
                Outlook::from_good_runs(target, now.selected_in_budget, runs.len(), of)
            }
            name if name == MAX_TOKENS.name => Outlook::folded(&MAX_TOKENS, scores),
            _ => {
                let needed = self.floor.min_selection_rate.ceil_times(of as u64);
                let cap = self.floor.max_total_tokens;
                let all_within = choices.iter().all(|choice| choice.is_within(cap));
                let can_pass = all_within && (now.selected + remaining) as u64 >= needed;
                let can_fail = !all_within || cap.is_some() || needed > now.selected as u64;
                let possible = [(can_fail, 0.0), (can_pass, 1.0)]
                    .into_iter()
                    .filter(|(can, _)| *can);
                Outlook::OneOf(possible.map(|(_, value)| value).collect())
            }
        }
    }

    fn lint(&self, agent: &AgentFacts<'_>) -> Vec<Problem> {
        let asks_for_none = self.floor.min_selection_rate.as_f64() <= 0.0;
        if asks_for_none && self.floor.max_total_tokens.is_none() && self.is_default {
            let message = "`min_selection_rate: 0` without `max_total_tokens:` is always met: this cannot fail";
            let help = "raise the rate, set a cap on the tokens, or write an `expect:`";
            return vec![Problem::warning(message).at(agent.key_span).help(help)];
        }
        if asks_for_none || self.floor.expected_tool.is_empty() {
            return Vec::new();
        }
        let level = if agent.catalogue.is_some() {
            Level::Error
        } else {
            Level::Warning
        };
        let unknown = agent.unknown_tools(agent.named);
        unknown
            .into_iter()
            .map(|problem| Problem { level, ..problem })
            .collect()
    }

    fn line(&self, row_name: &str, scores: &Scores) -> Option<String> {
        let is_met = scores
            .value(PASSED.name)
            .is_some_and(|passed| passed.as_f64() >= 1.0);
        scores
            .summary
            .as_ref()
            .map(|numbers| floor_line(row_name, is_met, numbers))
    }
}

impl ToolSelectionBlock {
    fn read(block: &mut Block<'_>) -> Self {
        let tool = block.required("expected_tool", "The tool that a run must call", |f| {
            f.tool()
        });
        let doc = "The minimum share of runs that must call it, from 0 to 1";
        let rate = block.required("min_selection_rate", doc, |f| f.number(0.0..=1.0));
        let cap = block.optional(
            "max_total_tokens",
            "The maximum number of tokens of a run",
            |f| f.whole(1..=u64::MAX),
        );
        let min_selection_rate = Decimal::try_from(rate.unwrap_or(1.0)).unwrap_or_default();
        let expected_tool = tool.unwrap_or_default();
        let floor = SelectionFloor {
            expected_tool,
            min_selection_rate,
            max_total_tokens: cap,
        };
        Self {
            floor,
            is_default: !block.has("expect"),
        }
    }

    fn choices(&self, runs: &[Run<'_>]) -> Vec<Choice> {
        runs.iter()
            .map(|run| Choice::from_trace(run.trace, &self.floor.expected_tool))
            .collect()
    }

    /// The share of runs that call the tool beside the share that is required, if it is too low.
    fn missed_floor(&self, choices: &[Choice]) -> Option<Finding> {
        let summary = aggregate(choices, &self.floor);
        let needed = self
            .floor
            .min_selection_rate
            .ceil_times(summary.runs as u64);
        if summary.selected as u64 >= needed {
            return None;
        }
        let message = format!(
            "`{}` was selected in {} of {} ({}%), {}% is required",
            self.floor.expected_tool,
            summary.selected,
            count(summary.runs, "run"),
            summary.selection_percent(),
            Number::Float(self.floor.min_selection_rate.as_f64() * 100.0)
        );
        Some(Finding::new(None, message).about(&[SELECTION_RATE, PASS_HAT_K, PASSED]))
    }

    fn findings(&self, runs: &[Run<'_>], choices: &[Choice]) -> Vec<Finding> {
        let mut findings = Vec::new();
        findings.extend(self.missed_floor(choices));
        let mut find = |run: usize, about: Target, message: String| {
            findings.push(Finding::new(Some(run), message).about(&[about, PASS_HAT_K, PASSED]));
        };
        let missed = runs
            .iter()
            .zip(choices)
            .filter(|(_, choice)| !choice.selected);
        for (run, _) in missed.take(MOST_LISTED) {
            let called = called(run);
            let message = format!("`{}` was not called; {called}", self.floor.expected_tool);
            find(run.number, SELECTION_RATE, message);
        }
        let Some(cap) = self.floor.max_total_tokens else {
            return findings;
        };
        let over = runs
            .iter()
            .zip(choices)
            .filter(|(_, choice)| !choice.is_within(Some(cap)));
        for (run, choice) in over.take(MOST_LISTED) {
            find(
                run.number,
                MAX_TOKENS,
                match choice.tokens {
                    Some(tokens) => format!(
                        "{tokens} tokens, {} more than the cap of {cap}",
                        tokens - cap
                    ),
                    None => {
                        format!("no token count is recorded, so the cap of {cap} cannot be checked")
                    }
                },
            );
        }
        findings
    }
}

fn called(run: &Run<'_>) -> String {
    let mut names: Vec<String> = Vec::new();
    for name in run.trace.tool_names() {
        let name = format!("`{name}`");
        if !names.contains(&name) && names.len() < 5 {
            names.push(name);
        }
    }
    if names.is_empty() {
        "nothing was".to_owned()
    } else {
        format!("{} was", names.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::lint_check::problems;
    use crate::problem::Level;
    use crate::trace::Trace;
    use serde_json::json;

    fn block(rate: &str, cap: Option<u64>) -> ToolSelectionBlock {
        let floor = SelectionFloor {
            expected_tool: "weather.get_weather".to_owned(),
            min_selection_rate: rate.parse().unwrap(),
            max_total_tokens: cap,
        };
        ToolSelectionBlock {
            floor,
            is_default: true,
        }
    }

    fn judged(block: &ToolSelectionBlock, runs: &[(&str, Option<u64>)]) -> (bool, Scores) {
        let text = |(name, tokens): &(&str, Option<u64>)| {
            let call = json!({ "name": name, "server": "weather" });
            json!({ "tool_calls": [call], "conversation": { "tokens": { "total": tokens } } })
                .to_string()
        };
        let texts: Vec<String> = runs.iter().map(text).collect();
        let traces: Vec<Trace<'_>> = texts
            .iter()
            .map(|text| Trace::read(text).unwrap())
            .collect();
        let runs: Vec<Run<'_>> = Run::all(&traces);
        let scores = block.score(&runs);
        let holds = KIND
            .default_expect()
            .all(|it| it.check(scores.value(it.target.name)).passed);
        (holds, scores)
    }

    #[test]
    fn nine_of_ten_print_the_line() {
        let mut runs = vec![("get_weather", Some(1500)); 9];
        runs.push(("search", Some(1840)));
        let block = block("0.8", Some(2000));
        let (passed, scores) = judged(&block, &runs);
        assert!(passed);
        assert_eq!(
            block.line("weather selection", &scores).unwrap(),
            "tool-selection floor [PASS] weather selection: selection 9/10 (90%), pass^k 90%, max tokens 1840"
        );
        assert_eq!(
            scores.value("tool_selection.max_tokens"),
            Some(Number::Int(1840))
        );
        assert_eq!(scores.findings[0].run, Some(10));
        assert_eq!(
            scores.findings[0].message,
            "`weather.get_weather` was not called; `search` was"
        );
    }

    #[test]
    fn a_run_over_its_tokens_or_without_a_count_fails_the_floor() {
        let block = block("0.5", Some(2000));
        let (passed, scores) = judged(
            &block,
            &[("get_weather", Some(2001)), ("get_weather", None)],
        );
        assert!(!passed);
        let messages: Vec<&str> = scores
            .findings
            .iter()
            .map(|finding| finding.message.as_str())
            .collect();
        assert_eq!(
            messages,
            [
                "2001 tokens, 1 more than the cap of 2000",
                "no token count is recorded, so the cap of 2000 cannot be checked"
            ]
        );
        assert_eq!(scores.value("tool_selection.max_tokens"), None);
    }

    #[test]
    fn the_runs_that_are_drawn_as_right_are_the_rate_and_other_calls_are_extra() {
        use crate::engine::trial::{judged, value};
        let block =
            "prompt: x\ntool_selection: { expected_tool: docs.search, min_selection_rate: 0.5 }";
        let call = |server: &str, name: &str| json!({ "name": name, "server": server });
        let runs = [
            json!({ "tool_calls": [call("docs", "search"), call("docs", "search")] }),
            json!({ "tool_calls": [call("web", "search"), call("docs", "open_page")] }),
            json!({ "tool_calls": [call("docs", "open_page")] }),
        ];
        let report = judged(block, None, &runs);
        let Some(Evidence::ToolSelection { tools }) = report.evidence.as_deref() else {
            panic!()
        };
        let shown: Vec<_> = tools
            .iter()
            .map(|one| (&*one.name, one.right, one.missed, one.extra))
            .collect();
        assert_eq!(
            shown,
            [
                ("docs.search", 1, 2, 0),
                ("docs.open_page", 0, 0, 2),
                ("web.search", 0, 0, 1)
            ]
        );
        let rate = tools[0].right as f64 / (tools[0].right + tools[0].missed) as f64;
        assert_eq!(value(&report, "tool_selection.selection_rate"), Some(rate));
    }

    #[test]
    fn a_tool_that_no_server_has_and_a_floor_of_nothing_are_told_at_load_time() {
        let told = |tool: &str, rate: &str| {
            let agent = format!(
                "runs: 3\ntool_selection: {{ expected_tool: {tool}, min_selection_rate: {rate} }}"
            );
            problems(&agent)
                .into_iter()
                .map(|it| (it.level, it.help.unwrap_or_default()))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            told("serch", "0.5"),
            [(Level::Error, "did you mean `search`?".to_owned())]
        );
        assert_eq!(told("docs.search", "0.5"), []);
        assert_eq!(told("search", "0")[0].0, Level::Warning);
        let refused = told("search", "1.5");
        assert!(
            refused.len() == 1 && refused[0].0 == Level::Error,
            "{refused:?}"
        );
    }

    #[test]
    fn a_rate_that_these_runs_cannot_have_is_refused() {
        let agent = "runs: 3\ntool_selection:\n  expected_tool: search\n  min_selection_rate: 0\n  \
                     expect: [{ target: tool_selection.selection_rate, matcher: { exact: 0.5 } }]";
        assert!(problems(agent)[0].message.contains("can never satisfy"));
    }
}
