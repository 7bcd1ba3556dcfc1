//! Model code that the provider runs: which programs are in progress, and which calls belong to
//! them?

use super::{Answering, Seen, Wrong};
use mcptest_core::provider::runs_code;
use serde_json::{Value, json};

/// The part of a request about code.
#[derive(Debug, Default)]
pub(crate) struct Code {
    /// True if the model may write code.
    pub(super) is_on: bool,
    /// The code that has begun and not ended.
    pub(super) pending: Option<String>,
    /// The container of the first program.
    pub(super) container: Option<String>,
}

impl Seen {
    /// Checks the tool that runs code.
    pub(super) fn code_tool(&mut self, wire: &str, at: &str) -> Result<(), Wrong> {
        if !runs_code(wire, &self.model) {
            return Err(Wrong::request(format!(
                "{at}: '{}' does not support this tool.",
                self.model
            )));
        }
        self.code.is_on = true;
        Ok(())
    }

    /// Checks that the tool allows its caller.
    pub(super) fn callers(&self, at: &str, tool: &Value, code: &str) -> Result<(), Wrong> {
        for caller in tool["allowed_callers"].as_array().into_iter().flatten() {
            if caller != "direct" && (caller != code || !self.code.is_on) {
                return Err(Wrong::request(format!(
                    "{at}.allowed_callers: {caller} is not a known caller."
                )));
            }
        }
        Ok(())
    }

    /// The model begins to run code.
    pub(super) fn code_begins(&mut self, id: &str) {
        self.code.container.get_or_insert_with(|| container(id));
        self.code.pending = Some(id.to_owned());
    }

    /// Ends the pending code.
    pub(super) fn code_ends(&mut self, at: &str, id: &str) -> Result<(), Wrong> {
        match self.code.pending.take() {
            Some(pending) if pending == id => Ok(()),
            _ => Err(Wrong::request(format!(
                "{at}: no code with the id {id} is under way."
            ))),
        }
    }

    /// The caller of a call is the model, or code that is under way.
    pub(super) fn caller(&self, at: &str, caller: &Value, key: &str) -> Result<(), Wrong> {
        match caller[key].as_str().filter(|_| self.code.is_on) {
            Some(id) if self.code.pending.as_deref() != Some(id) => Err(Wrong::request(format!(
                "{at}.caller: no code with the id {id} is under way."
            ))),
            _ => Ok(()),
        }
    }
}

/// The container that this code runs in.
pub(super) fn container(id: &str) -> String {
    id.replace("srvtoolu_", "container_")
}

impl Answering<'_> {
    /// The code that continues or ends with this answer.
    pub(super) fn pending(&self) -> Option<&str> {
        self.seen.code.pending.as_deref()
    }

    /// The caller in this step: as the script has it, the code, or the model if code was possible.
    pub(super) fn caller(
        &self,
        at: usize,
        begun: Option<&str>,
        code: &dyn Fn(&str) -> Value,
    ) -> Option<Value> {
        let goes_on = || self.pending().filter(|_| self.step.output.is_none());
        let written = self.step.calls[at].caller.clone();
        let direct = || self.seen.code.is_on.then(|| json!({ "type": "direct" }));
        written
            .or_else(|| begun.or_else(goes_on).map(code))
            .or_else(direct)
    }
}
