//! How is one conversation collected: its calls, the answer to each call, and the omitted parts?

use crate::cut_off::is_cut_off;
use crate::json::{Fields, Misfit, raw};
use crate::server_name::{Bare, bare};
use mcptest_core::trace::{
    CatalogueTool, RecordedCall, RecordedDelegation, RecordedError, RecordedFailure, RecordedTurn,
    Tokens,
};
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// A conversation, from any format.
#[derive(Debug, Default)]
pub(crate) struct Transcript {
    pub(crate) model: Option<String>,
    pub(crate) system_prompt: Vec<String>,
    pub(crate) prompt: Vec<String>,
    /// The tools that the model saw; `None` if the transcript lacks them.
    pub(crate) tools: Option<Vec<ImportedTool>>,
    /// The servers that the transcript names.
    pub(crate) servers: BTreeSet<String>,
    pub(crate) stop_reason: Option<String>,
    /// The conversation's name in its source.
    pub(crate) trace_id: Option<String>,
    /// The id of the conversation in its source, which may have several traces.
    pub(crate) conversation_id: Option<String>,
    /// Facts about the run from its source: a reward, whether it passed, its task.
    pub(crate) labels: BTreeMap<String, Value>,
    pub(crate) tokens: Tokens,
    pub(crate) errors: Vec<RecordedError>,
    pub(crate) delegations: Vec<RecordedDelegation>,
    pub(crate) duration_ms: Option<u64>,
    pub(crate) cost_usd: Option<f64>,
    /// True if the format marks errors among these results.
    pub(crate) marks_errors: bool,
    pub(crate) dropped: BTreeMap<Dropped, usize>,
    pub(crate) calls: Vec<RecordedCall>,
    pub(crate) answers: Vec<Option<ImportedAnswer>>,
    /// Calls in answers that were cut off; they were not made.
    pub(crate) unmade_calls: Vec<RecordedCall>,
    pub(crate) turns: Vec<RecordedTurn>,
    /// The number of messages of the model.
    pub(crate) assistant_turns: u64,
    /// True if the provider's last request had no answer.
    is_broken_off: bool,
    /// The turns in which the model's answer was cut off.
    cut_off_turns: BTreeSet<u64>,
    closing: String,
    unanswered: BTreeSet<usize>,
    by_id: BTreeMap<String, VecDeque<usize>>,
}

/// A tool of the catalogue, with its schema to the letter.
pub(crate) type ImportedTool = CatalogueTool<Box<RawValue>>;

/// The outcome of a call.
#[derive(Debug, Clone, Default)]
pub(crate) struct ImportedAnswer {
    pub(crate) is_error: bool,
    pub(crate) content: Option<Box<RawValue>>,
    pub(crate) structured: Option<Box<RawValue>>,
    /// A protocol or transport error instead of a result.
    pub(crate) failure: Option<RecordedFailure>,
    /// The content as plain text, for the conversation's turn.
    pub(crate) text: String,
}

/// Contents without a place in a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Dropped {
    Image,
    Audio,
    File,
    Reasoning,
    RepeatedResult,
    Choice,
    UserCall,
    InnerCall,
    CutMessages,
    Span,
    CopiedStep,
    MessageOfProgram,
    OtherFile,
    LogRecord,
    Metrics,
    Line,
    Event,
    Other,
}

