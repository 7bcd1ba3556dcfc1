//! Which differences do not count?

use std::str::FromStr;
use thiserror::Error;

/// Differences that do not count: `result.content[0].text`, `/result/content/*/text`, `get_time:result`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ignore {
    written: String,
    name: Option<String>,
    segments: Vec<String>,
}

/// Why a path cannot be ignored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("{reason}; write it as `result.content[0].text` or `get_time:result`")]
pub struct BadIgnore {
    /// The problem.
    reason: &'static str,
}

impl FromStr for Ignore {
    type Err = BadIgnore;

    fn from_str(text: &str) -> Result<Self, BadIgnore> {
        let (name, path) = match text.rsplit_once(':') {
            Some((name, path)) => (Some(name.to_owned()), path),
            None => (None, text),
        };
        if let Some(reason) = broken(path) {
            return Err(BadIgnore { reason });
        }
        Ok(Self {
            written: text.to_owned(),
            name,
            segments: segments(path),
        })
    }
}

impl Ignore {
    /// The path as written.
    pub(super) fn written(&self) -> &str {
        &self.written
    }

    /// Returns true if the path is the ignored one or below it. `*` matches one part, `**` any number.
    pub(super) fn covers(&self, name: &str, path: &str) -> bool {
        self.name
            .as_deref()
            .is_none_or(|wanted| wanted == name || wanted == "*")
            && fits(&self.segments, &segments(path))
    }
}

fn fits(pattern: &[String], path: &[String]) -> bool {
    match pattern.split_first() {
        None => true,
        Some((first, rest)) if first == "**" => {
            (0..=path.len()).any(|skipped| fits(rest, &path[skipped..]))
        }
        Some((first, rest)) => path
            .split_first()
            .is_some_and(|(part, below)| (first == "*" || first == part) && fits(rest, below)),
    }
}

/// The problem with a path, if any.
fn broken(path: &str) -> Option<&'static str> {
    let path = path.strip_prefix('/').unwrap_or(path);
    if path.is_empty() {
        return Some("it has no path");
    }
    for (index, part) in path.split(['.', '/']).enumerate() {
        let mut indices = part.split('[');
        let key = indices.next().unwrap_or_default();
        if key.contains(']') {
            return Some("it has a `]` without its `[`");
        }
        let mut is_empty = key.is_empty() && (index > 0 || !part.starts_with('['));
        for within in indices {
            match within.split_once(']') {
                None => return Some("it has a `[` without its `]`"),
                Some((_, rest)) if !rest.is_empty() => {
                    return Some("only `.` or `[` can follow a `]`");
                }
                Some((within, _)) => is_empty |= within.is_empty(),
            }
        }
        if is_empty {
            return Some("a part of it is empty");
        }
    }
    None
}

fn segments(path: &str) -> Vec<String> {
    path.split(['.', '/', '[', ']'])
        .filter(|part| !part.is_empty())
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ignored_path_covers_what_lies_below_it() {
        let covers = |pattern: &str, name: &str, path: &str| {
            pattern.parse::<Ignore>().unwrap().covers(name, path)
        };
        assert!(covers(
            "result.content[0].text",
            "t",
            "result.content[0].text"
        ));
        assert!(covers(
            "/result/content/*/text",
            "t",
            "result.content[3].text"
        ));
        assert!(covers(
            "result.structuredContent",
            "t",
            "result.structuredContent.now.utc"
        ));
        assert!(covers(
            "**.timestamp",
            "t",
            "result.structuredContent.list[2].timestamp"
        ));
        assert!(covers("get_time:result", "get_time", "result.isError"));
        assert!(!covers("get_time:result", "get_weather", "result.isError"));
        assert!(!covers(
            "result.content[0].text",
            "t",
            "result.content[1].text"
        ));
        assert!(covers(
            "file:///a.txt:result",
            "file:///a.txt",
            "result.contents"
        ));
    }

    #[test]
    fn a_path_that_is_broken_is_refused_with_the_reason() {
        for (written, reason) in [
            ("nosuch[", "it has a `[` without its `]`"),
            ("a]", "it has a `]` without its `[`"),
            ("a[0]b", "only `.` or `[` can follow a `]`"),
            ("a..b", "a part of it is empty"),
            ("a[]", "a part of it is empty"),
            ("result.", "a part of it is empty"),
            ("get_time:", "it has no path"),
            (":", "it has no path"),
            ("", "it has no path"),
        ] {
            let refused = written.parse::<Ignore>().unwrap_err().to_string();
            assert!(refused.starts_with(reason), "{written}: {refused}");
        }
    }
}
