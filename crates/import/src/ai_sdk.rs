//! Vercel AI SDK messages: `tool-call` and `tool-result` parts, and UI messages whose `parts` are `tool-NAME`.

use crate::Importer;
use crate::content::{Part, answer_of, call_of, part, refuse_calls_of_others, unknown, value_of};
use crate::json::{Fields, Json, Misfit, object_of};
use crate::sample::{Sample, has_part};
use crate::transcript::{Dropped, ImportedAnswer, Transcript};
use crate::unit::{Unit, units};
use crate::usage;
use mcptest_core::trace::{RecordedTurn, Tokens};
use std::borrow::Cow;

pub(crate) const IMPORTER: Importer = Importer {
    key: "ai-sdk",
    name: "ai sdk",
    doc: "messages with `tool-call` and `tool-result` parts, or UI messages with `parts`",
    also_reads: &[],
    sniff,
    read,
};

/// Parts without calls. `data-NAME` belongs to the application.
const HARMLESS: [&str; 6] = [
    "source",
    "source-url",
    "source-document",
    "custom",
    "tool-approval-request",
    "tool-approval-response",
];

fn sniff(sample: &Sample<'_>) -> bool {
    let is_typed = |part: &Json<'_>| part.object().is_some_and(|part| part.has("type"));
    sample
        .records
        .iter()
        .any(|record| record.has("responseMessages"))
        || sample.messages.iter().any(|message| {
            let parts = message
                .get("parts")
                .and_then(Json::list)
                .unwrap_or_default();
            let of_model = |kind: &str| kind.starts_with("tool-") || kind == "reasoning-file";
            parts.first().is_some_and(is_typed)
                || message.has("toolInvocations")
                || has_part(message, of_model)
        })
}

fn read(values: &[Json<'_>]) -> Result<Vec<Transcript>, Misfit> {
    let mut transcripts = Vec::new();
    for unit in units(values, &|fields| fields.has("role"))? {
        let mut transcript = Transcript::default();
        transcript.marks_errors = true;
        let (messages, called) = match unit {
            Unit::Messages(messages) => (messages, None),
            Unit::Record(record) => (
                read_record(&record, &mut transcript)?,
                record.get("toolCalls"),
            ),
        };
        for message in messages {
            read_message(&object_of(message, "a message")?, &mut transcript)?;
        }
        if let Some(called) =
            called.filter(|called| called.text() != "[]" && transcript.calls.is_empty())
        {
            return Err(Misfit::at(
                called,
                "no message has these calls; log all messages".to_owned(),
            ));
        }
        let reason = transcript.stop_reason.clone();
        transcript.answer_ended(reason.as_deref());
        transcripts.push(transcript);
    }
    Ok(transcripts)
}

/// A chat in the form that applications store, or a request with the library's result.
fn read_record<'a>(
    record: &Fields<'a>,
    transcript: &mut Transcript,
) -> Result<Vec<Json<'a>>, Misfit> {
    let (sent, response) = (
        record.list("messages")?,
        record.object("response")?.unwrap_or_default(),
    );
    // Of late, those beside the response are of its last step alone.
    let answered = record
        .list("responseMessages")?
        .or(response.list("messages")?);
    if sent.is_none() && answered.is_none() {
        return Err(record.misfit("`messages` is missing here".to_owned()));
    }
    for key in ["system", "instructions"] {
        record
            .string(key)
            .iter()
            .for_each(|text| transcript.system(text));
    }
    let model = response
        .owned("modelId")
        .or_else(|| record.owned("modelId"));
    transcript.set_model(model.or_else(|| record.owned("model")));
    transcript.stopped(record.owned("finishReason"));
    transcript.tokens = tokens(record);
    Ok(sent.into_iter().chain(answered).flatten().collect())
}

/// The counts of all steps, if the record has all of them: only a step has the counts that Anthropic adds to its
/// input.
fn tokens(record: &Fields<'_>) -> Tokens {
    let steps: Vec<Fields<'_>> = record
        .get("steps")
        .and_then(Json::list)
        .unwrap_or_default()
        .iter()
        .filter_map(|step| step.object())
        .collect();
    if !steps.is_empty() && steps.iter().all(|step| step.has("usage")) {
        let mut all = Tokens::default();
        steps
            .iter()
            .map(|step| tokens_of_step(step, &step.part("usage").unwrap_or_default()))
            .for_each(|tokens| all.add(tokens));
        return all;
    }
    let counted = record.part("totalUsage").or_else(|| record.part("usage"));
    counted.map_or_else(Tokens::default, |counted| tokens_of_step(record, &counted))
}