impl Dropped {
    /// The singular and the plural.
    pub(crate) fn words(self) -> [&'static str; 2] {
        match self {
            Self::Image => ["image", "images"],
            Self::Audio => ["audio part", "audio parts"],
            Self::File => ["file", "files"],
            Self::Reasoning => ["reasoning block", "reasoning blocks"],
            Self::RepeatedResult => ["second result of a call", "second results of calls"],
            Self::Choice => ["further choice", "further choices"],
            Self::UserCall => ["call of the user", "calls of the user"],
            Self::InnerCall => ["call inside a tool", "calls inside tools"],
            Self::CutMessages => [
                "message list that was cut off",
                "message lists that were cut off",
            ],
            Self::Span => ["span of other kinds", "spans of other kinds"],
            Self::CopiedStep => [
                "step copied from an earlier trajectory",
                "steps copied from an earlier trajectory",
            ],
            Self::MessageOfProgram => ["message of the program", "messages of the program"],
            Self::OtherFile => ["trajectory in another file", "trajectories in other files"],
            Self::LogRecord => ["log record of another kind", "log records of other kinds"],
            Self::Metrics => ["export of metrics", "exports of metrics"],
            Self::Line => ["line without a message", "lines without a message"],
            Self::Event => ["event of another kind", "events of other kinds"],
            Self::Other => ["part of another kind", "parts of other kinds"],
        }
    }
}

impl Transcript {
    pub(crate) fn drop(&mut self, what: Dropped) {
        *self.dropped.entry(what).or_default() += 1;
    }

    /// Adds the facts about the run at these keys.
    pub(crate) fn label(&mut self, place: &Fields<'_>, keys: &[&str]) {
        for key in keys {
            if let Some(value) = place.get(key)
                && let Ok(value) = serde_json::from_str(value.text())
            {
                self.labels.insert((*key).to_owned(), value);
            }
        }
    }

    /// Forgets the messages, before they are read again from another source.
    pub(crate) fn restart(&mut self) {
        self.turns.clear();
        self.prompt.clear();
        self.closing.clear();
        self.assistant_turns = 0;
    }

    /// Sets the model, if given. The last one counts.
    pub(crate) fn set_model(&mut self, model: Option<String>) {
        self.model = model.or(self.model.take());
    }

    /// Sets the stop reason, if given. The last one counts.
    pub(crate) fn stopped(&mut self, reason: Option<String>) {
        self.stop_reason = reason.or(self.stop_reason.take());
    }

    /// The model's latest message ended for this reason.
    pub(crate) fn answer_ended(&mut self, reason: Option<&str>) {
        if reason.is_some_and(is_cut_off) {
            self.cut_off_turns.extend(self.turn());
        }
    }

    /// The turn of the model's latest message.
    fn turn(&self) -> Option<u64> {
        self.assistant_turns.checked_sub(1)
    }

    /// The instructions before the conversation.
    pub(crate) fn system(&mut self, text: &str) {
        if !self.system_prompt.iter().any(|known| known == text) {
            self.system_prompt.push(text.to_owned());
        }
    }

    /// A message of the user.
    pub(crate) fn user(&mut self, text: &str) {
        self.prompt.push(text.to_owned());
        self.turns.push(RecordedTurn::new("user", text));
    }

    /// A new message of the model begins.
    pub(crate) fn assistant(&mut self) {
        if std::mem::take(&mut self.is_broken_off) {
            self.stop_reason = None;
        }
        self.assistant_turns += 1;
        self.closing.clear();
        self.turns.push(RecordedTurn::new("assistant", ""));
    }

    /// Adds text to the model's message.
    pub(crate) fn say(&mut self, text: &str) {
        self.closing.push_str(text);
        if let Some(turn) = self
            .turns
            .iter_mut()
            .rev()
            .find(|turn| turn.role == "assistant")
        {
            turn.content.push_str(text);
        }
    }

