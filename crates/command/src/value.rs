//! How is the value of an option read?

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

/// A word that an option accepts, its meaning, and its help.
pub type Word<T> = (&'static str, T, &'static str);

/// Parses one of these words.
pub fn one_of<T>(words: &'static [Word<T>]) -> impl TypedValueParser<Value = T>
where
    T: Clone + Send + Sync + 'static,
{
    let known = words
        .iter()
        .map(|(word, _, help)| PossibleValue::new(*word).help(*help));
    PossibleValuesParser::new(known).try_map(|written| {
        let found = words.iter().find(|(word, ..)| *word == written);
        found
            .map(|(_, value, _)| value.clone())
            .ok_or("unknown word")
    })
}

/// Parses a positive length of time.
pub fn parse_duration(written: &str) -> Result<std::time::Duration, String> {
    match mcptest_core::suite::duration_ms(written) {
        Some(0) => Err("it must be longer than 0".to_owned()),
        Some(milliseconds) => Ok(std::time::Duration::from_millis(milliseconds)),
        None => Err("give a unit, such as `500ms`, `30s` or `2m`".to_owned()),
    }
}

/// Parses a positive number of dollars.
pub fn parse_dollars(written: &str) -> Result<f64, String> {
    match written.trim_start_matches('$').parse::<f64>() {
        Ok(dollars) if dollars.is_finite() && dollars > 0.0 => Ok(dollars),
        _ => Err("it must be a number of dollars above 0, such as `0.50`".to_owned()),
    }
}
