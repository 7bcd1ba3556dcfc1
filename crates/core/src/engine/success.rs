//! Which calls does `successful:` count as successful?

use super::GateBlock;
use super::gate::GateTrait;
use crate::matcher::Matcher;
use crate::problem::Problem;
use crate::suite::read::{Block, Field};
use crate::trace::CallResult;
use crate::words::some_of;
use serde_json::Value;

/// The key, in a gate's block and next to the gates of an agent.
const KEY: &str = "successful";

/// The condition for a call to count as successful.
#[derive(Debug, Default)]
pub(crate) struct Success {
    /// The condition on the result's text, besides not being an error.
    result: Option<Matcher>,
}

/// The content of one `successful:`.
#[derive(Debug)]
pub(crate) enum Counted {
    EveryCall,
    Successful(Success),
}

impl Counted {
    /// `true`, `false`, or a matcher.
    pub(crate) fn read(field: &mut Field<'_>) -> Option<Self> {
        let wanted = "`true`, `false` or a matcher for the text of a result";
        field.shapes(wanted, |shapes| {
            shapes.scalar(|field| {
                let is_successful = field.flag_among(wanted)?;
                Some(if is_successful {
                    Self::Successful(Success::default())
                } else {
                    Self::EveryCall
                })
            });
            shapes.map(|field| {
                let result = Some(Matcher::read(field)?);
                Some(Self::Successful(Success { result }))
            });
        })
    }
}

impl Success {
    /// Reads the key from the gate's block, otherwise from its agent. `None` if every call counts. The gate has
    /// [`GateTrait::CountsSuccess`].
    pub(crate) fn read(block: &mut Block<'_>, doc: &str) -> Option<Self> {
        let own = block.optional(KEY, doc, Counted::read);
        let counted = if block.has(KEY) {
            own
        } else {
            block.sibling(KEY, Counted::read)
        };
        match counted? {
            Counted::EveryCall => None,
            Counted::Successful(success) => Some(success),
        }
    }

    /// Reads the agent's `successful:`, which its gates inherit.
    pub(crate) fn read_for_agent(block: &mut Block<'_>) {
        let doc = "The definition of a successful call, for every gate that counts them and has no `successful:`: \
                   `true` for results without an error, or a matcher for the text of a result";
        let counted = block.optional(KEY, doc, Counted::read);
        let is_used = |gate: &crate::engine::GateKind| {
            gate.is(GateTrait::CountsSuccess) && block.has(gate.key)
        };
        if counted.is_none() || block.gates().iter().any(is_used) {
            return;
        }
        let gates = block
            .gates()
            .iter()
            .filter(|gate| gate.is(GateTrait::CountsSuccess));
        let gates: Vec<String> = gates.map(|gate| format!("{}:", gate.key)).collect();
        let problem = Problem::warning(
            "`successful:` has no effect: no gate of this agent counts successful calls",
        );
        let help = format!(
            "the gates that do are {}",
            some_of(gates.iter().map(String::as_str))
        );
        block.report_at(KEY, problem.help(help));
    }

    /// Returns true if the text of a result also decides.
    pub(crate) fn has_matcher(&self) -> bool {
        self.result.is_some()
    }

    /// The condition that an agent sets for all its gates.
    pub(crate) fn of_agent(block: &Block<'_>) -> Option<Self> {
        match block.sibling(KEY, Counted::read)? {
            Counted::EveryCall => None,
            Counted::Successful(success) => Some(success),
        }
    }

    /// Returns true if a call with this result was successful.
    pub(crate) fn holds(&self, result: &CallResult<'_>) -> bool {
        if result.is_failure() {
            return false;
        }
        match (&self.result, result.text()) {
            (None, _) => !result.reads_as_error(),
            (Some(matcher), Some(text)) => matcher.holds(&Value::String(text)),
            (Some(matcher), None) => matcher.accepts_absence(),
        }
    }
}

/// A digest of the condition that an agent sets for all its gates. `None` if it does not apply to this gate.
pub(crate) fn digest_of_agent(kind: &crate::engine::GateKind, block: &Block<'_>) -> Option<String> {
    let is_of_agent = kind.is(GateTrait::CountsSuccess) && !block.has(KEY);
    let digest = |field: &mut Field<'_>| field.digest();
    is_of_agent.then(|| block.sibling(KEY, digest)).flatten()
}

impl GateBlock {
    /// The digest of a block with its agent's `successful:`.
    pub(crate) fn digest_with_agent(
        kind: &crate::engine::GateKind,
        block: &Block<'_>,
        own: String,
    ) -> String {
        match digest_of_agent(kind, block) {
            Some(of_agent) => format!("{own}+{of_agent}"),
            None => own,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::trial::{judged, problems};
    use crate::report::Status;
    use serde_json::{Value, json};

    fn run(text: &str) -> Value {
        json!({
            "tool_calls": [{"name": "delete_page", "server": "docs", "args": {}}],
            "tool_results": [{"call_index": 0, "content": [{"type": "text", "text": text}]}],
            "final_response": "Done.",
        })
    }

    fn status(agent: &str, text: &str) -> Status {
        judged(agent, None, &[run(text)]).status
    }

    #[test]
    fn an_agent_says_once_for_all_its_gates_what_success_is() {
        let success = "prompt: p\nsuccessful: { not: { contains: refused } }\n";
        for gate in [
            "trajectory: { mode: unordered, calls: [delete_page] }",
            "scenario: { expect_state: { gone: true }, transitions: [{ tool: delete_page, effect: { set: { gone: true } } }] }",
        ] {
            let agent = format!("{success}{gate}");
            assert_eq!(status(&agent, "deleted"), Status::Passed, "{gate}");
            assert_eq!(status(&agent, "It was refused."), Status::Failed, "{gate}");
            let alone = format!("prompt: p\n{gate}");
            assert_eq!(status(&alone, "It was refused."), Status::Passed, "{gate}");
        }
    }

    #[test]
    fn a_gate_overrides_what_its_agent_says() {
        let agent = "prompt: p\nsuccessful: { contains: ok }\n\
                     trajectory: { mode: unordered, calls: [delete_page], successful: false }";
        assert_eq!(status(agent, "refused"), Status::Passed);
        let agent = "prompt: p\nsuccessful: { contains: ok }\n\
                     trajectory: { mode: unordered, calls: [delete_page], successful: { contains: done } }";
        assert_eq!(status(agent, "done"), Status::Passed);
        assert_eq!(status(agent, "ok"), Status::Failed);
    }

    #[test]
    fn a_text_that_begins_with_an_error_word_is_no_success() {
        let agent =
            "prompt: p\ntrajectory: { mode: unordered, calls: [delete_page], successful: true }";
        assert_eq!(status(agent, "Page deleted"), Status::Passed);
        assert_eq!(status(agent, "Error: the page is locked"), Status::Failed);
    }

    #[test]
    fn a_key_that_no_gate_looks_at_is_told() {
        let said = problems("prompt: p\nsuccessful: true\ngolden_path: { calls: [search] }");
        assert!(
            said.iter().any(
                |line| line.starts_with("warning: `successful:` has no effect")
                    && line.contains("trajectory:")
            ),
            "{said:?}"
        );
        let said =
            problems("prompt: p\nsuccessful: true\ntrajectory: { mode: set, calls: [search] }");
        assert_eq!(said, Vec::<String>::new());
    }
}
