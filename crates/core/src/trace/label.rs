//! Which label says that a run was good or bad?

use super::Trace;
use serde_json::{Map, Value};

/// The words of a label.
const GOOD: [&str; 4] = ["good", "pass", "passed", "true"];
const BAD: [&str; 4] = ["bad", "fail", "failed", "false"];

/// The keys of `labels` that say whether a run was good, the most telling first.
const VERDICTS: [&str; 6] = ["reward", "label", "passed", "success", "utility", "score"];

/// Rewards are sums of floating-point numbers: this much below 1 is 1.
const ALMOST: f64 = 1e-6;

/// The words for a label, for suggestions.
pub fn label_words() -> impl Iterator<Item = &'static str> {
    GOOD.into_iter().chain(BAD)
}

/// Returns whether a label means a good run: a word, or a reward from 0 to 1, where 1 is good.
/// `None` if it is not a label.
pub fn is_good_label(text: &str) -> Option<bool> {
    let word = text.to_lowercase();
    if GOOD.contains(&word.as_str()) {
        return Some(true);
    }
    if BAD.contains(&word.as_str()) {
        return Some(false);
    }
    let reward: f64 = word.parse().ok()?;
    (0.0..=1.0 + ALMOST)
        .contains(&reward)
        .then_some(reward >= 1.0 - ALMOST)
}

impl Trace<'_> {
    /// Returns whether the labels in the trace call the run good. `None` if they do not say.
    ///
    /// ```
    /// use mcptest_core::Trace;
    ///
    /// let trace = Trace::read(r#"{"tool_calls": [], "labels": {"task_id": "3", "reward": 0.0}}"#)?;
    /// assert_eq!(trace.is_labelled_good(), Some(false));
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn is_labelled_good(&self) -> Option<bool> {
        let labels: Map<String, Value> = serde_json::from_str(self.labels?.get()).ok()?;
        let said = VERDICTS.iter().find_map(|key| labels.get(*key))?;
        match said {
            Value::String(text) => is_good_label(text.trim()),
            Value::Bool(_) | Value::Number(_) => is_good_label(&said.to_string()),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reward_of_one_and_a_word_for_success_are_good() {
        let is_good = |labels: &str| {
            let text = format!(r#"{{"tool_calls": [], "labels": {labels}}}"#);
            Trace::read(&text).unwrap().is_labelled_good()
        };
        assert_eq!(is_good(r#"{"reward": 1.0}"#), Some(true));
        assert_eq!(is_good(r#"{"reward": 0.9999999}"#), Some(true));
        assert_eq!(is_good(r#"{"reward": 0.5, "success": true}"#), Some(false));
        assert_eq!(
            is_good(r#"{"utility": true, "security": false}"#),
            Some(true)
        );
        assert_eq!(is_good(r#"{"label": "Fail"}"#), Some(false));
        assert_eq!(is_good(r#"{"reward": 7}"#), None);
        assert_eq!(is_good(r#"{"task_id": "3"}"#), None);
        assert_eq!(is_good("7"), None);
    }
}
