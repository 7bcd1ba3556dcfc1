//! How many runs called the required tool and stayed within their tokens?

use crate::trace::{Tokens, Tool, Trace};
use mcptest_stats::Decimal;
use serde_json::Value;

/// The requirements on all runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SelectionFloor {
    /// The tool that a run must call, bare or as `server.tool`.
    pub expected_tool: String,
    /// The minimum share of runs that call it, as the decimal of the suite.
    pub min_selection_rate: Decimal,
    /// The maximum number of tokens of a run.
    pub max_total_tokens: Option<u64>,
}

/// The results of the runs against a floor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SelectionSummary {
    /// The number of runs.
    pub runs: usize,
    /// The number of runs that called the tool.
    pub selected: usize,
    /// The number of runs that called the tool and stayed within their tokens.
    pub selected_in_budget: usize,
    /// The maximum number of tokens of a run; `None` if a run lacks a count.
    pub max_tokens: Option<u64>,
    /// True if the floor is met.
    pub passed: bool,
}

impl SelectionSummary {
    /// The share of runs that called the tool, from 0 to 1.
    pub fn selection_rate(&self) -> f64 {
        if self.runs == 0 {
            0.0
        } else {
            self.selected as f64 / self.runs as f64
        }
    }

    /// The rate in whole percent.
    pub fn selection_percent(&self) -> usize {
        percent(self.selected, self.runs)
    }

    /// The percent of runs that called the tool and stayed within their tokens.
    pub fn pass_hat_k(&self) -> usize {
        percent(self.selected_in_budget, self.runs)
    }

    /// `selection 9/10 (90%), pass^k 90%, max tokens 1840`; `n/a` if a run has no token count.
    pub fn numbers(&self) -> String {
        let Self { selected, runs, .. } = self;
        let (percent, pass_hat_k) = (self.selection_percent(), self.pass_hat_k());
        let most = self
            .max_tokens
            .map_or("n/a".to_owned(), |tokens| tokens.to_string());
        format!("selection {selected}/{runs} ({percent}%), pass^k {pass_hat_k}%, max tokens {most}")
    }
}

/// The line that reports the floor: `tool-selection floor [PASS] name: …`.
pub fn floor_line(name: &str, passed: bool, numbers: &str) -> String {
    format!(
        "tool-selection floor [{}] {name}: {numbers}",
        if passed { "PASS" } else { "FAIL" }
    )
}

/// Checks the envelopes of all runs against a floor. No runs fail it.
pub fn aggregate_selection(envelopes: &[Value], floor: &SelectionFloor) -> SelectionSummary {
    let runs: Vec<Choice> = envelopes
        .iter()
        .map(|envelope| Choice::from_envelope(envelope, &floor.expected_tool))
        .collect();
    aggregate(&runs, floor)
}

/// The behavior of one run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Choice {
    pub(super) selected: bool,
    pub(super) tokens: Option<u64>,
}

impl Choice {
    pub(super) fn from_trace(trace: &Trace<'_>, tool: &str) -> Self {
        let selected = trace.tool_calls.iter().any(|call| call.is_to(tool));
        Self {
            selected,
            tokens: trace.conversation.tokens.total,
        }
    }

    fn from_envelope(envelope: &Value, tool: &str) -> Self {
        let is_to = |call: &Value| Tool::from_json(call).is(tool);
        let calls = envelope.get("tool_calls").and_then(Value::as_array);
        let counts = envelope.pointer("/conversation/tokens");
        let tokens = |key: &str| counts.and_then(|counts| counts.get(key)?.as_u64());
        Self {
            selected: calls.is_some_and(|calls| calls.iter().any(is_to)),
            tokens: Tokens {
                total: tokens("total"),
                ..Tokens::without_total(tokens("prompt"), tokens("completion"))
            }
            .totalled()
            .total,
        }
    }

    /// Returns true if the run is known to be within the cap.
    pub(super) fn is_within(&self, cap: Option<u64>) -> bool {
        cap.is_none_or(|cap| self.tokens.is_some_and(|tokens| tokens <= cap))
    }
}

pub(super) fn aggregate(runs: &[Choice], floor: &SelectionFloor) -> SelectionSummary {
    let is_within = |run: &Choice| run.is_within(floor.max_total_tokens);
    let selected = runs.iter().filter(|run| run.selected).count();
    let all_tokens: Option<Vec<u64>> = runs.iter().map(|run| run.tokens).collect();
    // c >= ceil(rate * n) is c/n >= rate, in whole numbers.
    let is_met = selected as u64 >= floor.min_selection_rate.ceil_times(runs.len() as u64);
    SelectionSummary {
        runs: runs.len(),
        selected,
        selected_in_budget: runs
            .iter()
            .filter(|run| run.selected && is_within(run))
            .count(),
        max_tokens: all_tokens.and_then(|tokens| tokens.into_iter().max()),
        passed: !runs.is_empty() && is_met && runs.iter().all(is_within),
    }
}

fn percent(part: usize, whole: usize) -> usize {
    (100 * part).checked_div(whole).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn floor(rate: &str, cap: Option<u64>) -> SelectionFloor {
        SelectionFloor {
            expected_tool: "t".to_owned(),
            min_selection_rate: rate.parse().unwrap(),
            max_total_tokens: cap,
        }
    }

    fn runs(selected: usize, of: usize, tokens: &Value) -> Vec<Value> {
        let run = |at| {
            let name = if at < selected { "t" } else { "u" };
            json!({ "tool_calls": [{ "name": name }], "conversation": { "tokens": { "total": tokens } } })
        };
        (0..of).map(run).collect()
    }

    #[test]
    fn a_rate_is_compared_as_the_decimal_it_is_written_as() {
        for (rate, selected, of, passed) in [
            ("0.8", 8, 10, true),
            ("0.8", 7, 10, false),
            ("0.07", 7, 100, true),
            ("0.29", 29, 100, true),
            ("0.290000000001", 29, 100, false),
            ("0.333", 1, 3, true),
            ("0.334", 1, 3, false),
            ("1", 3, 3, true),
            ("0", 0, 3, true),
        ] {
            let found = aggregate_selection(&runs(selected, of, &json!(1)), &floor(rate, None));
            assert_eq!(found.passed, passed, "{selected}/{of} against {rate}");
        }
    }

    #[test]
    fn one_run_over_the_cap_fails_all_and_counts_out_of_pass_hat_k() {
        let mut three = runs(3, 3, &json!(2000));
        assert!(aggregate_selection(&three, &floor("0.5", Some(2000))).passed);
        three[2]["conversation"]["tokens"]["total"] = json!(2001);
        let found = aggregate_selection(&three, &floor("0.5", Some(2000)));
        assert!(!found.passed);
        assert_eq!(
            floor_line("a", found.passed, &found.numbers()),
            "tool-selection floor [FAIL] a: selection 3/3 (100%), pass^k 66%, max tokens 2001"
        );
    }

    #[test]
    fn a_cap_needs_a_token_count_in_every_run() {
        let mut two = runs(2, 2, &json!(10));
        two[1]["conversation"] = json!({});
        let found = aggregate_selection(&two, &floor("1", Some(2000)));
        assert!(!found.passed && found.pass_hat_k() == 50);
        assert_eq!(
            found.numbers(),
            "selection 2/2 (100%), pass^k 50%, max tokens n/a"
        );
        assert!(aggregate_selection(&two, &floor("1", None)).passed);
    }

    #[test]
    fn no_runs_meet_no_floor() {
        let found = aggregate_selection(&[], &floor("0", None));
        assert!(!found.passed && found.selection_rate().abs() < 1e-12);
    }
}
