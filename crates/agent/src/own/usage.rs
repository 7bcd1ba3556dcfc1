//! How many tokens does an agent say it used?

use mcptest_core::trace::{RecordedError, Tokens};
use serde::Deserialize;
use std::path::Path;
use thiserror::Error;

/// A file of usage is a few lines.
const LONGEST: u64 = 1 << 20;

/// The usage that an agent reports.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Usage {
    pub(super) tokens: Tokens,
    pub(super) cost_usd: Option<f64>,
    pub(super) model: Option<String>,
}

#[derive(Deserialize)]
struct Written {
    prompt_tokens: Option<u64>,
    input_tokens: Option<u64>,
    completion_tokens: Option<u64>,
    output_tokens: Option<u64>,
    total_tokens: Option<u64>,
    cost_usd: Option<f64>,
    model: Option<String>,
}

/// Why the file cannot be used.
#[derive(Debug, Clone, PartialEq, Error)]
enum UsageFault {
    #[error("{0}")]
    Unreadable(String),
    #[error("it is not UTF-8")]
    NotUtf8,
    #[error("{0}")]
    NoUsage(String),
    #[error("`cost_usd` is {0}")]
    BadCost(f64),
    #[error("`{name}` is {value} and `{other_name}` is {other}")]
    Contradiction {
        name: &'static str,
        value: u64,
        other_name: &'static str,
        other: u64,
    },
}

/// Reads the file. Without a file, nothing is reported.
pub(super) fn read(path: &Path) -> Result<Usage, RecordedError> {
    written(path).map_err(|reason| {
        let help = r#"write one object, as {"prompt_tokens": 900, "completion_tokens": 120}"#;
        let file = "the file that it wrote to MCPTEST_USAGE";
        RecordedError::new("agent", format!("{file} cannot be used: {reason}; {help}"))
    })
}

fn written(path: &Path) -> Result<Usage, UsageFault> {
    let bytes = match mcptest_files::read(path, LONGEST) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Usage::default()),
        Err(error) => return Err(UsageFault::Unreadable(mcptest_files::reason(&error))),
    };
    of(&String::from_utf8(bytes).map_err(|_| UsageFault::NotUtf8)?)
}

fn of(text: &str) -> Result<Usage, UsageFault> {
    let written: Written =
        serde_json::from_str(text).map_err(|error| UsageFault::NoUsage(error.to_string()))?;
    let prompt = either(
        "prompt_tokens",
        written.prompt_tokens,
        "input_tokens",
        written.input_tokens,
    )?;
    let completion = either(
        "completion_tokens",
        written.completion_tokens,
        "output_tokens",
        written.output_tokens,
    )?;
    if let Some(cost) = written
        .cost_usd
        .filter(|cost| !cost.is_finite() || *cost < 0.0)
    {
        return Err(UsageFault::BadCost(cost));
    }
    Ok(Usage {
        tokens: Tokens {
            total: written.total_tokens,
            ..Tokens::without_total(prompt, completion)
        }
        .totalled(),
        cost_usd: written.cost_usd,
        model: written.model.filter(|model| !model.is_empty()),
    })
}

fn either(
    name: &'static str,
    value: Option<u64>,
    other_name: &'static str,
    other: Option<u64>,
) -> Result<Option<u64>, UsageFault> {
    match (value, other) {
        (Some(value), Some(other)) if value != other => Err(UsageFault::Contradiction {
            name,
            value,
            other_name,
            other,
        }),
        _ => Ok(value.or(other)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_spellings_are_read_and_the_total_is_their_sum() {
        let expected = Tokens::new(Some(9), Some(2), None);
        for text in [
            r#"{"prompt_tokens": 9, "completion_tokens": 2}"#,
            r#"{"input_tokens": 9, "output_tokens": 2, "cache_read_input_tokens": 4}"#,
        ] {
            assert_eq!(of(text).unwrap().tokens, expected, "{text}");
        }
        let told = of(r#"{"input_tokens": 9, "total_tokens": 30, "cost_usd": 0.25, "model": "m"}"#)
            .unwrap();
        assert_eq!(told.tokens, Tokens::new(Some(9), None, Some(30)));
        assert_eq!(
            (told.cost_usd, told.model.as_deref()),
            (Some(0.25), Some("m"))
        );
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for (text, part) in [
            ("", "EOF"),
            ("[]", "invalid"),
            (r#"{"prompt_tokens": -1}"#, "-1"),
            (r#"{"prompt_tokens": "many"}"#, "many"),
            (
                r#"{"prompt_tokens": 1, "input_tokens": 2}"#,
                "`input_tokens` is 2",
            ),
            (r#"{"cost_usd": -0.5}"#, "`cost_usd` is -0.5"),
        ] {
            let said = of(text).unwrap_err().to_string();
            assert!(said.contains(part), "{text}: {said}");
        }
    }
}