/// The counts of one step. Until version 6 of the library, `inputTokens` is the provider's own
/// number; for Anthropic, that excludes cached tokens.
fn tokens_of_step(step: &Fields<'_>, counted: &Fields<'_>) -> Tokens {
    let tokens = usage::tokens(counted);
    let of_provider = step.part("providerMetadata").unwrap_or_default();
    let Some(anthropic) = of_provider.part("anthropic") else {
        return tokens;
    };
    if counted.has("inputTokenDetails") {
        return tokens;
    }
    let in_own_words = anthropic.part("usage").map(|own| usage::anthropic(&own));
    let is_of_all = |own: &Tokens| own.completion == tokens.completion;
    if let Some(own) = in_own_words.filter(is_of_all) {
        return own;
    }
    let counted_beside = Tokens {
        prompt: counted.count("inputTokens"),
        cache_write: anthropic.count("cacheCreationInputTokens"),
        total: None,
        ..tokens
    };
    let Tokens {
        prompt, completion, ..
    } = counted_beside.with_cached_beside();
    Tokens {
        cache_read: counted_beside.cache_read,
        cache_write: counted_beside.cache_write,
        reasoning: tokens.reasoning,
        ..Tokens::new(prompt, completion, None)
    }
}

fn read_message(message: &Fields<'_>, transcript: &mut Transcript) -> Result<(), Misfit> {
    let role = message.required_string("role", "a message")?;
    if !matches!(&*role, "system" | "user" | "assistant" | "tool" | "data") {
        let problem = format!("`role` is `{role}`; it is system, user, assistant or tool");
        return Err(message.misfit(problem));
    }
    // An older UI message says its calls in its parts, and once more beside them.
    let own: &[&str] = if message.has("parts") {
        &["parts", "toolInvocations"]
    } else {
        &[]
    };
    refuse_calls_of_others(message, own)?;
    if role == "assistant" {
        transcript.assistant();
    }
    let Some(content) = message.first(&["parts", "content"]) else {
        return Err(message.misfit("a message has neither `content` nor `parts`".to_owned()));
    };
    let mut reader = PartReader {
        transcript,
        is_assistant: role == "assistant",
        is_begun: false,
        said: None,
    };
    match content.string().filter(|_| role != "tool") {
        Some(text) => reader.say(&text),
        None => reader.parts(content)?,
    }
    match (&*role, reader.said) {
        ("system", Some(text)) => transcript.system(&text),
        ("user", said) => transcript.user(&said.unwrap_or_default()),
        _ => {}
    }
    Ok(())
}

struct PartReader<'t> {
    transcript: &'t mut Transcript,
    is_assistant: bool,
    /// True if the model has written or called something in this step.
    is_begun: bool,
    said: Option<String>,
}

