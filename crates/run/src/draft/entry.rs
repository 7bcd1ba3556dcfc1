//! How is this server written down, without its secrets?

use super::yaml;
use mcptest_mcp::client::{Endpoint, ServerSpec};
use mcptest_redact::command::secrets_in_words;
use mcptest_redact::is_secret_name;
use mcptest_replay::BARE;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use std::time::Duration;

const SHORTEST_VALUE: usize = 8;
const SECRET_WORDS: [&str; 13] = [
    "key",
    "token",
    "secret",
    "secrets",
    "pass",
    "password",
    "pwd",
    "pat",
    "auth",
    "credential",
    "credentials",
    "cookie",
    "dsn",
];

/// The entry under `servers:`, and the values of its variables.
#[derive(Debug, Default)]
pub(super) struct ServerEntry {
    pub(super) lines: Vec<String>,
    pub(super) variables: BTreeMap<String, String>,
}

impl ServerEntry {
    /// The entry of a server that was started from `here`, for a suite in `folder`. Includes the
    /// time limits of a request and of the start, if given.
    pub(super) fn new(
        spec: &ServerSpec,
        timeout: Option<Duration>,
        folder: &Path,
        here: &Path,
        environment: &BTreeMap<String, String>,
    ) -> Self {
        let mut writer = Writer {
            environment,
            variables: BTreeMap::new(),
        };
        let (mut lines, key, pairs) = match &spec.endpoint {
            Endpoint::Url { url, headers } => (
                vec![format!("url: {}", writer.words(&[url]).concat())],
                "headers",
                headers,
            ),
            Endpoint::Command { words, env, .. } => {
                let words: Vec<&str> = words.iter().map(String::as_str).collect();
                (command(&writer.words(&words), folder, here), "env", env)
            }
            Endpoint::Pipe(_) => return Self::default(),
        };
        if !pairs.is_empty() {
            lines.push(format!("{key}:"));
        }
        for (name, value) in pairs {
            lines.push(format!(
                "  {}: {}",
                yaml::template(name),
                writer.named(name, value)
            ));
        }
        lines.extend(spec.era.map(|era| format!("era: {}", era.as_str())));
        if let Some(timeout) = timeout.map(|timeout| timeout.as_millis()) {
            let written = if timeout % 1000 == 0 {
                format!("{}s", timeout / 1000)
            } else {
                format!("{timeout}ms")
            };
            lines.extend(["timeout", "connect_timeout"].map(|key| format!("{key}: {written}")));
        }
        Self {
            lines,
            variables: writer.variables,
        }
    }
}

/// The lines of an entry whose secrets are already variables.
pub(super) fn of_template(
    words: &[String],
    url: Option<&str>,
    folder: &Path,
    here: &Path,
) -> Vec<String> {
    match url {
        Some(url) => vec![format!("url: {}", yaml::template(url))],
        None => command(
            &words
                .iter()
                .map(|word| yaml::template(word))
                .collect::<Vec<_>>(),
            folder,
            here,
        ),
    }
}

/// The command of a server, which starts in the folder of its suite by default.
fn command(words: &[String], folder: &Path, here: &Path) -> Vec<String> {
    let mut lines = vec![format!("command: [{}]", words.join(", "))];
    let cwd = super::path::between(folder, here);
    if cwd.as_os_str() != "." {
        lines.push(format!("cwd: {}", yaml::text(&cwd.to_string_lossy())));
    }
    lines
}

struct Writer<'e> {
    environment: &'e BTreeMap<String, String>,
    variables: BTreeMap<String, String>,
}

