//! What does the stub say, to whom, and when does it fail?

use serde::Deserialize;
use serde_json::Value;
use thiserror::Error;

/// The stub's behaviour, read from YAML or JSON or built in a test.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Script {
    /// The first rule that matches a run is used.
    pub rules: Vec<Rule>,
    /// Used if no rule matches. Without steps, the answer is `ok`.
    pub steps: Vec<Step>,
    /// The behaviour after the last of `steps`.
    pub then: Then,
    /// The only key that is let in.
    pub key: Option<String>,
    /// True if the stub does not ask for a key.
    pub keyless: bool,
    /// The only existing models; any model if empty.
    pub models: Vec<String>,
}

/// Steps for some of the runs.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Rule {
    /// The matching runs.
    pub when: When,
    /// The steps, one for each request.
    pub steps: Vec<Step>,
    /// The behaviour after the last step.
    pub then: Then,
}

/// The runs that a rule matches: all given conditions must hold.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct When {
    /// Words in the user's first message.
    pub prompt: Option<String>,
    /// Words in the id of the model.
    pub model: Option<String>,
    /// The number of the run, from 0, among the runs of one model and prompt.
    pub run: Option<usize>,
    /// Counts runs in rounds of this length.
    pub every: Option<usize>,
}

/// The behaviour after the last step.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Then {
    /// The answer is `ok`.
    #[default]
    Ok,
    /// The steps begin again.
    Repeat,
}

/// The answer to one request. It has at most one fault, and the next step follows when the client
/// retries.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Step {
    /// The text. `{{last_result}}`, `{{prompt}}` and `{{run}}` are replaced, also in arguments.
    pub text: Option<String>,
    /// Thoughts, with a signature that must be returned.
    pub thinking: Option<String>,
    /// The tools that are called.
    pub calls: Vec<Call>,
    /// Code that the provider runs. It makes the calls of this step and of the steps up to its `output`.
    pub code: Option<String>,
    /// The output of the code.
    pub output: Option<String>,
    /// The token counts.
    pub usage: Option<Tokens>,
    /// True if the answer omits the token counts.
    pub uncounted: bool,
    /// Why it stops, in our word or the provider's.
    pub stop: Option<String>,
    /// The delay before the answer.
    pub delay_ms: u64,
    /// The number of concurrent requests that the stub waits for before it answers.
    pub gather: usize,
    /// The defect of the answer.
    pub fault: Option<Fault>,
    /// Fault: the prompt is blocked, for this reason.
    pub blocked: Option<String>,
    /// Fault: this body, verbatim.
    pub raw: Option<String>,
    /// Fault: this status, with the provider's own error or `raw`.
    pub status: Option<u16>,
    /// The message of the error.
    pub message: Option<String>,
    /// Sent as `Retry-After`.
    pub retry_after: Option<String>,
    /// Sent as `retry-after-ms`.
    pub retry_after_ms: Option<u64>,
    /// The number of times that a fault strikes before the next step [default: 1].
    pub times: Option<usize>,
}

/// A defect of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// No answer, ever.
    Hang,
    /// The connection is closed without it.
    Close,
    /// The connection closes in the middle of the answer.
    Cut,
    /// The JSON of the answer is cut off.
    Truncated,
    /// The answer is a page for people.
    Html,
}

/// A call of a tool.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Call {
    /// The tool's name on the wire. A bare name means the one tool that ends in it.
    pub name: String,
    /// The arguments.
    pub args: Option<Value>,
    /// A text instead of arguments.
    pub args_text: Option<String>,
    /// The id: generated if omitted, and missing if empty.
    pub id: Option<String>,
    /// The caller.
    pub caller: Option<Value>,
}

/// Tokens.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Tokens {
    /// Prompt tokens, including cached ones.
    pub prompt: u64,
    /// Prompt tokens that were read from a cache.
    pub cached: u64,
    /// The part written to a cache, if the provider reports it.
    pub cache_write: u64,
    /// Completion tokens, including thoughts.
    pub completion: u64,
    /// Completion tokens that are thoughts.
    pub thoughts: u64,
}