impl PartReader<'_> {
    fn say(&mut self, text: &str) {
        if self.is_assistant {
            self.is_begun = true;
            self.transcript.say(text);
        } else {
            self.said.get_or_insert_default().push_str(text);
        }
    }

    fn parts(&mut self, content: Json<'_>) -> Result<(), Misfit> {
        let Some(parts) = content.list() else {
            let problem = format!(
                "the content is {}, not a string or a list of parts",
                content.kind()
            );
            return Err(Misfit::at(content, problem));
        };
        for part in parts {
            self.part(&object_of(part, "a part")?)?;
        }
        Ok(())
    }

    fn part(&mut self, fields: &Fields<'_>) -> Result<(), Misfit> {
        let kind = fields.required_string("type", "a part")?;
        match part(&kind, fields) {
            Part::Text(text) => self.say(&text),
            Part::Dropped(what) => self.transcript.drop(what),
            Part::Other => self.own_part(&kind, fields)?,
        }
        Ok(())
    }

    /// A part that only this format has.
    fn own_part(&mut self, kind: &str, fields: &Fields<'_>) -> Result<(), Misfit> {
        // A tool may be called `call` or `result`; only parts of UI messages have a state.
        let name = kind.strip_prefix("tool-").filter(|_| fields.has("state"));
        match (kind, name) {
            (_, Some(name)) => self.ui_call(fields, name.to_owned())?,
            ("dynamic-tool", _) => self.ui_call(fields, tool_name(fields)?)?,
            ("tool-call", _) => {
                self.call(fields, tool_name(fields)?)?;
            }
            ("tool-result", _) => self.result(fields)?,
            ("tool-error", _) => self.failure(fields)?,
            ("tool-invocation", _) => {
                let inner = fields.object("toolInvocation")?.unwrap_or_default();
                self.call(&inner, tool_name(&inner)?)?;
                if inner.has("result") {
                    self.result(&inner)?;
                }
            }
            ("step-start", _) if self.is_begun => {
                self.is_begun = false;
                self.transcript.assistant();
            }
            ("step-start", _) => {}
            ("steering-message", _) => {
                let parts = fields.list("parts")?.unwrap_or_default();
                let text = |part: &Json<'_>| Some(part.object()?.string("text")?.into_owned());
                self.transcript
                    .user(&parts.iter().filter_map(text).collect::<String>());
            }
            (kind, _) if HARMLESS.contains(&kind) || kind.starts_with("data-") => {
                self.transcript.drop(Dropped::Other);
            }
            (kind, _) => return Err(unknown(fields, "a part", kind)),
        }
        Ok(())
    }

    fn call(&mut self, fields: &Fields<'_>, name: String) -> Result<usize, Misfit> {
        self.is_begun = true;
        let input = fields.first(&["input", "args", "rawInput"]);
        Ok(self
            .transcript
            .call(call_of(name, fields.optional_owned("toolCallId")?, input)))
    }

    /// A call with its answer, as far as the kept message has them.
    fn ui_call(&mut self, fields: &Fields<'_>, name: String) -> Result<(), Misfit> {
        let state = fields.required_string("state", "a call")?;
        let index = self.call(fields, name)?;
        let answer = match &*state {
            "input-streaming" | "input-available" | "approval-requested" | "approval-responded" => {
                return Ok(());
            }
            "output-available" => value_of(fields.get("output"), false, self.transcript),
            "output-error" => {
                ImportedAnswer::from_text(fields.string("errorText").unwrap_or_default(), true)
            }
            "output-denied" => denied(&fields.part("approval").unwrap_or_default()),
            other => {
                return Err(fields.misfit(format!(
                    "the `state` of a call is `{other}`, which is unknown"
                )));
            }
        };
        self.transcript
            .turns
            .push(RecordedTurn::new("tool", answer.text.clone()));
        self.transcript.answer_call(index, answer);
        Ok(())
    }

    fn result(&mut self, fields: &Fields<'_>) -> Result<(), Misfit> {
        let answer = if let Some(output) = fields.object("output")? {
            self.output(&output)?
        } else {
            let is_error = fields
                .get("isError")
                .and_then(Json::flag)
                .unwrap_or_default();
            value_of(fields.get("result"), is_error, self.transcript)
        };
        self.transcript.answer(
            fields,
            "toolCallId",
            fields.string("toolName").as_deref(),
            answer,
        )
    }

    /// A tool that threw an error.
    fn failure(&mut self, fields: &Fields<'_>) -> Result<(), Misfit> {
        let error = fields.first(&["error", "errorText"]);
        let message = error
            .and_then(Json::object)
            .and_then(|error| error.get("message"));
        let answer = value_of(message.or(error), true, self.transcript);
        self.transcript.answer(
            fields,
            "toolCallId",
            fields.string("toolName").as_deref(),
            answer,
        )
    }

    fn output(&mut self, output: &Fields<'_>) -> Result<ImportedAnswer, Misfit> {
        let kind = output.required_string("type", "the output of a tool")?;
        let is_error = match &*kind {
            "text" | "json" | "content" => false,
            "error-text" | "error-json" => true,
            "execution-denied" => return Ok(denied(output)),
            other => return Err(unknown(output, "the output of a tool", other)),
        };
        Ok(match (&*kind, output.get("value")) {
            ("content", value) => answer_of(value, is_error, self.transcript),
            (_, value) => value_of(value, is_error, self.transcript),
        })
    }
}

fn tool_name(call: &Fields<'_>) -> Result<String, Misfit> {
    call.required_string("toolName", "a call")
        .map(Cow::into_owned)
}

/// The answer of a call that the user denied.
fn denied(fields: &Fields<'_>) -> ImportedAnswer {
    ImportedAnswer::from_text(
        fields
            .string("reason")
            .unwrap_or("the call was denied".into()),
        true,
    )
}