impl Writer<'_> {
    fn words(&mut self, words: &[&str]) -> Vec<String> {
        let secrets = secrets_in_words(BARE.as_ref(), words);
        let before = std::iter::once("").chain(words.iter().copied());
        let parts = words.iter().zip(secrets).zip(before);
        parts
            .map(|((word, mut secrets), before)| {
                secrets.extend(of_option(before, word));
                self.without(word, secrets)
            })
            .collect()
    }

    /// The value under the name of a variable or a header.
    fn named(&mut self, name: &str, value: &str) -> String {
        let is_held = value.len() >= SHORTEST_VALUE
            && self.environment.get(name).is_some_and(|held| held == value);
        // What mcptest hides everywhere cannot be written into a suite, and a part of a value has no variable.
        let is_hidden = mcptest_replay::clean(value) != value;
        let secret = if is_held || is_hidden || sounds_secret(name) {
            // Of an authorization the scheme stays.
            let start = value
                .find(' ')
                .filter(|_| name.eq_ignore_ascii_case("authorization"))
                .map_or(0, |at| at + 1);
            vec![(name.to_owned(), start..value.len())]
        } else {
            Vec::new()
        };
        self.without(value, secret)
    }

    /// The text with a variable for each secret, including tokens of known shape and values of
    /// variables that are set now.
    fn without(&mut self, text: &str, mut secrets: Vec<(String, Range<usize>)>) -> String {
        secrets.extend(BARE.iter().flat_map(|redactor| redactor.find(text)));
        secrets.sort_by_key(|(_, at)| (at.start, std::cmp::Reverse(at.end)));
        let mut written = String::new();
        let mut end = 0;
        for (name, at) in secrets {
            if at.start < end || at.is_empty() {
                continue;
            }
            written.push_str(&text[end..at.start].replace("${", "$${"));
            written.push_str(&format!("${{{}}}", self.variable(&name, &text[at.clone()])));
            end = at.end;
        }
        written.push_str(&text[end..].replace("${", "$${"));
        yaml::template(&written)
    }

    /// The variable with this value: an existing environment variable, or a new one.
    fn variable(&mut self, hint: &str, value: &str) -> String {
        let known = self.variables.iter().chain(self.environment);
        if let Some((name, _)) = known
            .filter(|(_, held)| *held == value && value.len() >= SHORTEST_VALUE)
            .min_by_key(|(name, _)| (!is_secret_name(name), (*name).clone()))
        {
            let name = name.clone();
            self.variables.insert(name.clone(), value.to_owned());
            return name;
        }
        let base = variable_name(hint);
        let is_free = |name: &String| match self.variables.get(name) {
            Some(held) => held == value,
            None => true,
        };
        let numbered = (2..).map(|number| format!("{base}_{number}"));
        let name = std::iter::once(base.clone())
            .chain(numbered)
            .find(is_free)
            .unwrap_or(base.clone());
        self.variables.insert(name.clone(), value.to_owned());
        name
    }
}

/// Returns true if the value of this name should stay out of the draft. Others will read a draft,
/// so this covers more than redaction does.
fn sounds_secret(name: &str) -> bool {
    let words = name
        .split(|c: char| !c.is_ascii_alphanumeric())
        .map(str::to_ascii_lowercase);
    is_secret_name(name)
        || words
            .into_iter()
            .any(|word| SECRET_WORDS.contains(&word.as_str()))
}

/// The value of `--key VALUE` or `--key=VALUE`, if the option sounds secret.
fn of_option(before: &str, word: &str) -> Option<(String, Range<usize>)> {
    let name_of = |option: &str| {
        option
            .strip_prefix("--")
            .or(option.strip_prefix('-'))
            .map(str::to_owned)
    };
    let (name, start) = match word.split_once('=') {
        Some((option, _)) => (name_of(option)?, option.len() + 1),
        None if word.starts_with('-') => return None,
        None => (name_of(before)?, 0),
    };
    let is_value = word.len() - start >= SHORTEST_VALUE && !word[start..].contains('/');
    (is_value && sounds_secret(&name)).then_some((name, start..word.len()))
}

