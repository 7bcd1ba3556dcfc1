//! Which words and phrases hide the actor or the noun from a reader, and what replaces them?

use crate::rust_file::{File, Passage};
use regex::{Regex, RegexBuilder};
use std::path::Path;

/// A phrase that the project's texts do not use.
struct Retired {
    /// Finds the phrase, whatever its case.
    pattern: &'static str,
    /// Matches from the beginning of a finding that is fine after all.
    except: Option<&'static str>,
    /// What to write instead.
    instead: &'static str,
}

impl Retired {
    const fn new(pattern: &'static str, instead: &'static str) -> Self {
        Self {
            pattern,
            except: None,
            instead,
        }
    }

    const fn except(self, pattern: &'static str) -> Self {
        Self {
            except: Some(pattern),
            ..self
        }
    }
}

const RETIRED: &[Retired] = &[
    Retired::new(r"\b(?:is|are) no [a-z]+", "`is not a`, `are not`")
        .except(r"\S+ no (?:longer|more|less|fewer|evidence|known|limit)\b"),
    Retired::new(r"\b(?:is|are) none\b", "the noun").except(r"\S+ none of\b"),
    Retired::new(
        r"\b(?:that|which) there (?:is|are|was|were)\b",
        "the noun alone, or `existing`",
    ),
    Retired::new(
        r"\bwhere (?:there (?:is|are)|it (?:is|has)|one (?:is|has)|they (?:are|have))\b",
        "`if`, `when`",
    ),
    Retired::new(r"\bnobody\b", "`no` and the actor"),
    Retired::new(
        r"\b(?:is|are|was|were) told\b",
        "the actor with `reports`, `shows` or `receives`",
    )
    .except(r"\S+ told (?:apart|from)\b"),
    Retired::new(
        r"\btells? (?:what|which|whether|how|of|it|that)\b",
        "`reports`, `shows`",
    ),
    Retired::new(r"\b(?:is|are|was|were) said\b", "the actor with `reports`"),
    Retired::new(r"\bsays? so\b", "the fact, repeated"),
    Retired::new(r"\b(?:said|says?) (?:of|by)\b", "a verb with its actor"),
    Retired::new(
        r"\bst(?:ands?|ood) (?:in|at|on|beside|here|there|under|between|after|before|behind)\b",
        "`is`, `appears`, `contains`",
    ),
    Retired::new(r"\bst(?:ands?|ood) for\b", "`means`, `represents`"),
    Retired::new(
        r"\bin (?:the |its |their )?place of\b",
        "`instead of`, `replaces`",
    ),
    Retired::new(r"\bc[ao]mes? to\b", "`is`, `amounts to`, `results in`"),
    Retired::new(
        r"\bwhat (?:came|comes|became|becomes) of\b",
        "`the result of`",
    ),
    Retired::new(r"\bput (?:\w+ )?right\b", "`fix`"),
    Retired::new(r"\bmend(?:s|ed|ing)?\b", "`fix`; for schemas, `rewrite`"),
    Retired::new(
        r"\bso (?:many|much|long)\b",
        "the number, or a clause with `that`",
    )
    .except(r"so \S+ as\b"),
    Retired::new(r"\bso few\b", "`too few`"),
    Retired::new(
        r"(?:^|[.!?|] +)the same(?: *[.|:;]| of\b| as\b)",
        "what is equal, repeated",
    ),
    Retired::new(
        r"\bthose (?:of|that|which|in|under|with|whose)\b",
        "the noun, repeated",
    ),
    Retired::new(
        r"\bof (?:its|their|your|his|our) own\b",
        "`its own`, `your own`, `separate`",
    )
    .except(r"of \S+ own [a-z]"),
    Retired::new(r"\beras?\b", "`the legacy protocol`, `the modern protocol`"),
    Retired::new(r"\bspoken to\b", "`uses`"),
    Retired::new(r"\b(?:meanwhile|in the meantime)\b", "`while` and a clause"),
    Retired::new(
        r"\b(?:is|are|be|was|were) held to\b|\bh[eo]ld(?:s|ing)? (?:\S+ ){1,4}to\b",
        "`checked against`, `enforces`",
    ),
    Retired::new(r"\bpass(?:es|ed)? over\b", "`ignore`, `skip`"),
    Retired::new(r"\b(?:go(?:es)? on|went on)\b", "`continues`"),
    Retired::new(
        r"\b(?:left|leaves?) (?:\S+ )?out\b",
        "`omit`, or `If omitted, …`",
    ),
    Retired::new(
        r"\b(?:tak(?:e|es|en)|took) (?:\S+ )?(?:out|away|from it)\b",
        "`remove`",
    ),
    Retired::new(
        r"\bthere (?:is|are|was|were) (?:nothing|no|none)\b",
        "`is empty`, `has no value`, `no … found`",
    ),
    Retired::new(r"\bnot known\b", "`unknown`"),
    Retired::new(
        r"\bone (?:for one|after the other|beside the other)\b",
        "`in order`, `one at a time`",
    ),
    Retired::new(r"\b(?:and|but) (?:no other|nothing else)\b", "`only`"),
    Retired::new(
        r"\b(?:is|are) (?:another|other) (?:than|each time|from)\b|\banother each time\b",
        "`differs`, `changes`",
    ),
    Retired::new(r"\banew\b", "`again`"),
    Retired::new(
        r"\bwhoever\b|(?:^|[.!?] )who (?:asks|reads|wants|has|writes)\b",
        "`you`, or the actor",
    ),
    Retired::new(
        r"\bas (?:it (?:is|was|stands)|they (?:are|were))\b",
        "`unchanged`, `verbatim`",
    )
    .except(r"as \S+ \S+ (?:recorded|written|read|made|sent|called|listed|committed)\b"),
    Retired::new(
        r"\bwhat (?:is|are|was|were) (?:no|not|said|told|meant|left|wrong)\b",
        "the name of the thing",
    ),
    Retired::new(
        r"^(?:#+ |[-*] |\| *)?(?-i:What|That|Whether|How|Who)\b",
        "the actor or a verb at the beginning",
    )
    .except(r".*\?|.* it does not see$"),
];