    /// Adds the parts of a message: the model's one by one, the user's all at once.
    pub(crate) fn say_parts<'a, T>(
        &mut self,
        is_model: bool,
        parts: impl IntoIterator<Item = T>,
        read: impl Fn(T, &mut Self) -> Result<Option<Cow<'a, str>>, Misfit>,
    ) -> Result<(), Misfit> {
        let mut said: Option<String> = None;
        for part in parts {
            match read(part, self)? {
                Some(text) if is_model => self.say(&text),
                Some(text) => said.get_or_insert_default().push_str(&text),
                None => {}
            }
        }
        if let Some(said) = said {
            self.user(&said);
        }
        Ok(())
    }

    /// Adds a call to the model's message, and returns its index among all calls.
    pub(crate) fn call(&mut self, call: RecordedCall) -> usize {
        let index = self.calls.len();
        self.closing.clear();
        if let Some(id) = &call.id {
            self.by_id.entry(id.clone()).or_default().push_back(index);
        }
        self.unanswered.insert(index);
        let turn = call.turn.or(self.turn());
        push_tightly(&mut self.calls, RecordedCall { turn, ..call });
        push_tightly(&mut self.answers, None);
        index
    }

    /// Adds a tool's answer to the call whose id is at this key. Without an id, it answers the
    /// first waiting call, with that name if one is given.
    pub(crate) fn answer(
        &mut self,
        place: &Fields<'_>,
        id: &str,
        name: Option<&str>,
        answer: ImportedAnswer,
    ) -> Result<(), Misfit> {
        let id = place.optional_string(id)?;
        self.meet(id.as_deref(), name, answer)
            .map_err(|message| place.misfit(message))
    }

    /// Pairs an answer with its call, or reports why that is impossible.
    pub(crate) fn meet(
        &mut self,
        id: Option<&str>,
        name: Option<&str>,
        mut answer: ImportedAnswer,
    ) -> Result<(), String> {
        // The turn holds the only copy of the text.
        let text = std::mem::take(&mut answer.text);
        self.turns.push(RecordedTurn::new("tool", text));
        let is_known = id.is_some_and(|id| self.by_id.contains_key(id));
        let waiting = match id.filter(|_| is_known) {
            Some(id) => self.by_id.get_mut(id).and_then(VecDeque::pop_front),
            None => self.unanswered.iter().copied().find(|index| {
                let call = &self.calls[*index];
                // An id says which call it is, unless calls have none.
                (id.is_none() || call.id.is_none() && name.is_some())
                    && name.is_none_or(|name| call.name == name)
            }),
        };
        match waiting.filter(|index| self.answers[*index].is_none()) {
            Some(index) => self.answer_call(index, answer),
            None if is_known => self.drop(Dropped::RepeatedResult),
            None => return Err(without_call(id, name)),
        }
        Ok(())
    }

    /// Adds the tool's answer with its text to the call at this index.
    pub(crate) fn answer_at(&mut self, index: usize, mut answer: ImportedAnswer) {
        let text = std::mem::take(&mut answer.text);
        self.tool_said(text);
        self.answer_call(index, answer);
    }

    /// The call with this id that waits for its answer.
    pub(crate) fn waiting_call(&self, id: &str) -> Option<usize> {
        let waiting = self.by_id.get(id)?.iter().copied();
        waiting
            .into_iter()
            .find(|index| self.answers[*index].is_none())
    }

    /// Adds calls with their answers, each before the call that now has this index. Their messages
    /// are unknown.
    pub(crate) fn insert_calls(&mut self, calls: Vec<(usize, RecordedCall, ImportedAnswer)>) {
        for (before, call, mut answer) in calls.into_iter().rev() {
            answer.text.clear();
            self.calls.insert(before, call);
            self.answers.insert(before, Some(answer));
        }
    }

    /// The text of an answer, as a message.
    pub(crate) fn tool_said(&mut self, text: String) {
        self.turns.push(RecordedTurn::new("tool", text));
    }

    /// The token counts of the model's latest message.
    pub(crate) fn count_answer(&mut self, tokens: Tokens) {
        let said = self.turns.iter_mut().rev();
        if let Some(turn) = said.into_iter().find(|turn| turn.role == "assistant") {
            turn.tokens = Some(tokens).filter(|tokens| *tokens != Tokens::default());
        }
    }

    /// Adds to the cost, if one is known.
    pub(crate) fn add_cost(&mut self, cost_usd: Option<f64>) {
        if let Some(cost) = cost_usd {
            *self.cost_usd.get_or_insert_default() += cost;
        }
    }

    /// The answer to the call at this index.
    pub(crate) fn answer_call(&mut self, index: usize, answer: ImportedAnswer) {
        self.unanswered.remove(&index);
        if let Some(place) = self.answers.get_mut(index) {
            *place = Some(answer);
        }
    }

    pub(crate) fn fail(&mut self, message: impl Into<String>) {
        self.errors.push(RecordedError::new("provider", message));
    }

    /// Records that the provider gave no answer: unless the model writes more later, the run ended
    /// here.
    pub(crate) fn end_in_error(&mut self, message: String) {
        self.fail(message);
        self.stop_reason = Some("error".to_owned());
        self.closing.clear();
        self.is_broken_off = true;
    }

    /// The provider's `error` in its response.
    pub(crate) fn fail_as(&mut self, response: &Fields<'_>) {
        let Some(error) = response.get("error") else {
            return;
        };
        let message = error
            .object()
            .and_then(|error| error.string("message"))
            .or_else(|| error.string());
        self.fail(message.unwrap_or_else(|| error.text().into()));
    }

    /// A tool of the catalogue; of two with one name the later counts.
    pub(crate) fn tool(&mut self, tool: ImportedTool) {
        let tools = self.tools.get_or_insert_default();
        match tools
            .iter_mut()
            .find(|known| known.name == tool.name && known.server == tool.server)
        {
            Some(known) => *known = tool,
            None => tools.push(tool),
        }
    }

    /// The closing message: the model's text after its last call.
    pub(crate) fn final_response(&self) -> Option<&str> {
        Some(self.closing.trim_end()).filter(|text| !text.is_empty())
    }

    /// Sets the closing message, where the transcript names it.
    pub(crate) fn close_with(&mut self, text: String) {
        self.closing = text;
    }

    /// Separates calls that were never made: calls of an answer that was cut off, unless they have results.
    pub(crate) fn leave_cut_off_calls(&mut self) {
        let cut_off_turns = std::mem::take(&mut self.cut_off_turns);
        if cut_off_turns.is_empty() {
            return;
        }
        let calls = std::mem::take(&mut self.calls);
        let answers = std::mem::take(&mut self.answers);
        for (call, answer) in calls.into_iter().zip(answers) {
            let is_cut_off = call.turn.is_some_and(|turn| cut_off_turns.contains(&turn));
            if is_cut_off && answer.is_none() {
                self.unmade_calls.push(call);
            } else {
                self.calls.push(call);
                self.answers.push(answer);
            }
        }
        let last = self.turn().filter(|last| cut_off_turns.contains(last));
        if last.is_some() && self.calls.iter().all(|call| call.turn != last) {
            let said = self
                .turns
                .iter()
                .rev()
                .find(|turn| turn.role == "assistant");
            self.closing = said.map(|turn| turn.content.clone()).unwrap_or_default();
        }
    }

    /// Returns true without messages and calls.
    pub(crate) fn is_empty(&self) -> bool {
        self.turns.is_empty()
            && self.calls.is_empty()
            && self.unmade_calls.is_empty()
            && self.errors.is_empty()
    }

    /// Removes the server from the names that the model saw, if the server is certain.
    pub(crate) fn strip_servers(&mut self) {
        let servers = &self.servers;
        let strip = |name: &mut String, server: &mut Option<String>| {
            let Some(Bare { server: of, tool }) = bare(name, server.as_deref(), servers) else {
                return;
            };
            *server = Some(of.to_owned());
            *name = tool.to_owned();
        };
        for call in self.calls.iter_mut().chain(&mut self.unmade_calls) {
            strip(&mut call.name, &mut call.server);
        }
        for tool in self.tools.iter_mut().flatten() {
            strip(&mut tool.name, &mut tool.server);
        }
    }
}

