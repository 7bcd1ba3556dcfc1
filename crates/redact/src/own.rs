//! Which words and numbers of a recording or report are its own, whatever a pattern of the suite says?

/// Keys that recordings and reports are made of, in order. A pattern that took one out would leave a file that
/// cannot be read, and none of them is a secret.
const KEYS: &[&str] = &[
    "actual",
    "agent",
    "args",
    "args_text",
    "arguments",
    "at_us",
    "bytes",
    "call_index",
    "caller",
    "calls",
    "catalogue",
    "code",
    "command",
    "completion",
    "content",
    "conversation",
    "cost_usd",
    "count",
    "data",
    "delegations",
    "description",
    "details",
    "detected",
    "diff",
    "distractor",
    "duration_ms",
    "era",
    "error",
    "errors",
    "event",
    "exchange",
    "expectations",
    "expected",
    "explanation",
    "failed_runs",
    "failure",
    "faults",
    "file",
    "final_response",
    "fingerprint",
    "format",
    "from",
    "gates",
    "help",
    "how",
    "id",
    "index",
    "inputSchema",
    "input_schema",
    "instructions",
    "isError",
    "is_error",
    "jsonrpc",
    "key",
    "kind",
    "left_out",
    "line",
    "log",
    "matcher",
    "matrix",
    "mended",
    "message",
    "message_count",
    "method",
    "mimeType",
    "mode",
    "model",
    "name",
    "not_exercised",
    "notes",
    "number",
    "oddities",
    "outputSchema",
    "output_schema",
    "parameters",
    "params",
    "passed",
    "pointer",
    "progress",
    "prompt",
    "protocol_version",
    "reason",
    "recorded",
    "rerun",
    "result",
    "role",
    "rows",
    "run",
    "runs",
    "scored_runs",
    "scripted",
    "server",
    "server_entry",
    "server_requests",
    "session",
    "source",
    "status",
    "stop_reason",
    "structured",
    "structuredContent",
    "suite",
    "summary",
    "system_prompt",
    "tables",
    "tags",
    "target",
    "targets",
    "test",
    "text",
    "to",
    "tokens",
    "tool",
    "tool_calls",
    "tool_names",
    "tool_results",
    "tools",
    "total",
    "trace",
    "trace_id",
    "turn",
    "turns",
    "type",
    "unmade_calls",
    "unpinned",
    "usage",
    "version",
    "virtual_ms",
    "written",
];

/// Keys whose numbers a recording counts itself, in order.
const NUMBERS: &[&str] = &[
    "at_us",
    "call_index",
    "completion",
    "cost_usd",
    "duration_ms",
    "message_count",
    "prompt",
    "run",
    "total",
    "turn",
    "version",
    "virtual_ms",
];

/// Whether a key is one that recordings and reports are made of.
pub(super) fn is_key(key: &str) -> bool {
    KEYS.binary_search(&key).is_ok()
}

/// Whether a number under this key is one that a recording counts itself.
pub(super) fn is_number(key: &str) -> bool {
    NUMBERS.binary_search(&key).is_ok()
}

/// Whether a whole text of a report is one of its verdicts.
pub(super) fn is_verdict(text: &str) -> bool {
    matches!(text, "passed" | "failed" | "error" | "skipped")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Redactor;

    #[test]
    fn the_lists_are_in_order_and_no_own_key_is_a_secret_by_itself() {
        assert!(KEYS.is_sorted() && NUMBERS.is_sorted());
        let bare = Redactor::builder().build().unwrap();
        for key in KEYS {
            assert_eq!(bare.text(key), *key);
        }
        assert!(NUMBERS.iter().all(|key| is_key(key)));
    }
}
