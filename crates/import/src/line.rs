//! Which traces does one line of a stream hold, and what are they called?

use crate::foreign::{is_foreign, is_part};
use crate::problem::ImportFault;
use crate::write::{self, ImportedRun};
use crate::{ImportError, import, plain_chat};
use mcptest_core::Trace;
use mcptest_core::json::document::{Placed, Source, TextFault, Words};
use mcptest_core::trace::{BareFault, Header, read_bare};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use std::borrow::Cow;
use thiserror::Error;

/// Something wrong in a line.
pub type LineError = Placed<LineFault>;

const WORDS: Words = Words {
    shape: "a line is one JSON object: a trace, a transcript, or `{\"id\": …, \"trace\": …}` around \
            one of them",
    again: "write the line again",
};

/// A problem of a line, with its fix.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum LineFault {
    /// A problem of the text.
    #[error("{}", .0.said(&WORDS))]
    Text(TextFault),
    /// A field of the trace has a wrong type.
    #[error("this is not a valid trace ({reason}); correct the field")]
    Field {
        /// The problem.
        reason: String,
    },
    /// JSON that is neither a trace nor a transcript.
    #[error(
        "this is not a trace: it has neither `tool_calls` nor `conversation`, and it is not a \
         transcript of a known format"
    )]
    NotATrace,
    /// The header of a cassette, without its runs.
    #[error(
        "this is the header of a cassette; name the cassette's file, so that it is read as a whole"
    )]
    Header,
    /// An `id` or a `group` that names nothing.
    #[error("`{key}` is not a string or a number; name the trace with one of them")]
    Name {
        /// The key.
        key: &'static str,
    },
    /// A transcript of another program with something wrong in it.
    #[error("{0}")]
    Transcript(ImportFault),
}

impl From<TextFault> for LineFault {
    fn from(fault: TextFault) -> Self {
        Self::Text(fault)
    }
}

impl From<BareFault> for LineFault {
    fn from(fault: BareFault) -> Self {
        match fault {
            BareFault::Text(fault) => Self::Text(fault),
            BareFault::Field { reason } => Self::Field { reason },
            BareFault::NotATrace => Self::NotATrace,
        }
    }
}

/// The traces of one line, which borrow from it if possible.
///
/// ```
/// use mcptest_import::TraceLine;
/// use std::borrow::Cow;
///
/// let line = br#"{"id": "t-1", "group": "refunds", "trace": {"tool_calls": [{"name": "pay"}]}}"#;
/// let line = TraceLine::read(line, &|text| Cow::Borrowed(text))?;
/// assert_eq!((line.id.as_deref(), line.group.as_deref()), (Some("t-1"), Some("refunds")));
/// assert_eq!(line.runs[0].trace()?.tool_calls[0].name, "pay");
/// # Ok::<(), mcptest_import::LineError>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct TraceLine<'a> {
    /// The `id` beside the trace.
    pub id: Option<Cow<'a, str>>,
    /// The `span_id` beside the trace, which names the span that a verdict belongs to.
    pub span_id: Option<Cow<'a, str>>,
    /// The `group` beside the trace.
    pub group: Option<Cow<'a, str>>,
    /// The traces: one, or the conversations of a transcript that holds several.
    pub runs: Vec<LineRun<'a>>,
}

/// One trace of a line, as text.
#[derive(Debug)]
#[non_exhaustive]
pub struct LineRun<'a> {
    /// The model, the prompt and the tools of the run, if it was imported.
    pub header: Option<Header>,
    /// The trace as JSON.
    pub text: Cow<'a, str>,
}

impl LineRun<'_> {
    /// Reads the trace.
    pub fn trace(&self) -> Result<Trace<'_>, LineError> {
        let source = Source::new(self.text.as_bytes());
        read_bare(source, self.text.trim()).map_err(converted)
    }
}

/// The object around a trace.
#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow, default)]
    format: Option<&'a RawValue>,
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    span_id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    group: Option<&'a RawValue>,
    #[serde(borrow, default)]
    trace: Option<&'a RawValue>,
}

