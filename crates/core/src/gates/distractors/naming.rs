//! What would a tool be called that does almost the same?

use crate::words::camel_words;

/// The longest name that every provider accepts.
const LONGEST: usize = 64;

const SYNONYMS: &[(&str, &[&str])] = &[
    ("get", &["fetch", "retrieve", "lookup"]),
    ("fetch", &["get", "retrieve", "pull"]),
    ("read", &["get", "view", "load"]),
    ("search", &["find", "query", "lookup"]),
    ("find", &["search", "locate", "lookup"]),
    ("query", &["search", "select", "find"]),
    ("list", &["show", "enumerate", "browse"]),
    ("create", &["add", "make", "new"]),
    ("add", &["create", "insert", "append"]),
    ("update", &["edit", "modify", "change"]),
    ("set", &["change", "assign", "configure"]),
    ("delete", &["remove", "erase", "drop"]),
    ("remove", &["delete", "detach", "clear"]),
    ("send", &["post", "deliver", "submit"]),
    ("open", &["view", "show", "load"]),
    ("book", &["reserve", "schedule", "request"]),
    ("cancel", &["revoke", "abort", "withdraw"]),
    ("run", &["execute", "start", "launch"]),
    ("summarize", &["condense", "digest", "abstract"]),
    ("translate", &["convert", "localize", "interpret"]),
];

/// A tool's name as words, so that variations keep its style.
#[derive(Debug, Clone)]
pub(super) struct Name {
    /// The part up to the last dot or slash.
    head: String,
    words: Vec<String>,
    /// The separator of the words. Empty in `camelCase`.
    joint: &'static str,
    longest: usize,
}

impl Name {
    pub(super) fn new(name: &str) -> Self {
        let cut = name.rfind(['.', '/']).map_or(0, |at| at + 1);
        let (head, tail) = name.split_at(cut);
        let joint = joint_of(tail);
        let words = match joint {
            "" => camel_words(tail).map(str::to_owned).collect(),
            joint => tail.split(joint).map(str::to_owned).collect(),
        };
        Self {
            head: head.to_owned(),
            words,
            joint,
            longest: LONGEST.max(name.chars().count()),
        }
    }

    /// The name with synonyms of its verb.
    pub(super) fn synonyms(&self) -> Vec<Self> {
        let known = |word: &String| {
            SYNONYMS
                .iter()
                .find(|(verb, _)| *verb == word.to_lowercase())
        };
        let Some((at, (_, others))) = self
            .words
            .iter()
            .enumerate()
            .find_map(|(at, word)| Some((at, known(word)?)))
        else {
            return Vec::new();
        };
        let capital = self.words[at].starts_with(char::is_uppercase);
        let renamed = others.iter().map(|other| {
            let mut name = self.clone();
            name.words[at] = if capital {
                capitalised(other)
            } else {
                (*other).to_owned()
            };
            name
        });
        renamed.collect()
    }

    /// The name with a suffix such as `dry_run`; a name that is too long is cut before the suffix.
    pub(super) fn with_suffix(&self, suffix: &str) -> String {
        let name = self.written();
        let suffix = match self.joint {
            "" => suffix.split('_').map(capitalised).collect(),
            joint => format!("{joint}{}", suffix.replace('_', joint)),
        };
        let room = self.longest.saturating_sub(suffix.chars().count());
        name.chars().take(room).chain(suffix.chars()).collect()
    }

    pub(super) fn written(&self) -> String {
        format!("{}{}", self.head, self.words.join(self.joint))
    }
}

fn joint_of(name: &str) -> &'static str {
    let is_camel = || camel_words(name).nth(1).is_some();
    match ["_", "-"].into_iter().find(|joint| name.contains(joint)) {
        Some(joint) => joint,
        None if is_camel() => "",
        None => "_",
    }
}

fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    letters
        .next()
        .into_iter()
        .flat_map(char::to_uppercase)
        .chain(letters)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_varied_in_its_own_style() {
        let varied = |name: &str| {
            let name = Name::new(name);
            (
                name.synonyms().first().map(Name::written),
                name.with_suffix("dry_run"),
            )
        };
        assert_eq!(
            varied("get_weather"),
            (
                Some("fetch_weather".to_owned()),
                "get_weather_dry_run".to_owned()
            )
        );
        assert_eq!(
            varied("getWeather"),
            (
                Some("fetchWeather".to_owned()),
                "getWeatherDryRun".to_owned()
            )
        );
        assert_eq!(
            varied("GetWeather"),
            (
                Some("FetchWeather".to_owned()),
                "GetWeatherDryRun".to_owned()
            )
        );
        assert_eq!(
            varied("get-weather"),
            (
                Some("fetch-weather".to_owned()),
                "get-weather-dry-run".to_owned()
            )
        );
        assert_eq!(
            varied("web.search"),
            (Some("web.find".to_owned()), "web.search_dry_run".to_owned())
        );
        assert_eq!(varied("天気"), (None, "天気_dry_run".to_owned()));
        assert_eq!(varied(""), (None, "_dry_run".to_owned()));
    }

    #[test]
    fn a_long_name_gives_way_to_its_end() {
        let long = "w".repeat(62);
        let varied = Name::new(&long).with_suffix("legacy");
        assert_eq!(
            (varied.chars().count(), varied.ends_with("_legacy")),
            (64, true)
        );
    }
}
