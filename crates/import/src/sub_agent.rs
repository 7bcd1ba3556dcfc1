//! How do the calls of a sub-agent become calls of the run that started it?

use crate::json::{Json, raw};
use crate::transcript::Transcript;
use mcptest_core::trace::{RecordedCall, RecordedDelegation};
use serde::Serialize;
use serde_json::value::RawValue;

/// The agent that a user talks to, in hand-offs.
pub(crate) const MAIN: &str = "main";

/// The type of a caller that is a sub-agent.
const AGENT: &str = "agent";

/// The sub-agent that made a call.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct AgentCaller {
    pub(crate) name: String,
    /// The id of the agent in its source.
    pub(crate) id: Option<String>,
    /// The id of the call that started it.
    pub(crate) tool_id: Option<String>,
}

impl AgentCaller {
    /// Marks calls as calls of this agent, unless they name a caller.
    pub(crate) fn mark<'c>(&self, calls: impl IntoIterator<Item = &'c mut RecordedCall>) {
        #[derive(Serialize)]
        struct Caller<'a> {
            r#type: &'static str,
            agent: &'a str,
            #[serde(skip_serializing_if = "Option::is_none")]
            agent_id: Option<&'a str>,
            #[serde(skip_serializing_if = "Option::is_none")]
            tool_id: Option<&'a str>,
        }
        let caller = raw(&Caller {
            r#type: AGENT,
            agent: &self.name,
            agent_id: self.id.as_deref(),
            tool_id: self.tool_id.as_deref(),
        });
        for call in calls {
            if caller_type(call).is_none_or(|kind| kind == "direct") {
                call.caller = Some(caller.clone());
            }
        }
    }
}

/// Returns true if a sub-agent made this call.
pub(crate) fn is_of_a_sub_agent(call: &RecordedCall) -> bool {
    caller_type(call).is_some_and(|kind| kind == AGENT)
}

fn caller_type(call: &RecordedCall) -> Option<String> {
    let caller: &RawValue = call.caller.as_deref()?;
    Json::new(caller).object()?.owned("type")
}

impl Transcript {
    /// Marks all calls as calls of a sub-agent.
    pub(crate) fn mark_callers(&mut self, caller: &AgentCaller) {
        caller.mark(self.calls.iter_mut().chain(&mut self.unmade_calls));
    }

    /// Adds what a sub-agent did. Its calls follow the calls of the turn `after`, or all calls if
    /// no turn is known to have started it. `from` handed over to it.
    pub(crate) fn take_in(
        &mut self,
        from: &str,
        caller: &AgentCaller,
        mut agent: Self,
        after: Option<u64>,
    ) {
        agent.leave_cut_off_calls();
        self.leave_cut_off_calls();
        agent.mark_callers(caller);
        let first = after.map_or(self.assistant_turns, |turn| turn + 1);
        self.make_room(first, agent.assistant_turns);
        for call in agent.calls.iter_mut().chain(&mut agent.unmade_calls) {
            call.turn = call.turn.map(|turn| turn + first);
        }
        let is_later = |call: &RecordedCall| call.turn.is_some_and(|turn| turn >= first);
        let position = self.calls.iter().position(is_later);
        let position = position.unwrap_or(self.calls.len());
        self.calls.splice(position..position, agent.calls);
        self.answers.splice(position..position, agent.answers);
        self.unmade_calls.extend(agent.unmade_calls);
        // The prompt of a sub-agent is an argument of the call that started it.
        agent.turns.retain(|turn| turn.role != "user");
        let place = self.place_after_turns(first);
        self.turns.splice(place..place, agent.turns);
        self.tokens.add(agent.tokens);
        self.errors.extend(agent.errors);
        self.servers.extend(agent.servers);
        for (what, count) in agent.dropped {
            *self.dropped.entry(what).or_default() += count;
        }
        self.delegations.push(RecordedDelegation {
            from: from.to_owned(),
            to: caller.name.clone(),
        });
        self.delegations.extend(agent.delegations);
    }

    /// Counts the turns from `first` on later by `added`.
    fn make_room(&mut self, first: u64, added: u64) {
        self.assistant_turns += added;
        for call in self.calls.iter_mut().chain(&mut self.unmade_calls) {
            call.turn = call
                .turn
                .map(|turn| if turn >= first { turn + added } else { turn });
        }
    }

    /// The place among the messages behind this many messages of the model.
    fn place_after_turns(&self, count: u64) -> usize {
        let said = self.turns.iter().enumerate();
        let mut said = said.filter(|(_, turn)| turn.role == "assistant");
        let last = usize::try_from(count)
            .ok()
            .and_then(|count| said.nth(count.checked_sub(1)?));
        last.map_or(self.turns.len(), |(at, _)| at + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A conversation with a call in each of its turns.
    fn calling(names: &[&str]) -> Transcript {
        let mut transcript = Transcript::default();
        transcript.user("go");
        for name in names {
            transcript.assistant();
            transcript.call(RecordedCall {
                name: (*name).to_owned(),
                ..RecordedCall::default()
            });
        }
        transcript
    }

    #[test]
    fn the_calls_of_a_sub_agent_follow_the_turn_that_started_it() {
        let caller = AgentCaller {
            name: "Explore".to_owned(),
            ..AgentCaller::default()
        };
        let mut main = calling(&["Task", "Write"]);
        main.assistant();
        main.say("Done.");
        main.take_in(MAIN, &caller, calling(&["Read", "Grep"]), Some(0));
        let calls: Vec<(&str, Option<u64>, bool)> = main
            .calls
            .iter()
            .map(|call| (call.name.as_str(), call.turn, is_of_a_sub_agent(call)))
            .collect();
        assert_eq!(
            calls,
            [
                ("Task", Some(0), false),
                ("Read", Some(1), true),
                ("Grep", Some(2), true),
                ("Write", Some(3), false)
            ]
        );
        assert_eq!(main.answers.len(), 4);
        assert_eq!(main.final_response(), Some("Done."));
        assert_eq!(main.prompt, ["go"]);
        assert_eq!(main.delegations[0].to, "Explore");
    }
}