impl<'a> TraceLine<'a> {
    /// Reads a line: a trace, a transcript of any format, or `{"id", "group", "trace"}` around one
    /// of them, where the trace may be JSON in a string. `clean` removes secrets from transcripts
    /// before they become traces, as importing does.
    pub fn read(bytes: &'a [u8], clean: &dyn Fn(&str) -> Cow<'_, str>) -> Result<Self, LineError> {
        let source = Source::new(bytes);
        let text = source.text()?;
        if text.is_empty() {
            return Err(Placed::nowhere(TextFault::Empty));
        }
        if is_foreign(text.as_bytes()) {
            let runs = transcript(text, clean)?;
            return Ok(Self {
                id: None,
                span_id: None,
                group: None,
                runs,
            });
        }
        let envelope: Envelope<'a> = source.object(text, |reason| LineFault::Field { reason })?;
        let Some(inner) = envelope.trace else {
            if envelope
                .format
                .is_some_and(|format| format.get() == "\"mcptest-cassette\"")
            {
                return Err(source.fault_here(LineFault::Header));
            }
            return Ok(Self {
                id: None,
                span_id: None,
                group: None,
                runs: vec![LineRun::native(Cow::Borrowed(text))],
            });
        };
        Ok(Self {
            id: name(source, "id", envelope.id)?,
            span_id: name(source, "span_id", envelope.span_id)?,
            group: name(source, "group", envelope.group)?,
            runs: inside(inner.get(), clean)?,
        })
    }
}

impl<'a> LineRun<'a> {
    fn native(text: Cow<'a, str>) -> Self {
        Self { header: None, text }
    }
}

/// The form of a file, by its first line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FirstLine {
    /// Each line holds a whole trace, or several.
    Whole,
    /// The lines are parts of one document: messages, spans, records of a session.
    Part,
    /// It is the header of a file that mcptest wrote.
    Header,
    /// It is not JSON: a document over several lines begins here, or the line is broken.
    Broken,
}

impl FirstLine {
    /// Looks at a line.
    pub fn read(line: &[u8]) -> Self {
        let line = line.trim_ascii();
        if serde_json::from_slice::<IgnoredAny>(line).is_err() {
            return Self::Broken;
        }
        if !line.starts_with(b"{") {
            return Self::Whole;
        }
        let header: Result<Envelope<'_>, _> = serde_json::from_slice(line);
        let is_header = header.is_ok_and(|header| {
            let format = header.format.map(RawValue::get).unwrap_or_default();
            format.starts_with("\"mcptest-") && header.trace.is_none()
        });
        if is_header {
            Self::Header
        } else if is_part(line) {
            Self::Part
        } else {
            Self::Whole
        }
    }
}

/// The group that a line names, or `None` if it names none. `Err` if the line is not a JSON object.
pub fn group_of(line: &[u8]) -> Result<Option<Cow<'_, str>>, LineError> {
    let source = Source::new(line);
    let text = source.text()?;
    let envelope: Envelope<'_> = source.object(text, |reason| LineFault::Field { reason })?;
    match envelope.trace {
        Some(_) => name(source, "group", envelope.group),
        None => Ok(None),
    }
}

/// The traces of the value under `trace`.
fn inside<'a>(
    text: &'a str,
    clean: &dyn Fn(&str) -> Cow<'_, str>,
) -> Result<Vec<LineRun<'a>>, LineError> {
    let text = if text.starts_with('"') {
        let source = Source::new(text.as_bytes());
        source.check::<LineFault>(text)?;
        Cow::Owned(serde_json::from_str::<String>(text).unwrap_or_default())
    } else {
        Cow::Borrowed(text)
    };
    if is_foreign(text.as_bytes()) {
        transcript(&text, clean)
    } else {
        Ok(vec![LineRun::native(text)])
    }
}

fn transcript<'a>(
    text: &str,
    clean: &dyn Fn(&str) -> Cow<'_, str>,
) -> Result<Vec<LineRun<'a>>, LineError> {
    let runs = match plain_chat::read(text) {
        Some(plain) => write::runs(vec![plain], clean),
        None => import(text.as_bytes(), None)
            .map_err(of_transcript)?
            .into_runs(clean),
    };
    let runs = runs.into_iter();
    let runs = runs.map(|ImportedRun { header, trace }| LineRun {
        header: Some(header),
        text: Cow::Owned(trace),
    });
    Ok(runs.collect())
}