/// A text that may use a retired phrase.
struct Exception {
    /// A file, or the folder of several.
    path: &'static str,
    /// The part of the text that is fine. Empty: all texts of the files.
    text: &'static str,
    #[expect(dead_code, reason = "people read it")]
    reason: &'static str,
}

const EXCEPTIONS: &[Exception] = &[
    Exception {
        path: "CONTRIBUTING.md",
        text: "| ",
        reason: "the table of pairs shows what not to write",
    },
    Exception {
        path: "xtask/src/tidy/words.rs",
        text: "",
        reason: "the patterns contain the phrases",
    },
    Exception {
        path: "xtask/src/gate_power/",
        text: "",
        reason: "messages of agents that are edited into runs",
    },
];

/// Files whose words are somebody else's: users, models, packages.
const NOT_OURS: &[&str] = &[
    "tests/",
    "examples/failing/",
    "fuzz/",
    "viewer/node_modules/",
];

/// Finds retired words.
pub(super) struct RetiredWords {
    finders: Vec<Finder>,
    code_span: Regex,
}

struct Finder {
    pattern: Regex,
    except: Option<Regex>,
    instead: &'static str,
}

impl RetiredWords {
    pub(super) fn new() -> Result<Self, String> {
        Ok(Self {
            finders: RETIRED.iter().map(Finder::new).collect::<Result<_, _>>()?,
            code_span: compile("`[^`]*`")?,
        })
    }

    /// The retired phrases in a file: in Markdown, and in the documentation and the texts of Rust.
    pub(super) fn complaints_about_file(&self, path: &str, text: &str) -> Vec<String> {
        let is_test = path.contains("/tests/") || path.ends_with("tests.rs");
        if is_test || NOT_OURS.iter().any(|folder| path.starts_with(folder)) {
            return Vec::new();
        }
        let passages = match Path::new(path).extension().and_then(|it| it.to_str()) {
            Some("md") => prose_of_markdown(text)
                .map(|(line, text)| Passage {
                    line,
                    text: text.to_owned(),
                })
                .collect(),
            Some("rs") => passages_of_rust(text),
            _ => return Vec::new(),
        };
        let is_excepted = |passage: &Passage| {
            EXCEPTIONS.iter().any(|exception| {
                path.starts_with(exception.path) && passage.text.contains(exception.text)
            })
        };
        let ours = passages.iter().filter(|passage| !is_excepted(passage));
        ours.flat_map(|Passage { line, text }| {
            let complaints = self.complaints_about(text).into_iter();
            complaints.map(move |complaint| format!("{path}:{line}: {complaint}"))
        })
        .collect()
    }

