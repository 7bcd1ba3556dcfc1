//! Which words and phrases hide the actor or the noun from a reader, and what replaces them?

use crate::rust_file::{File, Passage};
use regex::{Regex, RegexBuilder};
use std::path::Path;

/// A phrase that the project's texts do not use.
struct Retired {
    /// The phrase, in any case.
    pattern: &'static str,
    /// Matches from the beginning of a finding that is fine after all.
    except: Option<&'static str>,
    /// The replacement.
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
    )
    .except(r"\S+ in addition to"),
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
    Retired::new(r"\b(?:and|but) (?:no other|nothing else)\b", "`only`")
        .except(r"\S+ no other [a-z]"),
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
        r"^(?:#+ |[-*] |\| *)?(?-i:What|That|Whether|How|Who)\b|[.!?] +(?-i:What|Whether|How|Who)\b|\| *(?-i:Whether|How|Who)\b",
        "the actor or a verb at the beginning",
    )
    .except(r".[^.!|]*\?|.* it does not see$"),
];

/// Texts that may use retired phrases.
struct Exception {
    /// A file, or a folder if it ends in `/`.
    path: &'static str,
    /// A part of the text. Empty: all texts of the file or folder.
    text: &'static str,
    #[expect(dead_code, reason = "people read it")]
    reason: &'static str,
}

const EXCEPTIONS: &[Exception] = &[
    Exception {
        path: "CONTRIBUTING.md",
        text: "| ",
        reason: "the table of language quotes retired phrases",
    },
    Exception {
        path: "CONTRIBUTING.md",
        text: "Write \"is not a\"",
        reason: "the rule quotes retired phrases",
    },
    Exception {
        path: "crates/core/src/gates/distractors/near_duplicate.rs",
        text: "",
        reason: "descriptions of tools that imitate those of servers, which recordings contain",
    },
    Exception {
        path: "crates/core/src/grade/prompt.rs",
        text: "You grade what an AI agent did",
        reason: "the prompt is part of the fingerprints of grades",
    },
    Exception {
        path: "crates/redact/src/own.rs",
        text: " caller ",
        reason: "a list of keys that formats use",
    },
    Exception {
        path: "crates/redact/src/own.rs",
        text: "era how",
        reason: "a list of keys that formats use",
    },
    Exception {
        path: "crates/run/src/draft/entry.rs",
        text: "era: ",
        reason: "a key of suites",
    },
    Exception {
        path: "docs/schema/",
        text: "",
        reason: "generated from texts that are checked in the code",
    },
    Exception {
        path: "examples/failing/",
        text: "",
        reason: "recordings, whose words are those of models",
    },
    Exception {
        path: "fuzz/",
        text: "",
        reason: "inputs that imitate other programs",
    },
    Exception {
        path: "tests/",
        text: "",
        reason: "suites, manifests and answers that imitate those of users and servers",
    },
    Exception {
        path: "xtask/src/tidy/words.rs",
        text: "",
        reason: "the patterns contain the phrases",
    },
];

impl Exception {
    fn covers(&self, path: &str, passage: &Passage) -> bool {
        let is_of_folder = self.path.ends_with('/') && path.starts_with(self.path);
        (is_of_folder || path == self.path) && passage.text.contains(self.text)
    }
}

