//! Is this a transcript of another program, instead of a cassette or a trace? The keys at its start
//! decide.

use crate::archive::is_archive;
use crate::framing::is_stream;
use crate::json::string_length;

/// Keys that only cassettes and traces have at their top.
const NATIVE: [&str; 6] = [
    "format",
    "run",
    "trace",
    "tool_results",
    "conversation",
    "final_response",
];

/// Top-level keys of transcripts. A trace may have a field with such a name, next to `tool_calls`.
const FOREIGN: [&str; 37] = [
    "messages",
    "role",
    "lc",
    "choices",
    "inputs",
    "outputs",
    "input",
    "output",
    "request",
    "response",
    "run_type",
    "scopeSpans",
    "values",
    "result",
    "stop_reason",
    "error",
    "custom_id",
    "message",
    "sessionId",
    "leafUuid",
    "parts",
    "contents",
    "candidates",
    "sdk_http_response",
    "context",
    "context.trace_id",
    "schema_version",
    "payload",
    "eval",
    "steps",
    "traj",
    "simulations",
    "injections",
    "severity_number",
    "suite_name",
    "threadId",
    "thread_id",
];

/// Top-level keys that only traces and transcripts have. A file with one of them that nothing can
/// read is a broken trace, and other files are something else.
const TELLING: [&str; 20] = [
    "tool_calls",
    "toolCalls",
    "tool_results",
    "toolResults",
    "final_response",
    "finalResponse",
    "trace",
    "traces",
    "messages",
    "conversation",
    "conversations",
    "transcript",
    "trajectory",
    "turns",
    "choices",
    "candidates",
    "contents",
    "spans",
    "resourceSpans",
    "scopeSpans",
];

/// Returns true if the first object of a file has a key of traces or transcripts.
pub fn looks_like_trace(bytes: &[u8]) -> bool {
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    let is_before = |byte: &u8| byte.is_ascii_whitespace() || *byte == b'[';
    let start = bytes.iter().take_while(|byte| is_before(byte)).count();
    if bytes.get(start) != Some(&b'{') {
        return false;
    }
    let mut keys = Keys {
        bytes,
        at: start + 1,
        is_before_value: false,
    };
    std::iter::from_fn(|| keys.next())
        .any(|key| TELLING.iter().any(|telling| telling.as_bytes() == key))
}

/// The lines at which to look: a file may begin with lines about its conversations.
const MOST_LINES: usize = 16;

/// Returns true if the file may be a transcript. Looks only at the first key of a cassette.
pub fn is_foreign(bytes: &[u8]) -> bool {
    if is_archive(bytes) || is_stream(bytes) {
        return true;
    }
    let mut rest = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    for _ in 0..MOST_LINES {
        match kind_of_start(rest) {
            Start::Foreign => return true,
            Start::Native => return false,
            Start::Unknown { end } => rest = &rest[end..],
        }
    }
    false
}

/// The kind of the first object.
enum Start {
    Foreign,
    Native,
    /// An object of neither kind, and where it ends.
    Unknown {
        end: usize,
    },
}

fn kind_of_start(bytes: &[u8]) -> Start {
    let start = bytes
        .iter()
        .position(|byte| !byte.is_ascii_whitespace() && *byte != b'[');
    let Some(start) = start.filter(|start| bytes[*start] == b'{') else {
        return Start::Native;
    };
    let is_list = bytes[..start].contains(&b'[');
    let mut keys = Keys {
        bytes,
        at: start + 1,
        is_before_value: false,
    };
    let (mut has_hint, mut is_message, mut has_content) = (false, false, false);
    while let Some(key) = keys.next() {
        match key {
            b"resourceSpans" | b"resourceLogs" => return Start::Foreign,
            b"tool_calls" if !is_list && !is_message => return Start::Native,
            b"tool_calls" if !is_list => return Start::Foreign,
            b"role" | b"type" => is_message = true,
            b"content" | b"data" | b"name" | b"call_id" => has_content = true,
            key if !is_list && NATIVE.iter().any(|native| native.as_bytes() == key) => {
                return Start::Native;
            }
            _ => {}
        }
        has_hint |= FOREIGN.iter().any(|foreign| foreign.as_bytes() == key);
        if is_list && has_hint {
            return Start::Foreign;
        }
    }
    if has_hint || (is_message && has_content) {
        return Start::Foreign;
    }
    match bytes.get(keys.at) {
        Some(b'}') if !is_list => Start::Unknown { end: keys.at + 1 },
        _ => Start::Native,
    }
}

