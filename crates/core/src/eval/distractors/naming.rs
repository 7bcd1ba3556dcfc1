//! What would a tool be called that does almost the same?

/// The longest name that every provider takes.
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

/// A tool's name in its words, so that it can be varied in its own style.
#[derive(Debug, Clone)]
pub(super) struct Name {
    /// What stands before the last dot or slash.
    head: String,
    words: Vec<String>,
    style: Style,
    longest: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Style {
    Snake,
    Kebab,
    Camel,
}

impl Name {
    pub(super) fn of(name: &str) -> Self {
        let cut = name.rfind(['.', '/']).map_or(0, |at| at + 1);
        let (head, tail) = name.split_at(cut);
        let style = style_of(tail);
        let words = match style {
            Style::Snake => tail.split('_').map(str::to_owned).collect(),
            Style::Kebab => tail.split('-').map(str::to_owned).collect(),
            Style::Camel => camel_words(tail),
        };
        Self { head: head.to_owned(), words, style, longest: LONGEST.max(name.chars().count()) }
    }

    /// The same name with other words for its verb.
    pub(super) fn synonyms(&self) -> Vec<Self> {
        let known = |word: &String| SYNONYMS.iter().find(|(verb, _)| *verb == word.to_lowercase());
        let Some((at, (_, others))) =
            self.words.iter().enumerate().find_map(|(at, word)| Some((at, known(word)?)))
        else {
            return Vec::new();
        };
        let capital = self.words[at].starts_with(char::is_uppercase);
        let renamed = others.iter().map(|other| {
            let mut name = self.clone();
            name.words[at] = if capital { capitalised(other) } else { (*other).to_owned() };
            name
        });
        renamed.collect()
    }

    /// The name with words such as `dry_run` at its end; the end is kept where all of it would be too long.
    pub(super) fn with_suffix(&self, suffix: &str) -> String {
        let name = self.written();
        let suffix = match self.style {
            Style::Snake => format!("_{suffix}"),
            Style::Kebab => format!("-{}", suffix.replace('_', "-")),
            Style::Camel => suffix.split('_').map(capitalised).collect(),
        };
        let room = self.longest.saturating_sub(suffix.chars().count());
        name.chars().take(room).chain(suffix.chars()).collect()
    }

    pub(super) fn written(&self) -> String {
        let joint = match self.style {
            Style::Snake => "_",
            Style::Kebab => "-",
            Style::Camel => "",
        };
        format!("{}{}", self.head, self.words.join(joint))
    }
}

fn style_of(name: &str) -> Style {
    let turns_upper =
        name.chars().zip(name.chars().skip(1)).any(|(a, b)| a.is_lowercase() && b.is_uppercase());
    match (name.contains('_'), name.contains('-')) {
        (true, _) => Style::Snake,
        (_, true) => Style::Kebab,
        _ if turns_upper => Style::Camel,
        _ => Style::Snake,
    }
}

fn camel_words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for letter in name.chars() {
        match words.last_mut() {
            Some(word) if !(letter.is_uppercase() && word.ends_with(char::is_lowercase)) => word.push(letter),
            _ => words.push(letter.to_string()),
        }
    }
    words
}

fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_varied_in_its_own_style() {
        let varied = |name: &str| {
            let name = Name::of(name);
            (name.synonyms().first().map(Name::written), name.with_suffix("dry_run"))
        };
        assert_eq!(
            varied("get_weather"),
            (Some("fetch_weather".to_owned()), "get_weather_dry_run".to_owned())
        );
        assert_eq!(varied("getWeather"), (Some("fetchWeather".to_owned()), "getWeatherDryRun".to_owned()));
        assert_eq!(varied("GetWeather"), (Some("FetchWeather".to_owned()), "GetWeatherDryRun".to_owned()));
        assert_eq!(
            varied("get-weather"),
            (Some("fetch-weather".to_owned()), "get-weather-dry-run".to_owned())
        );
        assert_eq!(varied("web.search"), (Some("web.find".to_owned()), "web.search_dry_run".to_owned()));
        assert_eq!(varied("天気"), (None, "天気_dry_run".to_owned()));
        assert_eq!(varied(""), (None, "_dry_run".to_owned()));
    }

    #[test]
    fn a_long_name_gives_way_to_its_end() {
        let long = "w".repeat(62);
        let varied = Name::of(&long).with_suffix("legacy");
        assert_eq!((varied.chars().count(), varied.ends_with("_legacy")), (64, true));
    }
}