/// A name that is a string or a number. Null counts as a missing name.
fn name<'a>(
    source: Source<'a>,
    key: &'static str,
    written: Option<&'a RawValue>,
) -> Result<Option<Cow<'a, str>>, LineError> {
    #[derive(Deserialize)]
    #[serde(transparent)]
    struct Borrowed<'a>(#[serde(borrow)] Cow<'a, str>);
    let Some(text) = written.map(RawValue::get).filter(|text| *text != "null") else {
        return Ok(None);
    };
    let found = match text.as_bytes().first() {
        Some(b'"') => serde_json::from_str(text).ok().map(|Borrowed(name)| name),
        Some(b'-' | b'0'..=b'9') => Some(Cow::Borrowed(text)),
        _ => None,
    };
    match found {
        Some(name) => Ok(Some(name)),
        None => Err(source.fault(text, LineFault::Name { key })),
    }
}

fn of_transcript(error: ImportError) -> LineError {
    Placed {
        place: error.place,
        fault: LineFault::Transcript(error.fault),
    }
}

fn converted(problem: Placed<BareFault>) -> LineError {
    Placed {
        place: problem.place,
        fault: problem.fault.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn unclean(text: &str) -> Cow<'_, str> {
        Cow::Borrowed(text)
    }

    fn tools(line: &str) -> Vec<Vec<String>> {
        let line = TraceLine::read(line.as_bytes(), &unclean).unwrap();
        let names = |run: &LineRun<'_>| {
            let trace = run.trace().unwrap();
            trace.tool_names().map(str::to_owned).collect()
        };
        line.runs.iter().map(names).collect()
    }

    fn chat() -> serde_json::Value {
        json!({"messages": [
            {"role": "user", "content": "hi"},
            {"role": "assistant", "content": null, "tool_calls": [
                {"id": "1", "type": "function", "function": {"name": "search", "arguments": "{}"}}]},
            {"role": "tool", "tool_call_id": "1", "content": "found"},
            {"role": "assistant", "content": "done"},
        ]})
    }

    #[test]
    fn a_trace_is_the_same_alone_in_an_envelope_and_in_a_string() {
        let trace = json!({"tool_calls": [{"name": "search"}], "final_response": "done"});
        for trace in [trace, chat()] {
            for line in [
                trace.to_string(),
                json!({"id": "a", "trace": trace}).to_string(),
                json!({"trace": trace.to_string(), "group": 7}).to_string(),
                format!(" \u{feff}{trace}\r").replace('\u{feff}', ""),
            ] {
                assert_eq!(tools(&line), [["search"]], "{line}");
            }
        }
    }

    #[test]
    fn an_imported_conversation_keeps_what_its_transcript_says_around_it() {
        let mut chat = chat();
        chat["model"] = json!("gpt-5");
        chat["tools"] =
            json!([{"type": "function", "function": {"name": "search", "parameters": {}}}]);
        let text = chat.to_string();
        let line = TraceLine::read(text.as_bytes(), &unclean).unwrap();
        let header = line.runs[0].header.as_ref().unwrap();
        assert_eq!(header.model.as_deref(), Some("gpt-5"));
        assert_eq!(header.catalogue.as_ref().unwrap()[0].name, "search");
        assert_eq!(header.prompt, ["hi"]);
    }

    #[test]
    fn the_header_of_one_conversation_is_the_header_of_its_cassette() {
        let mut with_tools = chat();
        with_tools["tools"] =
            json!([{"type": "function", "function": {"name": "search", "parameters": {}}}]);
        let mut with_system = chat();
        with_system["model"] = json!("gpt-5");
        with_system["messages"][0] = json!({"role": "system", "content": "Be brief."});
        for chat in [chat(), with_tools, with_system] {
            let text = chat.to_string();
            let line = TraceLine::read(text.as_bytes(), &unclean).unwrap();
            let imported = import(text.as_bytes(), None).unwrap();
            let cassette = imported.into_cassette("imported", &unclean);
            let (header, run) = cassette.split_once('\n').unwrap();
            let header: Header = serde_json::from_str(header).unwrap();
            assert_eq!(line.runs[0].header.as_ref(), Some(&header));
            let run: serde_json::Value = serde_json::from_str(run).unwrap();
            let trace: serde_json::Value = serde_json::from_str(&line.runs[0].text).unwrap();
            assert_eq!(run["trace"], trace);
        }
    }

    #[test]
    fn names_are_strings_or_numbers() {
        let named = |id: serde_json::Value| {
            let text = json!({"id": id, "trace": {"tool_calls": []}}).to_string();
            TraceLine::read(text.as_bytes(), &unclean)
                .map(|line| line.id.map(Cow::into_owned))
                .map_err(|error| error.fault)
        };
        assert_eq!(named(json!("a\"b")), Ok(Some("a\"b".to_owned())));
        assert_eq!(named(json!(17)), Ok(Some("17".to_owned())));
        assert_eq!(named(json!(null)), Ok(None));
        assert_eq!(named(json!(["a"])), Err(LineFault::Name { key: "id" }));
    }

    #[test]
    fn the_first_line_says_whether_lines_are_whole() {
        let message = r#"{"role":"user","content":"hi"}"#;
        for (line, wanted) in [
            (r#"{"tool_calls":[]}"#, FirstLine::Whole),
            (r#"{"id":1,"trace":{}}"#, FirstLine::Whole),
            (r#"{"run":1,"seal":"x","trace":{}}"#, FirstLine::Whole),
            (r#"{"type":"x","messages":[]}"#, FirstLine::Whole),
            (r#"[{"role":"user","content":"hi"}]"#, FirstLine::Whole),
            (message, FirstLine::Part),
            (r#"{"role":"assistant","tool_calls":[]}"#, FirstLine::Part),
            (
                r#"{"type":"user","sessionId":"s","message":{}}"#,
                FirstLine::Part,
            ),
            (
                r#"{"timestamp":"t","type":"session_meta","payload":{}}"#,
                FirstLine::Part,
            ),
            (r#"{"resourceSpans":[]}"#, FirstLine::Part),
            (
                r#"{"format":"mcptest-cassette","version":1}"#,
                FirstLine::Header,
            ),
            ("{", FirstLine::Broken),
            (r#"{"tool_calls":[{"na"#, FirstLine::Broken),
        ] {
            assert_eq!(FirstLine::read(line.as_bytes()), wanted, "{line}");
        }
    }

    #[test]
    fn the_group_of_a_line_is_read_without_its_trace() {
        let group = |line: &str| group_of(line.as_bytes()).map(|name| name.map(Cow::into_owned));
        assert!(group(r#"{"group":"a","trace":{"x":}"#).is_err());
        assert_eq!(
            group(r#"{"group":"a","trace":{}}"#),
            Ok(Some("a".to_owned()))
        );
        assert_eq!(group(r#"{"group":"a","tool_calls":[]}"#), Ok(None));
        assert_eq!(group(r#"{"tool_calls":[]}"#), Ok(None));
    }

    #[test]
    fn a_bad_line_says_what_is_wrong() {
        let deep = format!(
            "{{\"tool_calls\":[],\"mood\":{}{}}}",
            "[".repeat(100_000),
            "]".repeat(100_000)
        );
        for (line, said) in [
            (&b""[..], "the file is empty"),
            (
                b"{\"tool_calls\": [{\"na",
                "the file was cut off in the middle of this line",
            ),
            (
                b"{\"tool_calls\": [\"\xff\"]}",
                "byte 17 of the file is not UTF-8",
            ),
            (b"\0\0\0", "this is not JSON"),
            (
                b"{\"tool_calls\": []}\0",
                "a second JSON document begins here",
            ),
            (b"7", "found a number here"),
            (b"{\"mood\": 1}", "this is not a trace"),
            (b"{\"trace\": 7}", "found a number here"),
            (b"{\"tool_calls\": 7}", "this is not a valid trace"),
            (
                b"{\"format\": \"mcptest-cassette\", \"version\": 1}",
                "this is the header of a cassette",
            ),
            (b"{\"messages\": 7}", "read as openai chat"),
            (deep.as_bytes(), "this is nested more than 127 levels deep"),
        ] {
            let read = TraceLine::read(line, &unclean);
            let error = read
                .and_then(|line| line.runs[0].trace().map(drop))
                .unwrap_err();
            let found = error.fault.to_string();
            let shown = String::from_utf8_lossy(&line[..line.len().min(60)]).into_owned();
            assert!(found.starts_with(said), "{shown}: {found}");
        }
    }
}