/// Keys beside a message, a span or a record of a session. A line with one of them is a part of a conversation, unless
/// it has one of [`WHOLE`] too.
const PART: [&[u8]; 8] = [
    b"role",
    b"type",
    b"lc",
    b"sessionId",
    b"leafUuid",
    b"resourceSpans",
    b"resourceLogs",
    b"context.trace_id",
];

/// Keys that hold a conversation, or a trace.
const WHOLE: [&[u8]; 15] = [
    b"messages",
    b"contents",
    b"choices",
    b"inputs",
    b"outputs",
    b"input",
    b"output",
    b"request",
    b"response",
    b"values",
    b"result",
    b"trace",
    b"toolCalls",
    b"conversation",
    b"steps",
];

/// Returns true if a JSON object on a line is a part of a conversation that other lines continue, by its keys.
pub(crate) fn is_part(object: &[u8]) -> bool {
    let mut keys = Keys {
        bytes: object,
        at: 1,
        is_before_value: false,
    };
    let mut is_part = false;
    while let Some(key) = keys.next() {
        if WHOLE.contains(&key) {
            return false;
        }
        is_part |= PART.contains(&key);
    }
    is_part
}

/// The keys of an object in order. Values are skipped lazily.
struct Keys<'a> {
    bytes: &'a [u8],
    at: usize,
    is_before_value: bool,
}

impl<'a> Keys<'a> {
    /// The next key, verbatim. `None` at the end of the object, or if it is cut off or broken.
    fn next(&mut self) -> Option<&'a [u8]> {
        if std::mem::replace(&mut self.is_before_value, true) {
            self.skip_while(|byte| byte.is_ascii_whitespace() || byte == b':');
            self.skip_value();
        }
        self.skip_while(|byte| byte.is_ascii_whitespace() || byte == b',');
        let start = self.at;
        if self.bytes.get(start) != Some(&b'"') {
            return None;
        }
        self.at += string_length(&self.bytes[start..]);
        self.bytes.get(start + 1..self.at.checked_sub(1)?)
    }

    fn skip_while(&mut self, is_skipped: impl Fn(u8) -> bool) {
        while self
            .bytes
            .get(self.at)
            .is_some_and(|byte| is_skipped(*byte))
        {
            self.at += 1;
        }
    }

    fn skip_value(&mut self) {
        let mut depth = 0_usize;
        while let Some(byte) = self.bytes.get(self.at) {
            match byte {
                b'"' => {
                    self.at += string_length(&self.bytes[self.at..]);
                    if depth == 0 {
                        return;
                    }
                    continue;
                }
                b'{' | b'[' => depth += 1,
                b'}' | b']' | b',' if depth == 0 => return,
                b'}' | b']' => depth -= 1,
                _ => {}
            }
            self.at += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::is_foreign;

    #[test]
    fn cassettes_and_traces_are_not_taken_for_transcripts() {
        for text in [
            r#"{"format":"mcptest-cassette","version":1}"#,
            r#"{"run":1,"trace":{"messages":[]}}"#,
            r#"{"mood":"{\"role\"","input":"hi","tool_calls":[]}"#,
            r#"{"messages":[{"role":"user"}],"conversation":{}}"#,
            r#"{"role":"support","tool_results":[]}"#,
            "",
            "[]",
            "[1, 2]",
            r#"{"note":"no run at all"}"#,
            "{\"note\":1}\n{\"run\":1,\"trace\":{\"messages\":[]}}",
            r#"{"a"#,
            "plain text",
        ] {
            assert!(!is_foreign(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn transcripts_are_told_by_the_keys_at_their_start() {
        for text in [
            "\u{feff}\n[ {\"id\": 3, \"role\": \"user\"",
            r#"{"model":"m","messages":[]}"#,
            r#"{"resourceSpans":[{"#,
            r#"{"type":"human","data":{}}"#,
            r#"{"content":"","type":"ai","tool_calls":[]}"#,
            r#"{"role":"assistant","tool_calls":[]}"#,
            r#"[[{"lc":1,"kwargs":{}}]]"#,
            r#"{"id":"resp_1","output":[]}"#,
            "{\"benchmark\":\"airline\",\"by\":{\"a\":1}}\n{\"model\":\"m\"}\n{\"role\":\"user\",\"content\":\"hi\"}",
        ] {
            assert!(is_foreign(text.as_bytes()), "{text}");
        }
    }
}