/// Adds an item to a list that is short in most conversations. A file has thousands of them, and a list that grows by
/// doubling begins with room for four.
fn push_tightly<T>(list: &mut Vec<T>, item: T) {
    const SHORT: usize = 4;
    if list.len() == list.capacity() && list.len() < SHORT {
        list.reserve_exact(1);
    }
    list.push(item);
}

/// The error for a result without its call.
pub(crate) fn without_call(id: Option<&str>, name: Option<&str>) -> String {
    let missing = match (id, name) {
        (Some(id), _) => format!("no earlier call has the id `{id}`"),
        (None, Some(name)) => format!("no earlier call of `{name}` waits for a result"),
        (None, None) => "no earlier call waits for a result".to_owned(),
    };
    format!(
        "this result has no call: {missing}; export the whole conversation, or remove the result"
    )
}

/// A string as one block of MCP content.
pub(crate) fn text_block(text: &str) -> Box<RawValue> {
    #[derive(Serialize)]
    struct TextBlock<'a> {
        r#type: &'static str,
        text: &'a str,
    }
    raw(&TextBlock {
        r#type: "text",
        text,
    })
}

impl ImportedAnswer {
    /// An answer of plain text.
    pub(crate) fn from_text(text: Cow<'_, str>, is_error: bool) -> Self {
        Self {
            is_error,
            content: Some(raw(&[text_block(&text)])),
            text: text.into_owned(),
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(name: &str, id: Option<&str>) -> RecordedCall {
        RecordedCall {
            name: name.to_owned(),
            id: id.map(str::to_owned),
            ..RecordedCall::default()
        }
    }

    /// The text of each answer.
    fn answers(transcript: &Transcript) -> Vec<Option<String>> {
        let text = |answer: &ImportedAnswer| {
            let content = answer.content.as_ref()?.get();
            let blocks: serde_json::Value = serde_json::from_str(content).ok()?;
            Some(blocks[0]["text"].as_str()?.to_owned())
        };
        let answers = transcript.answers.iter();
        answers.map(|answer| text(answer.as_ref()?)).collect()
    }

    #[test]
    fn answers_out_of_order_reach_their_calls_and_one_without_a_call_is_refused() {
        let mut transcript = Transcript::default();
        transcript.assistant();
        for id in ["a", "b", "c"] {
            transcript.call(call(id, Some(id)));
        }
        for id in ["b", "a", "a"] {
            transcript
                .meet(Some(id), None, ImportedAnswer::from_text(id.into(), false))
                .unwrap();
        }
        assert_eq!(
            answers(&transcript),
            [Some("a".to_owned()), Some("b".to_owned()), None]
        );
        assert_eq!(transcript.dropped[&Dropped::RepeatedResult], 1);
        let refused = transcript
            .meet(Some("z"), Some("c"), ImportedAnswer::default())
            .unwrap_err();
        assert!(
            refused.contains("no earlier call has the id `z`"),
            "{refused}"
        );
    }

    #[test]
    fn an_id_that_is_used_again_is_answered_in_the_order_of_its_calls() {
        let mut transcript = Transcript::default();
        for text in ["one", "two"] {
            transcript.assistant();
            transcript.call(call("t", Some("call_0")));
            transcript
                .meet(
                    Some("call_0"),
                    None,
                    ImportedAnswer::from_text(text.into(), false),
                )
                .unwrap();
        }
        assert_eq!(
            answers(&transcript),
            [Some("one".to_owned()), Some("two".to_owned())]
        );
        assert_eq!(transcript.calls[1].turn, Some(1));
    }

    #[test]
    fn what_is_said_before_a_call_is_not_the_closing_message() {
        let mut transcript = Transcript::default();
        transcript.assistant();
        transcript.say("Let me look.");
        transcript.call(call("t", None));
        assert_eq!(transcript.final_response(), None);
        transcript.assistant();
        transcript.say("Done.\n");
        assert_eq!(transcript.final_response(), Some("Done."));
        assert_eq!(transcript.turns[0].content, "Let me look.");
    }
}
