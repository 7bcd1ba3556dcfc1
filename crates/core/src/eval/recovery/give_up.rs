//! Does the closing message of a run say that it failed?

use crate::trace::Trace;

/// Words that tell of a failure, in English.
const TELLING: &str = "unable|could not|couldn't|cannot|can't|can not|was not able|wasn't able|not possible|\
                       failed|failure|fails|failing|error|timed out|timeout|unavailable|not available|\
                       not responding|no response";

/// Whether it says so in any of the words that are known; silence and other words do not.
pub(super) fn says_that_it_failed(trace: &Trace<'_>) -> bool {
    let said = trace
        .final_response
        .as_deref()
        .unwrap_or_default()
        .to_lowercase()
        .replace('\u{2019}', "'");
    TELLING.split('|').any(|word| said.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_message_that_tells_of_a_failure_says_so() {
        let said = |text: &str| {
            let envelope = serde_json::json!({ "final_response": text }).to_string();
            says_that_it_failed(&Trace::read(&envelope).unwrap())
        };
        assert!(said("I couldn\u{2019}t reach the search tool.") && said("The search TIMED OUT."));
        assert!(!said("Here is the report.") && !said(""));
        assert!(!says_that_it_failed(&Trace::read("{}").unwrap()));
    }
}
