//! How many tokens does a transcript count, in the terms of a provider or a framework?

use crate::json::Fields;
use mcptest_core::trace::Tokens;
use mcptest_core::trace::usage::{self, count, detail, sum};
use serde_json::Value;

/// The counts of Anthropic.
pub(crate) fn anthropic(written: &Fields<'_>) -> Tokens {
    totalled(usage::anthropic(&value(written)), None)
}

/// The counts of Gemini.
pub(crate) fn gemini(written: &Fields<'_>) -> Tokens {
    let written = value(written);
    let total = count(&written, "totalTokenCount").or_else(|| count(&written, "total_token_count"));
    totalled(usage::gemini(&written), total)
}

/// The counts of a chat, a response or a framework, recognised by their names.
pub(crate) fn tokens(written: &Fields<'_>) -> Tokens {
    let written = value(written);
    let total = count(&written, "total_tokens").or_else(|| count(&written, "totalTokens"));
    let counted = match UsageShape::from_keys(&written) {
        UsageShape::Gemini => usage::gemini(&written),
        UsageShape::Anthropic => usage::anthropic(&written),
        UsageShape::OpenaiResponses => usage::openai_responses(&written),
        UsageShape::OpenaiChat => usage::openai_chat(&written),
        UsageShape::Framework => of_framework(&written).with_thoughts_by(total),
    };
    totalled(counted.with_cached_in_prompt(), total)
}

/// The written total, otherwise the sum of the known counts.
fn totalled(counted: Tokens, total: Option<u64>) -> Tokens {
    Tokens {
        total: total.or_else(|| sum([counted.prompt, counted.completion])),
        ..counted
    }
}

fn value(written: &Fields<'_>) -> Value {
    serde_json::from_str(written.text()).unwrap_or_default()
}

/// Whose format the counts have. Frameworks and gateways pass on their provider's JSON.
enum UsageShape {
    OpenaiChat,
    OpenaiResponses,
    Anthropic,
    Gemini,
    Framework,
}

impl UsageShape {
    fn from_keys(written: &Value) -> Self {
        let has_any = |keys: &[&str]| keys.iter().any(|key| written.get(key).is_some());
        let of_chat = [
            "prompt_tokens_details",
            "completion_tokens_details",
            "prompt_cache_hit_tokens",
        ];
        let of_anthropic = [
            "cache_read_input_tokens",
            "cache_creation_input_tokens",
            "cache_creation",
        ];
        if has_any(&["promptTokenCount", "prompt_token_count"]) {
            Self::Gemini
        } else if has_any(&of_chat) || (has_any(&["prompt_tokens"]) && has_any(&of_anthropic)) {
            Self::OpenaiChat
        } else if has_any(&of_anthropic) {
            Self::Anthropic
        } else if has_any(&["input_tokens_details", "output_tokens_details"]) {
            Self::OpenaiResponses
        } else {
            Self::Framework
        }
    }
}

/// The names of one count: at the top, or within an object of counts.
struct Names {
    plain: &'static [&'static str],
    within: &'static [(&'static str, &'static str)],
}

impl Names {
    fn count(&self, written: &Value) -> Option<u64> {
        let plain = self.plain.iter().find_map(|key| count(written, key));
        let mut within = self.within.iter();
        plain.or_else(|| within.find_map(|(of, key)| detail(written, of, key)))
    }
}

const PROMPT: Names = Names {
    plain: &[
        "prompt_tokens",
        "input_tokens",
        "request_tokens",
        "inputTokens",
        "promptTokens",
    ],
    within: &[],
};

const COMPLETION: Names = Names {
    plain: &[
        "completion_tokens",
        "output_tokens",
        "response_tokens",
        "outputTokens",
        "completionTokens",
    ],
    within: &[],
};

/// LangChain and LangSmith count within `input_token_details`, the AI SDK within
/// `inputTokenDetails`, and Pydantic AI at the top level or, before version 1, within `details`.
const CACHE_READ: Names = Names {
    plain: &["cache_read_tokens", "cachedInputTokens"],
    within: &[
        ("input_token_details", "cache_read"),
        ("prompt_token_details", "cache_read"),
        ("inputTokenDetails", "cacheReadTokens"),
        ("details", "cache_read_input_tokens"),
        ("details", "cache_read_tokens"),
        ("details", "cached_tokens"),
        ("details", "cached_content_tokens"),
    ],
};

const CACHE_WRITE: Names = Names {
    plain: &["cache_write_tokens"],
    within: &[
        ("input_token_details", "cache_creation"),
        ("prompt_token_details", "cache_creation"),
        ("inputTokenDetails", "cacheWriteTokens"),
        ("details", "cache_creation_input_tokens"),
        ("details", "cache_write_tokens"),
    ],
};

const CACHE_WRITE_5M: Names = Names {
    plain: &[],
    within: &[
        ("input_token_details", "ephemeral_5m_input_tokens"),
        ("prompt_token_details", "ephemeral_5m_input_tokens"),
        ("details", "ephemeral_5m_input_tokens"),
    ],
};

const CACHE_WRITE_1H: Names = Names {
    plain: &["cache_write_1h_tokens"],
    within: &[
        ("input_token_details", "ephemeral_1h_input_tokens"),
        ("prompt_token_details", "ephemeral_1h_input_tokens"),
        ("details", "ephemeral_1h_input_tokens"),
    ],
};

const REASONING: Names = Names {
    plain: &[
        "reasoning_tokens",
        "output_reasoning_tokens",
        "reasoningTokens",
    ],
    within: &[
        ("output_token_details", "reasoning"),
        ("completion_token_details", "reasoning"),
        ("outputTokenDetails", "reasoningTokens"),
        ("details", "reasoning_tokens"),
        ("details", "thoughts_tokens"),
    ],
};

fn of_framework(written: &Value) -> Tokens {
    let cache_write_1h = CACHE_WRITE_1H.count(written);
    // LangChain writes 0 for the whole where it knows the two parts.
    let by_time = sum([CACHE_WRITE_5M.count(written), cache_write_1h]);
    Tokens {
        cache_read: CACHE_READ.count(written),
        cache_write: CACHE_WRITE.count(written).max(by_time),
        cache_write_1h,
        reasoning: REASONING.count(written),
        ..Tokens::without_total(PROMPT.count(written), COMPLETION.count(written))
    }
}