    /// One sentence for each retired phrase in a passage of prose. Code spans are not prose.
    fn complaints_about(&self, passage: &str) -> Vec<String> {
        let prose = self.code_span.replace_all(passage, "`code`");
        let finders = self.finders.iter();
        let found = finders.filter_map(|finder| Some((finder, finder.find(&prose)?)));
        found
            .map(|(finder, phrase)| {
                format!(
                    "“{}” hides who or what; write {}",
                    phrase.trim(),
                    finder.instead
                )
            })
            .collect()
    }
}

impl Finder {
    fn new(retired: &Retired) -> Result<Self, String> {
        let anchored = |pattern: &str| compile(&format!("^(?:{pattern})"));
        Ok(Self {
            pattern: compile(retired.pattern)?,
            except: retired.except.map(anchored).transpose()?,
            instead: retired.instead,
        })
    }

    /// The first phrase that no exception covers.
    fn find<'t>(&self, prose: &'t str) -> Option<&'t str> {
        let mut found = self.pattern.find_iter(prose);
        let is_excepted = |from: usize| match &self.except {
            Some(except) => except.is_match(&prose[from..]),
            None => false,
        };
        let phrase = found.find(|phrase| !is_excepted(phrase.start()))?;
        Some(phrase.as_str())
    }
}

fn compile(pattern: &str) -> Result<Regex, String> {
    RegexBuilder::new(pattern)
        .case_insensitive(true)
        .build()
        .map_err(|error| error.to_string())
}

/// The documentation and the texts of a Rust file. One that cannot be read is complained about elsewhere.
fn passages_of_rust(text: &str) -> Vec<Passage> {
    let file = File::read(text).unwrap_or_default();
    let both = file.documentation().iter().chain(file.texts());
    both.cloned().collect()
}

/// The lines of a Markdown text outside fenced blocks, with their numbers.
fn prose_of_markdown(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut is_fenced = false;
    (1..).zip(text.lines()).filter(move |(_, line)| {
        let is_fence = line.trim_start().starts_with("```");
        if is_fence {
            is_fenced = !is_fenced;
        }
        !is_fence && !is_fenced
    })
}

#[cfg(test)]
mod tests {
    use super::{RetiredWords, prose_of_markdown};

    fn count(line: &str) -> usize {
        let words = RetiredWords::new().expect("the patterns compile");
        words.complaints_about(line).len()
    }

    #[test]
    fn a_retired_phrase_is_found_with_what_to_write_instead() {
        let words = RetiredWords::new().expect("the patterns compile");
        let complaints = words.complaints_about("`{}` is no JSON Schema");
        assert_eq!(
            complaints,
            ["“is no JSON” hides who or what; write `is not a`, `are not`"]
        );
        for line in [
            "the server's answer is none",
            "Where there is one, it is used",
            "Whoever reads the suite",
            "How long an answer may take",
            "- What one run leaves behind",
            "a list in place of a map",
            "`b` is as it was",
        ] {
            assert!(count(line) > 0, "{line}");
        }
    }

    #[test]
    fn exceptions_and_code_are_left_alone() {
        for line in [
            "The agent is no longer tested.",
            "How many runs are enough?",
            "## What it does not see",
            "It is told apart by its name.",
            "`era` and `mend` are values of keys",
            "the calls as they are recorded",
            "none of these",
        ] {
            assert_eq!(count(line), 0, "{line}");
        }
        // An exception does not hide a second phrase of the same kind.
        assert_eq!(count("it is no longer here and is no map"), 1);
    }

    #[test]
    fn fenced_blocks_are_no_prose() {
        let text = "Before.\n```yaml\nanew: 1\n```\nAfter.\n";
        let lines: Vec<_> = prose_of_markdown(text).collect();
        assert_eq!(lines, [(1, "Before."), (5, "After.")]);
    }
}