/// Finds retired words.
pub(super) struct RetiredWords {
    finders: Vec<Finder>,
    /// Code spans, and the placeholders of format strings.
    code: Regex,
    /// Comments, strings and texts of elements in a line of TypeScript.
    texts_of_typescript: Regex,
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
            code: compile(r"`[^`]*`|\{[a-z_]*(?::[^}]*)?\}")?,
            texts_of_typescript: compile(
                r#"(?:^|\s)/(?:/|\*\*?) (.*)|^\s*\* (.*)|'([^']* [^']*)'|"([^"]* [^"]*)"|`([^`]* [^`]*)`|>([^<>{}]* [^<>{}]*)<"#,
            )?,
        })
    }

    /// The retired phrases in a file: in Markdown, and in the documentation and the texts of Rust.
    pub(super) fn complaints_about_file(&self, path: &str, text: &str) -> Vec<String> {
        if path.contains("/tests/") || path.ends_with("tests.rs") {
            return Vec::new();
        }
        let passages = match Path::new(path).extension().and_then(|it| it.to_str()) {
            Some("md") => prose_of_markdown(text),
            Some("rs") => passages_of_rust(text),
            Some("ts" | "tsx") => self.passages_of_typescript(text),
            Some("yml") => comments_of_yaml(text),
            Some("json") if path.ends_with(".schema.json") => descriptions_of_schema(text),
            _ => return Vec::new(),
        };
        let is_excepted = |passage: &Passage| {
            let mut exceptions = EXCEPTIONS.iter();
            exceptions.any(|exception| exception.covers(path, passage))
        };
        let ours = passages.iter().filter(|passage| !is_excepted(passage));
        ours.flat_map(|Passage { line, text }| {
            let complaints = self.complaints_about(text).into_iter();
            complaints.map(move |complaint| format!("{path}:{line}: {complaint}"))
        })
        .collect()
    }

    /// One sentence for each retired phrase in a passage of prose. Code is not prose.
    fn complaints_about(&self, passage: &str) -> Vec<String> {
        let one_line = passage.replace('\n', " ");
        let prose = self.code.replace_all(&one_line, "`code`");
        let finders = self.finders.iter();
        let found = finders.filter_map(|finder| Some((finder, finder.find(&prose)?)));
        let retired = found.map(|(finder, phrase)| {
            let phrase = phrase.trim();
            format!("“{phrase}” is retired; write {}", finder.instead)
        });
        let repeated = repeated_phrase(&prose);
        let repeated = repeated.map(|phrase| format!("“{phrase}” is written twice in a row"));
        retired.chain(repeated).collect()
    }

    /// The comments, strings and texts of elements in TypeScript, line by line. Texts without a space are keys.
    fn passages_of_typescript(&self, text: &str) -> Vec<Passage> {
        let lines = (1..).zip(text.lines());
        lines
            .flat_map(|(line, text)| {
                let found = self.texts_of_typescript.captures_iter(text);
                found.filter_map(move |found| {
                    let text = found.iter().skip(1).flatten().next()?.as_str();
                    let text = text.trim_end_matches("*/").to_owned();
                    Some(Passage { line, text })
                })
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

/// The longest phrase that is searched for a repetition, in words.
const LONGEST_REPEATED: usize = 6;

/// A phrase of two words or more that directly follows itself: a slip of an edit.
fn repeated_phrase(prose: &str) -> Option<String> {
    let words: Vec<&str> = prose.split_whitespace().collect();
    let is_word = |word: &&str| word.chars().all(char::is_alphabetic);
    (2..=LONGEST_REPEATED).find_map(|length| {
        let pairs = words.windows(2 * length);
        let mut repeated = pairs.map(|pair| pair.split_at(length));
        let (phrase, _) = repeated.find(|(phrase, next)| {
            let mut others = phrase.iter().zip(*next);
            phrase.iter().all(is_word) && others.all(|(word, other)| word == other)
        })?;
        Some(phrase.join(" "))
    })
}

/// The documentation and the texts of a Rust file. Texts without a space are keys, names or paths. A file that cannot
/// be read is complained about elsewhere.
fn passages_of_rust(text: &str) -> Vec<Passage> {
    let file = File::read(text).unwrap_or_default();
    let has_words = |passage: &&Passage| passage.text.trim().contains(' ');
    let texts = file.texts().iter().filter(has_words);
    file.documentation().iter().chain(texts).cloned().collect()
}

/// The comments of a YAML text. Comments on consecutive lines are one passage.
fn comments_of_yaml(text: &str) -> Vec<Passage> {
    let mut passages: Vec<Passage> = Vec::new();
    let mut last_line = 0;
    for (line, text) in (1..).zip(text.lines()) {
        let Some(comment) = text.trim().strip_prefix("# ") else {
            continue;
        };
        match passages.last_mut().filter(|_| last_line + 1 == line) {
            Some(passage) => {
                passage.text.push(' ');
                passage.text.push_str(comment);
            }
            None => passages.push(Passage {
                line,
                text: comment.to_owned(),
            }),
        }
        last_line = line;
    }
    passages
}

/// The descriptions in a JSON Schema, one per line.
fn descriptions_of_schema(text: &str) -> Vec<Passage> {
    const KEY: &str = "\"description\": \"";
    let lines = (1..).zip(text.lines());
    let description = |line: &str| {
        let begins = line.find(KEY)? + KEY.len();
        let ends = begins + line[begins..].find('"')?;
        Some(line[begins..ends].to_owned())
    };
    lines
        .filter_map(|(line, text)| description(text).map(|text| Passage { line, text }))
        .collect()
}

/// The paragraphs, headings, list items and rows of a Markdown text, each in one line. Fenced blocks are not prose.
fn prose_of_markdown(text: &str) -> Vec<Passage> {
    let mut passages: Vec<Passage> = Vec::new();
    let mut is_fenced = false;
    let mut is_paragraph = false;
    for (line, text) in (1..).zip(text.lines()) {
        let text = text.trim();
        let is_fence = text.starts_with("```");
        is_fenced ^= is_fence;
        if is_fence || is_fenced || text.is_empty() {
            is_paragraph = false;
            continue;
        }
        let begins = text.starts_with(['#', '|', '>', '<']) || is_list_item(text);
        match passages.last_mut().filter(|_| is_paragraph && !begins) {
            Some(paragraph) => {
                paragraph.text.push(' ');
                paragraph.text.push_str(text);
            }
            None => passages.push(Passage {
                line,
                text: text.to_owned(),
            }),
        }
        is_paragraph = !text.starts_with('#');
    }
    passages
}

fn is_list_item(text: &str) -> bool {
    let marker = text.split(' ').next().unwrap_or_default();
    let number = marker.trim_end_matches('.');
    marker == "-" || marker == "*" || number.len() < marker.len() && number.parse::<u32>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::{Finder, RETIRED, RetiredWords, prose_of_markdown};

    fn count(line: &str) -> usize {
        let words = RetiredWords::new().expect("the patterns compile");
        words.complaints_about(line).len()
    }

    /// For each retired phrase in order: a text with it, and its replacement.
    const EXAMPLES: &[(&str, &str)] = &[
        ("`{}` is no JSON Schema", "`{}` is not a valid JSON Schema"),
        (
            "the server's answer is none",
            "the server sent a message that is not a response",
        ),
        ("the kinds that there are", "the valid kinds"),
        ("where there is one", "if one exists"),
        ("nobody was asked", "no judge was called"),
        (
            "the agent is told after 300 ms",
            "the agent receives the error after 300 ms",
        ),
        ("tells what is breaking", "reports breaking changes"),
        (
            "everything is said at once",
            "mcptest reports all problems at once",
        ),
        (
            "a run that fails says so",
            "the row reports that the run failed",
        ),
        ("what rules say of each tool", "the findings for each tool"),
        (
            "a key stands beside `agents:`",
            "a key is next to `agents:`",
        ),
        ("`*` stands for any tool", "`*` means any tool"),
        ("a list in place of a map", "a list instead of a map"),
        ("it comes to 5", "it amounts to 5"),
        ("what came of the call", "the result of the call"),
        ("put it right", "fix the problem"),
        ("mend the schema", "rewrite the schema"),
        ("with so many runs", "with 10 runs"),
        ("so few runs would not show it", "too few runs to show it"),
        ("The same.", "Like `contains`, but ignores case."),
        ("with those of the server", "with the server's tools"),
        ("in a row of its own", "in a separate row"),
        ("in both eras", "with the legacy and the modern protocol"),
        (
            "it is spoken to in the old form",
            "it uses the legacy protocol",
        ),
        ("changed meanwhile", "changed while this command ran"),
        ("it is held to the rules", "it is checked against the rules"),
        ("pass over notifications", "ignore notifications"),
        ("the server goes on", "the server continues"),
        ("all, when left out", "[default: all]"),
        ("secrets are taken out", "mcptest removes secrets"),
        ("there is nothing at `{}`", "`{}` has no value"),
        ("tokens are not known", "tokens are unknown"),
        ("sent one after the other", "sent one at a time"),
        (
            "the runs in progress, and no other",
            "only the runs in progress",
        ),
        (
            "the times are another each time",
            "the times differ every time",
        ),
        ("records the row anew", "records the row again"),
        ("whoever reads the suite", "anyone who can read the suite"),
        ("kept as it was", "kept unchanged"),
        ("what is no recording", "files that are not recordings"),
        (
            "How long an answer may take",
            "The time limit for an answer",
        ),
    ];

    #[test]
    fn each_retired_phrase_is_refused_and_its_replacement_accepted() {
        assert_eq!(EXAMPLES.len(), RETIRED.len());
        for (retired, (not, but)) in RETIRED.iter().zip(EXAMPLES) {
            let finder = Finder::new(retired).expect("the pattern compiles");
            assert!(finder.find(not).is_some(), "{} in {not}", retired.pattern);
            assert_eq!(count(but), 0, "{but}");
        }
    }

    #[test]
    fn a_complaint_names_the_phrase_and_what_to_write_instead() {
        let words = RetiredWords::new().expect("the patterns compile");
        assert_eq!(
            words.complaints_about("`{}` is no JSON Schema"),
            ["“is no JSON” is retired; write `is not a`, `are not`"]
        );
    }

    #[test]
    fn a_phrase_that_follows_itself_is_refused() {
        let words = RetiredWords::new().expect("the patterns compile");
        assert_eq!(
            words.complaints_about("write it write it as `30s`"),
            ["“write it” is written twice in a row"]
        );
        assert_eq!(count("the end of the connection of the connection"), 1);
        assert_eq!(count("run 1 of 2, run 2 of 2; `a b a b`"), 0);
    }

    #[test]
    fn comments_strings_and_elements_of_typescript_are_checked() {
        let words = RetiredWords::new().expect("the patterns compile");
        let page = "// Kept as it was.\n/** Drawn anew. */\nconst a = 'is no tool' + \"anew\";\n\
            return <p>Nobody asked</p>;\n";
        assert_eq!(
            words.complaints_about_file("viewer/src/page.tsx", page),
            [
                "viewer/src/page.tsx:1: “as it was” is retired; write `unchanged`, `verbatim`",
                "viewer/src/page.tsx:2: “anew” is retired; write `again`",
                "viewer/src/page.tsx:3: “is no tool” is retired; write `is not a`, `are not`",
                "viewer/src/page.tsx:4: “Nobody” is retired; write `no` and the actor"
            ]
        );
    }

    #[test]
    fn markdown_documentation_texts_comments_and_descriptions_are_checked() {
        let words = RetiredWords::new().expect("the patterns compile");
        let markdown = "# A page\n\nKept as it was.\n";
        assert_eq!(
            words.complaints_about_file("docs/page.md", markdown),
            ["docs/page.md:3: “as it was” is retired; write `unchanged`, `verbatim`"]
        );
        let rust = "/// Kept as it was.\nconst A: &str = \"is no tool: {era}\";\nconst B: &str = \"anew\";\n";
        assert_eq!(
            words.complaints_about_file("src/a.rs", rust),
            [
                "src/a.rs:1: “as it was” is retired; write `unchanged`, `verbatim`",
                "src/a.rs:2: “is no tool” is retired; write `is not a`, `are not`"
            ]
        );
        assert!(words.complaints_about_file("src/tests.rs", rust).is_empty());
        let suite = "a: 1\n# Kept as\n# it was.\n\n# A page.\n";
        assert_eq!(
            words.complaints_about_file("examples/a.yml", suite),
            ["examples/a.yml:2: “as it was” is retired; write `unchanged`, `verbatim`"]
        );
        let schema = "{\n\"a\": { \"description\": \"Kept as it was.\" }\n}";
        assert_eq!(
            words.complaints_about_file("a.schema.json", schema),
            ["a.schema.json:2: “as it was” is retired; write `unchanged`, `verbatim`"]
        );
    }

    #[test]
    fn exceptions_and_code_are_left_alone() {
        for line in [
            "The agent is no longer tested.",
            "How many runs are enough?",
            "Compare them. How many runs are enough?",
            "## What it does not see",
            "It is told apart by its name.",
            "`era` and `mend` are values of keys",
            "the calls as they are recorded",
            "none of these",
        ] {
            assert_eq!(count(line), 0, "{line}");
        }
        assert_eq!(count("Compare them. How they differ is reported."), 1);
        // An exception does not hide a second phrase of the same kind.
        assert_eq!(count("it is no longer here and is no map"), 1);
    }

    #[test]
    fn a_markdown_paragraph_is_one_passage_and_fenced_blocks_are_not_prose() {
        let text =
            "# Title\nBefore\nit.\n```yaml\nanew: 1\n```\n- One\n  item.\n2. Two.\n| a |\n| b |\n";
        let passages = prose_of_markdown(text);
        let passages: Vec<_> = passages
            .iter()
            .map(|it| (it.line, it.text.as_str()))
            .collect();
        assert_eq!(
            passages,
            [
                (1, "# Title"),
                (2, "Before it."),
                (7, "- One item."),
                (9, "2. Two."),
                (10, "| a |"),
                (11, "| b |"),
            ]
        );
    }
}
