//! What does the stub say, to whom, and when does it fail?

use serde::Deserialize;
use serde_json::Value;
use thiserror::Error;

/// What the stub does, read from YAML or JSON or built in a test.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Script {
    /// The first rule that fits a run is played.
    pub rules: Vec<Rule>,
    /// Played where no rule fits. Without it the answer is `ok`.
    pub steps: Vec<Step>,
    /// What happens when `steps` are over.
    pub then: Then,
    /// The only key that is let in.
    pub key: Option<String>,
    /// Whether a key is not even asked for.
    pub keyless: bool,
    /// The only models there are; any when empty.
    pub models: Vec<String>,
}

/// Steps for some of the runs.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Rule {
    /// For which runs.
    pub when: When,
    /// What is done, a request each.
    pub steps: Vec<Step>,
    /// What happens when they are over.
    pub then: Then,
}

/// Which runs a rule is for: all that is given must fit.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct When {
    /// Words in the user's first message.
    pub prompt: Option<String>,
    /// Words in the id of the model.
    pub model: Option<String>,
    /// The number of the run, from 0, among those of one model and prompt.
    pub run: Option<usize>,
    /// With it runs are counted in rounds of so many.
    pub every: Option<usize>,
}

/// What happens when the steps are over.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Then {
    /// The answer is `ok`.
    #[default]
    Ok,
    /// They begin again.
    Repeat,
}

/// What is done with one request. Of the faults at most one; each is followed by the next step when the client tries
/// again.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Step {
    /// What is said; `{{last_result}}`, `{{prompt}}` and `{{run}}` are filled in, also in arguments.
    pub text: Option<String>,
    /// Thoughts, with a signature that must come back.
    pub thinking: Option<String>,
    /// The tools that are called.
    pub calls: Vec<Call>,
    /// Code that the provider runs: the calls are its, and those of the steps that follow up to its `output`.
    pub code: Option<String>,
    /// What the code came to.
    pub output: Option<String>,
    /// What it cost.
    pub usage: Option<Tokens>,
    /// Whether it does not tell what it cost.
    pub uncounted: bool,
    /// Why it stops, in our word or the provider's.
    pub stop: Option<String>,
    /// How long it takes.
    pub delay_ms: u64,
    /// How many requests must have been under way at once before it is answered.
    pub gather: usize,
    /// What goes wrong.
    pub fault: Option<Fault>,
    /// Fault: the prompt is held back, for this reason.
    pub blocked: Option<String>,
    /// Fault: this body, as it is.
    pub raw: Option<String>,
    /// Fault: this status, with the provider's own error or `raw`.
    pub status: Option<u16>,
    /// The message of the error.
    pub message: Option<String>,
    /// Sent as `Retry-After`.
    pub retry_after: Option<String>,
    /// Sent as `retry-after-ms`.
    pub retry_after_ms: Option<u64>,
    /// How often a fault strikes before the next step; 1 when left out.
    pub times: Option<usize>,
}

/// What goes wrong with an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// There is none, ever.
    Hang,
    /// The connection is closed without it.
    Close,
    /// The connection is closed in the middle of it.
    Cut,
    /// Its JSON stops in the middle.
    Truncated,
    /// It is a page for people.
    Html,
}

/// A call of a tool.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Call {
    /// The tool's name on the wire; a bare name stands for the one tool that ends in it.
    pub name: String,
    /// The arguments.
    pub args: Option<Value>,
    /// What is written in place of arguments.
    pub args_text: Option<String>,
    /// The id; made up when left out, and missing when empty.
    pub id: Option<String>,
    /// Who calls.
    pub caller: Option<Value>,
}

/// Tokens.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Tokens {
    /// Read, those from a cache included.
    pub prompt: u64,
    /// Of these, from a cache.
    pub cached: u64,
    /// Of these, to a cache, where the provider tells.
    pub cache_write: u64,
    /// Written, thoughts included.
    pub completion: u64,
    /// Of these, thoughts.
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
    /// It is neither YAML nor JSON.
    #[error("the script is not YAML")]
    NotYaml,
    /// It says something else.
    #[error("the script cannot be understood: {0}")]
    Shape(#[from] serde_json::Error),
}

impl Script {
    /// Reads a script from YAML, of which JSON is a part.
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
    /// Says something.
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

    /// Goes wrong.
    pub fn fault(fault: Fault) -> Self {
        Self {
            fault: Some(fault),
            ..Self::text("never seen")
        }
    }

    /// Whether the client gets no message, so that it may try again.
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

    /// The arguments as the text that a model writes.
    pub(crate) fn written(&self) -> String {
        match (&self.args_text, &self.args) {
            (Some(text), _) => text.clone(),
            (None, Some(args)) => args.to_string(),
            (None, None) => "{}".to_owned(),
        }
    }

    /// The arguments as JSON; a string that is none stays a string.
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