impl Default for Tokens {
    fn default() -> Self {
        Self {
            prompt: 100,
            cached: 0,
            cache_write: 0,
            completion: 20,
            thoughts: 0,
        }
    }
}

/// A script that cannot be read.
#[derive(Debug, Error)]
pub enum ScriptError {
    /// It is not YAML or JSON.
    #[error("the script is not YAML")]
    NotYaml,
    /// It has a wrong shape.
    #[error("the script cannot be understood: {0}")]
    Shape(#[from] serde_json::Error),
}

impl Script {
    /// Reads a script from YAML or JSON.
    pub fn parse(text: &str) -> Result<Self, ScriptError> {
        let value = mcptest_core::suite::yaml_to_json(text).ok_or(ScriptError::NotYaml)?;
        Ok(serde_json::from_value(value)?)
    }

    /// A script of these steps for everyone.
    pub fn of(steps: impl IntoIterator<Item = Step>) -> Self {
        Self {
            steps: steps.into_iter().collect(),
            ..Self::default()
        }
    }
}

impl Step {
    /// A step with text.
    pub fn text(text: &str) -> Self {
        Self {
            text: Some(text.to_owned()),
            ..Self::default()
        }
    }

    /// Calls tools.
    pub fn calls(calls: impl IntoIterator<Item = Call>) -> Self {
        Self {
            calls: calls.into_iter().collect(),
            ..Self::default()
        }
    }

    /// Answers with an error.
    pub fn status(status: u16) -> Self {
        Self {
            status: Some(status),
            ..Self::default()
        }
    }

    /// A step with a fault.
    pub fn fault(fault: Fault) -> Self {
        Self {
            fault: Some(fault),
            ..Self::text("never seen")
        }
    }

    /// Returns true if the client gets no message and may retry.
    pub(crate) fn is_fault(&self) -> bool {
        self.fault.is_some()
            || self.blocked.is_some()
            || self.raw.is_some()
            || self.status.is_some()
    }
}

impl Call {
    /// A call with arguments.
    pub fn new(name: &str, args: Value) -> Self {
        Self {
            name: name.to_owned(),
            args: Some(args),
            ..Self::default()
        }
    }

    /// The arguments in a model's text form.
    pub(crate) fn written(&self) -> String {
        match (&self.args_text, &self.args) {
            (Some(text), _) => text.clone(),
            (None, Some(args)) => args.to_string(),
            (None, None) => "{}".to_owned(),
        }
    }

    /// The arguments as JSON. A text that is not JSON stays a string.
    pub(crate) fn json(&self) -> Value {
        let written = self.written();
        serde_json::from_str(&written).unwrap_or(Value::String(written))
    }
}

impl When {
    pub(crate) fn fits(&self, model: &str, prompt: &str, run: usize) -> bool {
        let has = |words: &Option<String>, text: &str| {
            words.as_ref().is_none_or(|words| text.contains(&**words))
        };
        let run = run % self.every.unwrap_or(usize::MAX).max(1);
        has(&self.model, model)
            && has(&self.prompt, prompt)
            && self.run.is_none_or(|wanted| wanted == run)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_read_from_yaml_and_a_slip_is_refused() {
        let script = Script::parse(
            "rules:\n  - when: {prompt: weather, run: 1, every: 2}\n    steps:\n      - calls: [{name: get, args: {city: Oslo}}]\n      - {status: 429, times: 3, retry_after: \"1\"}\nsteps: [{text: hello}]\n",
        )
        .unwrap();
        assert!(script.rules[0].when.fits("m", "the weather", 3));
        assert!(!script.rules[0].when.fits("m", "the weather", 2));
        assert_eq!(script.rules[0].steps[1].times, Some(3));
        assert!(
            Script::parse("steps: [{txt: hello}]")
                .unwrap_err()
                .to_string()
                .contains("txt")
        );
    }
}