/// `X-Api-Key` as `X_API_KEY`.
pub(super) fn variable_name(hint: &str) -> String {
    let name: String = hint
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() {
                c.to_ascii_uppercase()
            } else {
                '_'
            }
        })
        .collect();
    let name = name.trim_matches('_');
    if name.starts_with(|first: char| first.is_ascii_alphabetic()) {
        name.to_owned()
    } else {
        format!("SECRET_{name}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(
        endpoint: Endpoint,
        timeout: Option<Duration>,
        environment: &[(&str, &str)],
    ) -> ServerEntry {
        let environment = environment
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        let spec = ServerSpec {
            endpoint,
            ..ServerSpec::url("", "")
        };
        ServerEntry::new(
            &spec,
            timeout,
            Path::new("/work"),
            Path::new("/work"),
            &environment,
        )
    }

    fn started(words: &[&str], name: &str, value: &str) -> Endpoint {
        let words = words.iter().map(|word| (*word).to_owned()).collect();
        Endpoint::Command {
            words,
            env: vec![(name.to_owned(), value.to_owned())],
            cwd: None,
        }
    }

    #[test]
    fn a_command_is_written_as_one_would() {
        let endpoint = started(&["npx", "-y", "a b"], "LEVEL", "debug ${x}");
        assert_eq!(
            entry(endpoint, Some(Duration::from_millis(1500)), &[]).lines,
            [
                "command: [npx, -y, a b]",
                "env:",
                "  LEVEL: \"debug $${x}\"",
                "timeout: 1500ms",
                "connect_timeout: 1500ms"
            ]
        );
    }

    #[test]
    fn a_secret_is_a_variable_of_the_name_it_stands_under() {
        let words = [
            "server",
            "--github-token",
            "planted-two",
            "--url=https://u:planted-3@h/",
            "--key",
            "planted-4",
        ];
        let entry = entry(started(&words, "MY_KEY", "planted-one"), None, &[]);
        assert_eq!(
            entry.lines,
            [
                "command: [server, --github-token, \"${GITHUB_TOKEN}\", \"--url=https://u:${PASSWORD}@h/\", --key, \"${KEY}\"]",
                "env:",
                "  MY_KEY: \"${MY_KEY}\"",
            ]
        );
        assert_eq!(entry.variables["GITHUB_TOKEN"], "planted-two");
        assert!(!entry.lines.concat().contains("planted"));
    }

    #[test]
    fn a_value_with_a_secret_in_it_is_one_variable_and_a_plain_value_stays() {
        for (value, written) in [
            (
                "postgres://eve:planted-one@db/shop",
                "  DB_URL: \"${DB_URL}\"",
            ),
            ("debug", "  DB_URL: debug"),
            ("8080", "  DB_URL: \"8080\""),
            ("/tmp", "  DB_URL: /tmp"),
        ] {
            assert_eq!(
                entry(started(&["x"], "DB_URL", value), None, &[]).lines[2],
                written
            );
        }
    }

    #[test]
    fn a_value_that_a_variable_holds_already_has_that_name() {
        let endpoint = Endpoint::Url {
            url: "https://x/mcp?api_key=planted-one".to_owned(),
            headers: vec![
                ("Authorization".to_owned(), "Bearer planted-two".to_owned()),
                ("X-Api-Key".to_owned(), "planted-3".to_owned()),
                (
                    "X-Level".to_owned(),
                    format!("ghp_{}", "a1B2c3D4e5F6".repeat(3)),
                ),
            ],
        };
        let entry = entry(
            endpoint,
            None,
            &[("MY_TOKEN", "planted-two"), ("HOME", "/root")],
        );
        assert_eq!(
            entry.lines,
            [
                "url: \"https://x/mcp?api_key=${API_KEY}\"",
                "headers:",
                "  Authorization: \"Bearer ${MY_TOKEN}\"",
                "  X-Api-Key: \"${X_API_KEY}\"",
                "  X-Level: \"${X_LEVEL}\"",
            ]
        );
    }
}
