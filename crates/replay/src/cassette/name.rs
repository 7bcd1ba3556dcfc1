//! What is a cassette's file called?

use mcptest_core::suite::Suite;
use std::path::{Path, PathBuf};

const AGENT_LENGTH: usize = 38;
const MODEL_LENGTH: usize = 21;
const LONGEST_PLAIN: usize = 60;

/// The default place of an agent's runs, or of a test's call.
pub fn default_place(suite: &Suite, name: &str, model: Option<&str>) -> PathBuf {
    let stem = suite.path.file_stem().unwrap_or_default().to_string_lossy();
    suite.folder().join(default_path(&stem, name, model))
}

/// The default path relative to the suite: `cassettes/<suite>/<slug>-<hash>.jsonl`.
///
/// The hash covers the full names, so two agents, or two models of one agent, never share a file.
fn default_path(suite_stem: &str, agent: &str, model: Option<&str>) -> PathBuf {
    let model = model.unwrap_or_default();
    let slugs = [slug(agent, AGENT_LENGTH), slug(model, MODEL_LENGTH)];
    let slug = slugs
        .into_iter()
        .filter(|slug| !slug.is_empty())
        .collect::<Vec<_>>()
        .join("-");
    let slug = if slug.is_empty() { "agent" } else { &slug };
    let hash = short_hash(&[agent, "\0", model].concat(), 12);
    [
        "cassettes",
        &file_safe(suite_stem),
        &format!("{slug}-{hash}.jsonl"),
    ]
    .iter()
    .collect()
}

/// A path with `{model}` replaced by a name that is unique among models.
pub fn with_model(path: &str, model: Option<&str>) -> String {
    path.replace("{model}", &file_safe(model.unwrap_or("default")))
}

/// The file beside a cassette that has this word in its name: `runs.jsonl` and `runs.faults.jsonl`.
pub fn beside(path: &Path, word: &str) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let extension = path.extension().map_or_else(String::new, |ending| {
        format!(".{}", ending.to_string_lossy())
    });
    path.with_file_name(format!("{stem}.{word}{extension}"))
}

/// The text itself if every file system accepts it, otherwise a slug and a hash of the text.
fn file_safe(text: &str) -> String {
    if is_plain(text) {
        return text.to_owned();
    }
    let slug = slug(text, LONGEST_PLAIN);
    let hash = short_hash(text, 8);
    if slug.is_empty() {
        format!("x-{hash}")
    } else {
        format!("{slug}-{hash}")
    }
}

fn is_plain(text: &str) -> bool {
    let is_plain_byte = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.');
    (1..=LONGEST_PLAIN).contains(&text.len())
        && text.bytes().all(is_plain_byte)
        && !text.starts_with(['.', '-'])
        && !text.ends_with('.')
        && !is_reserved(text)
}

/// Names that Windows keeps for devices, whatever follows a dot.
fn is_reserved(text: &str) -> bool {
    let stem = text.split('.').next().unwrap_or_default();
    let is_numbered = |device: &str| {
        matches!(
            stem.strip_prefix(device).map(str::as_bytes),
            Some([b'0'..=b'9'])
        )
    };
    matches!(stem, "con" | "prn" | "aux" | "nul") || is_numbered("com") || is_numbered("lpt")
}

/// Lowercase ASCII words joined by `-`.
fn slug(text: &str, longest: usize) -> String {
    let mut slug = String::new();
    for character in text.chars() {
        if slug.len() == longest {
            break;
        }
        if character.is_ascii_alphanumeric() {
            slug.push(character.to_ascii_lowercase());
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    slug.truncate(slug.trim_end_matches('-').len());
    slug
}

fn short_hash(text: &str, digits: usize) -> String {
    blake3::hash(text.as_bytes()).to_hex()[..digits].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;
    use std::path::Component;

    fn stays_in_the_folder(path: &Path) -> bool {
        path.components().count() == 3
            && path.starts_with("cassettes")
            && path
                .components()
                .all(|part| matches!(part, Component::Normal(_)))
            && path.components().all(|part| part.as_os_str().len() <= 90)
    }

    #[test]
    fn a_default_path_can_be_read() {
        let path = default_path("mcptest", "Weather in Oslo?", Some("claude-x"));
        let name = path.to_str().unwrap();
        assert!(
            name.starts_with("cassettes/mcptest/weather-in-oslo-claude-x-"),
            "{name}"
        );
        assert_eq!(path.extension().unwrap(), "jsonl");
    }

    #[test]
    fn names_that_look_alike_never_share_a_file() {
        let long = "n".repeat(300);
        let longer = format!("{long}n");
        let names = [
            "a b",
            "a_b",
            "a-b",
            "A B",
            "天気",
            "気象",
            &long,
            &longer,
            "../../evil",
            "/etc/passwd",
            "",
            ".",
            "..",
            "con",
            "NUL",
            "com1",
            "name.",
            "name",
            "name ",
            "a/b",
            "a\\b",
            "a\0b",
            "a:b",
            "é",
            "e\u{301}",
        ];
        let mut paths = BTreeSet::new();
        for agent in names {
            for model in [None, Some("m"), Some("M"), Some("天気"), Some("気象")] {
                let path = default_path("suite", agent, model);
                assert!(stays_in_the_folder(&path), "{path:?}");
                assert!(
                    paths.insert(path.to_str().unwrap().to_lowercase()),
                    "{agent:?} {model:?}"
                );
            }
        }
    }

    #[test]
    fn a_suite_name_stays_one_folder() {
        let mut paths = BTreeSet::new();
        for suite in [
            "weather", "Weather", "wea ther", "wea-ther", "..", "../up", "", "con", "aux.x", "a.",
            "天気",
        ] {
            let path = default_path(suite, "a", None);
            assert!(stays_in_the_folder(&path), "{path:?}");
            assert!(
                paths.insert(path.to_str().unwrap().to_lowercase()),
                "{suite:?}"
            );
        }
        assert!(default_path("weather.v2", "a", None).starts_with("cassettes/weather.v2"));
    }

    #[test]
    fn a_model_is_filled_in_without_leaving_its_folder() {
        assert_eq!(
            with_model("runs/{model}.jsonl", Some("gpt-4.1")),
            "runs/gpt-4.1.jsonl"
        );
        assert_eq!(with_model("runs/a.jsonl", Some("m")), "runs/a.jsonl");
        let slashed = with_model("runs/{model}.jsonl", Some("a/b"));
        assert!(
            slashed.starts_with("runs/a-b-") && slashed.matches('/').count() == 1,
            "{slashed}"
        );
        assert_ne!(slashed, with_model("runs/{model}.jsonl", Some("a b")));
        assert_ne!(slashed, with_model("runs/{model}.jsonl", Some("a-b")));
    }

    proptest! {
        #[test]
        fn no_name_leaves_the_folder(suite in any::<String>(), agent in any::<String>(), model in any::<Option<String>>()) {
            prop_assert!(stays_in_the_folder(&default_path(&suite, &agent, model.as_deref())));
        }
    }
}
