//! Does a prompt name a tool or server?

use crate::words::words_in;

/// The names that occur in these prompts, compared word by word and without case: `get_weather`,
/// `Get weather`, `getWeather`.
pub(super) fn named<'n>(
    prompts: &[&str],
    names: impl IntoIterator<Item = &'n str>,
) -> Vec<&'n str> {
    let prompts: Vec<Prompt> = prompts.iter().map(|prompt| Prompt::new(prompt)).collect();
    names
        .into_iter()
        .filter(|name| prompts.iter().any(|prompt| prompt.names(name)))
        .collect()
}

struct Prompt {
    /// Words, split at every character that is not a letter or digit.
    whole: Vec<String>,
    /// The words, also split at capitals.
    split: Vec<String>,
}

impl Prompt {
    fn new(text: &str) -> Self {
        let whole = text
            .split(|c: char| !c.is_alphanumeric())
            .map(str::to_lowercase)
            .collect();
        Self {
            whole,
            split: words(text),
        }
    }

    fn names(&self, name: &str) -> bool {
        let words = words(name);
        let joined = words.concat();
        // A name of one letter is an article more often than a tool.
        joined.chars().count() > 1
            && (self
                .split
                .windows(words.len())
                .any(|window| window == words)
                || self.whole.contains(&joined))
    }
}

fn words(text: &str) -> Vec<String> {
    words_in(text).map(str::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::named;

    #[test]
    fn a_name_is_found_in_every_spelling_and_only_as_whole_words() {
        let found = |prompt: &str| !named(&[prompt], ["get_weather"]).is_empty();
        for prompt in [
            "Call get_weather for Oslo.",
            "GET WEATHER in Oslo",
            "use getWeather()",
            "docs__get-weather, please",
            "getweather",
        ] {
            assert!(found(prompt), "{prompt}");
        }
        for prompt in [
            "What is the weather in Oslo?",
            "get the weather",
            "forget weathering",
            "",
        ] {
            assert!(!found(prompt), "{prompt}");
        }
        assert_eq!(
            named(&["Ask GitHub for a list"], ["github", "a", "lis", ""]),
            ["github"]
        );
    }
}
