//! How many tokens does a provider's `usage` count? One function per provider, for recordings and
//! imports.

use super::Tokens;
use serde_json::Value;

/// Anthropic Messages. Cached tokens are counted in addition to the input, thoughts within the output.
pub fn anthropic(usage: &Value) -> Tokens {
    let cache_read = count(usage, "cache_read_input_tokens");
    let kept = |minutes: &str| detail(usage, "cache_creation", minutes);
    let cache_write_1h = kept("ephemeral_1h_input_tokens");
    let by_time = sum([kept("ephemeral_5m_input_tokens"), cache_write_1h]);
    let cache_write = count(usage, "cache_creation_input_tokens").or(by_time);
    let cached = sum([cache_read, cache_write]).unwrap_or_default();
    Tokens {
        cache_read,
        cache_write,
        cache_write_1h,
        ..Tokens::without_total(
            count(usage, "input_tokens").map(|input| input.saturating_add(cached)),
            count(usage, "output_tokens"),
        )
    }
}

/// `OpenAI` Chat Completions and compatible formats. Cached tokens are counted within the prompt. Thoughts are
/// counted within the completion, unless the total shows that they are counted separately.
pub fn openai_chat(usage: &Value) -> Tokens {
    let of_prompt = |key: &str| detail(usage, "prompt_tokens_details", key);
    let counted = Tokens {
        cache_read: of_prompt("cached_tokens")
            .or_else(|| count(usage, "prompt_cache_hit_tokens"))
            .or_else(|| count(usage, "cache_read_input_tokens")),
        cache_write: of_prompt("cache_write_tokens")
            .or_else(|| of_prompt("cache_creation_tokens"))
            .or_else(|| count(usage, "cache_creation_input_tokens")),
        reasoning: detail(usage, "completion_tokens_details", "reasoning_tokens"),
        ..Tokens::without_total(
            count(usage, "prompt_tokens"),
            count(usage, "completion_tokens"),
        )
    };
    counted.with_thoughts_by(count(usage, "total_tokens"))
}

/// `OpenAI` Responses. Cached tokens are counted within the input, thoughts within the output.
pub fn openai_responses(usage: &Value) -> Tokens {
    Tokens {
        cache_read: detail(usage, "input_tokens_details", "cached_tokens"),
        reasoning: detail(usage, "output_tokens_details", "reasoning_tokens"),
        ..Tokens::without_total(count(usage, "input_tokens"), count(usage, "output_tokens"))
    }
}

/// Gemini, in the spelling of the API or of the Python library. Cached tokens are counted within the prompt. Thoughts
/// are counted in addition to the answer, and the text that Google's tools read in addition to the prompt.
pub fn gemini(usage: &Value) -> Tokens {
    let either = |key: &str, snake: &str| count(usage, key).or_else(|| count(usage, snake));
    let prompt = either("promptTokenCount", "prompt_token_count");
    let read_by_tools = either("toolUsePromptTokenCount", "tool_use_prompt_token_count");
    let reasoning = either("thoughtsTokenCount", "thoughts_token_count");
    let answer = either("candidatesTokenCount", "candidates_token_count");
    Tokens {
        cache_read: either("cachedContentTokenCount", "cached_content_token_count"),
        reasoning,
        ..Tokens::without_total(
            prompt.and(sum([prompt, read_by_tools])),
            sum([answer, reasoning]),
        )
    }
}

/// A count, which some providers write with a fraction or as a text.
pub fn count(usage: &Value, key: &str) -> Option<u64> {
    let count = usage.get(key)?;
    let of_fraction = || {
        count
            .as_f64()
            .filter(|count| *count >= 0.0)
            .map(|count| count as u64)
    };
    let of_text = || count.as_str()?.parse().ok();
    count.as_u64().or_else(of_fraction).or_else(of_text)
}

/// A count within an object of counts.
pub fn detail(usage: &Value, of: &str, key: &str) -> Option<u64> {
    count(usage.get(of)?, key)
}

/// The sum of the known counts.
pub fn sum(counts: [Option<u64>; 2]) -> Option<u64> {
    counts.into_iter().flatten().reduce(u64::saturating_add)
}

impl Tokens {
    /// The completion including reasoning, if the total shows that it was counted separately.
    #[must_use]
    pub fn with_thoughts_by(self, total: Option<u64>) -> Self {
        let beside = [self.prompt, self.completion, self.reasoning]
            .into_iter()
            .flatten()
            .reduce(u64::saturating_add);
        let has_thoughts = self.reasoning.is_some_and(|thoughts| thoughts > 0);
        if !has_thoughts || total.is_none() || total != beside || self.completion.is_none() {
            return self;
        }
        Self {
            completion: sum([self.completion, self.reasoning]),
            ..self
        }
    }

    /// The prompt including its cached part. A part greater than its whole was counted separately.
    #[must_use]
    pub fn with_cached_in_prompt(self) -> Self {
        let cached = sum([self.cache_read, self.cache_write]).unwrap_or_default();
        match self.prompt {
            Some(prompt) if cached > prompt => self.with_cached_beside(),
            _ => self,
        }
    }

    /// The whole prompt, for sources that count only its uncached part.
    #[must_use]
    pub fn with_cached_beside(self) -> Self {
        let cached = sum([self.cache_read, self.cache_write]).unwrap_or_default();
        Self {
            prompt: self.prompt.map(|prompt| prompt.saturating_add(cached)),
            ..self
        }
    }
}
