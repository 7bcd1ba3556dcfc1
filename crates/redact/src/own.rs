//! Which words and numbers belong to the format of recordings and reports, so that patterns of the
//! suite do not apply to them?

/// The keys of recordings and reports, a line for each length from [`SHORTEST`] on. They are not
/// secret, and without one of them a file would be unreadable.
const KEYS: [&str; 16] = [
    "id to",
    "era how key log run",
    "args code data diff file from help kind line mode name role rows runs seal tags test text tool turn type",
    "agent at_us bytes calls count error event gates index model notes rerun seals setup suite tools total trace turns \
     usage",
    "actual caller errors faults format inject labels matrix mended method number params passed prompt \
     reason result server source status tables target tokens",
    "command content details failure isError jsonrpc matcher message pointer session summary targets version \
     written",
    "cost_usd detected exchange expected is_error left_out mimeType oddities progress provider recorded scripted teardown trace_id \
     unpinned",
    "args_text arguments catalogue failed_by reasoning",
    "cache_read call_index completion conditions distractor parameters structured tool_calls tool_names virtual_ms",
    "cache_write delegations description duration_ms explanation failed_runs fingerprint inputSchema scored_runs stop_reason",
    "conversation expectations input_schema instructions outputSchema server_entry tool_results unmade_calls",
    "message_count not_exercised output_schema system_prompt",
    "cache_write_1h final_response",
    "server_requests",
    "protocol_version",
    "structuredContent",
];
const SHORTEST: usize = 2;

/// Keys whose numbers mcptest counts.
const NUMBERS: &str = "at_us cache_read cache_write cache_write_1h call_index completion cost_usd duration_ms message_count prompt reasoning run \
                       total turn version virtual_ms";

/// Returns true if recordings and reports use this key.
pub(super) fn is_key(key: &str) -> bool {
    let alike = key
        .len()
        .checked_sub(SHORTEST)
        .and_then(|line| KEYS.get(line));
    alike.is_some_and(|keys| {
        keys.as_bytes()
            .chunks(key.len() + 1)
            .any(|own| own.starts_with(key.as_bytes()))
    })
}

/// Returns true if recordings write their own counts under this key.
pub(super) fn is_number(key: &str) -> bool {
    NUMBERS.split(' ').any(|own| own == key)
}

/// Returns true if a text is a verdict of a report.
pub(super) fn is_verdict(text: &str) -> bool {
    matches!(text, "passed" | "failed" | "error" | "skipped")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Redactor, is_secret_name};

    #[test]
    fn each_line_has_keys_of_one_length_and_none_is_a_secret_by_itself() {
        let bare = Redactor::builder().build().unwrap();
        for (line, keys) in KEYS.iter().enumerate() {
            for key in keys.split(' ') {
                assert_eq!((key.len(), &*bare.text(key)), (line + SHORTEST, key));
                assert!(is_key(key) && !is_secret_name(key), "{key}");
            }
        }
        assert!(NUMBERS.split(' ').all(is_key) && !is_key("") && !is_key("i") && !is_key("idto"));
    }
}
