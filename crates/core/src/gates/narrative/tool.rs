//! What does a tool do, according to its name and its arguments?

use super::lexicon::{LEXICON, Traits, noun_key, singular, traits};
use super::token::{Token, name_parts};
use super::verbs::Vocabulary;
use crate::hashed::HashSet;

const SALIENT_LENGTH: usize = 3;
/// The maximum number of bytes of a statement or command to read for its effect.
const READ_OF_CODE: usize = 2000;

/// The possible changes by a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effect {
    /// A tool that only reads.
    Read,
    /// The change that its name describes.
    Write,
    /// The change that an SQL statement describes.
    Sql,
    /// A tool that can do anything: a shell, a script, or a name without a known verb.
    Anything,
}

/// The meaning of a tool's name.
#[derive(Debug, Clone)]
pub(super) struct ToolName {
    /// Its words, in compared form.
    pub(super) keys: Vec<String>,
    /// The words that a text must have to mention the tool, as read and in compared form.
    salient: Vec<(String, String)>,
    pub(super) effect: Effect,
    /// The verb of its action.
    pub(super) verb: Option<String>,
    /// The verb of a noun after a light verb: `issue_refund` refunds.
    pub(super) nominal: Option<&'static str>,
    /// The thing that it does this to: the last word before a preposition.
    pub(super) head: Option<String>,
    /// The words behind its verb, in compared form.
    pub(super) nouns: Vec<String>,
    /// The destination: `channel` of `add_user_to_channel` and of `send_channel_message`.
    pub(super) destinations: Vec<String>,
}

impl ToolName {
    pub(super) fn new(name: &str, vocabulary: &Vocabulary) -> Self {
        let parts = name_parts(name);
        let keyed = |part: &String| (singular(part).to_owned(), noun_key(part).into_owned());
        let NamedEffect { effect, verb } = NamedEffect::read(&parts, vocabulary);
        let head = verb.and_then(|at| head(&parts, at));
        let behind = verb.map_or(&[][..], |at| &parts[at + 1..]);
        let is_light = verb.is_some_and(|at| traits(&parts[at]).has(Traits::LIGHT));
        let nominal = head.as_deref().filter(|_| is_light);
        Self {
            nominal: nominal.and_then(|head| LEXICON.action(head)),
            nouns: behind
                .iter()
                .filter(|part| !traits(part).has(Traits::PREPOSITION))
                .map(|part| noun_key(part).into_owned())
                .collect(),
            destinations: destinations(behind, head.as_deref()),
            keys: parts
                .iter()
                .map(|part| noun_key(part).into_owned())
                .collect(),
            salient: parts
                .iter()
                .map(keyed)
                .filter(|(word, _)| word.chars().count() >= SALIENT_LENGTH)
                .collect(),
            effect,
            verb: verb.map(|at| parts[at].clone()),
            head,
        }
    }

    /// The salient words that a text does not have.
    pub(super) fn missing_from(&self, words: &Words) -> Vec<&str> {
        let is_missing = |(_, key): &&(String, String)| !words.has(key);
        self.salient
            .iter()
            .filter(is_missing)
            .map(|(word, _)| word.as_str())
            .collect()
    }

    /// Returns true if the name contains a verb, in any form, and a thing.
    pub(super) fn names(&self, verb: &str, object: &[String], vocabulary: &Vocabulary) -> bool {
        let is_verb = |key: &String| {
            *key == *noun_key(verb)
                || vocabulary
                    .form(key)
                    .is_some_and(|form| vocabulary.base(form) == verb)
        };
        self.keys.iter().any(is_verb) && object.last().is_none_or(|noun| self.keys.contains(noun))
    }

    /// Returns true if the head of the name is one of these nouns.
    pub(super) fn is_about(&self, nouns: &[String]) -> bool {
        self.head.as_ref().is_some_and(|head| nouns.contains(head))
    }

    /// Returns true if the tool writes, its verb is not loose, and its object is an independent thing, not a container for
    /// others.
    pub(super) fn is_specific(&self) -> bool {
        let is_vague = |head: &String| traits(head).has(Traits::CARRIER.and(Traits::VAGUE));
        let verb = self.verb.as_deref().unwrap_or_default();
        self.effect == Effect::Write
            && !traits(verb).has(Traits::LOOSE)
            && !self.head.as_ref().is_none_or(is_vague)
    }
}

/// Returns true if a call only reads, by the name of its tool and the text of its arguments. A statement or request that
/// changes something is not a read, wherever it begins.
pub(crate) fn only_reads(name: &str, arguments: &str) -> bool {
    let tool = ToolName::new(name, &Vocabulary::new(super::Extraction::Rules));
    tool.effect == Effect::Read && effect_of(&tool, arguments) == Effect::Read
}

/// The effect that a name's words mean, and the index of the verb.
#[derive(Debug, Clone, Copy)]
struct NamedEffect {
    effect: Effect,
    verb: Option<usize>,
}

impl NamedEffect {
    const READ: Self = Self {
        effect: Effect::Read,
        verb: None,
    };
    const ANYTHING: Self = Self {
        effect: Effect::Anything,
        verb: None,
    };

    fn write(verb: usize) -> Self {
        Self {
            effect: Effect::Write,
            verb: Some(verb),
        }
    }

    /// The first verb in a name decides its effect. A word that can also be a noun counts only at
    /// the beginning.
    fn read(parts: &[String], vocabulary: &Vocabulary) -> Self {
        let reads = parts.iter().any(|part| is(part, Traits::READ));
        let by_word = |at: usize| {
            let may_be_noun = is(&parts[at], Traits::NOUN_VERB);
            let is_last = at > 0 && at + 1 == parts.len();
            Self::by_word(parts, at, vocabulary, may_be_noun && (reads || is_last))
        };
        let otherwise = if reads { Self::READ } else { Self::ANYTHING };
        (0..parts.len()).find_map(by_word).unwrap_or(otherwise)
    }

    /// The effect of a name by one of its words, if the word is the verb.
    fn by_word(
        parts: &[String],
        at: usize,
        vocabulary: &Vocabulary,
        is_noun: bool,
    ) -> Option<Self> {
        let (part, behind) = (&parts[at], &parts[at + 1..]);
        if is(part, Traits::GENERIC) {
            return Some(Self::by_generic_verb(part, behind, at));
        }
        // `open_webpage` looks at it, `open_issue` makes one.
        if part == "open" && behind.iter().any(|part| is(part, Traits::PAGE)) {
            return Some(Self::READ);
        }
        // `set_status` writes, `status_set` is a thing.
        if at == 0 && part == "set" && !behind.is_empty() {
            return Some(Self::write(at));
        }
        if is_noun {
            return None;
        }
        let is_write = is_write(part, vocabulary);
        if is(part, Traits::READ) && (!is_write || at == 0) {
            let write = write_behind_a_read(behind, vocabulary);
            return Some(write.map_or(Self::READ, |step| Self::write(at + 1 + step)));
        }
        if !is_write {
            return None;
        }
        Some(if only_looks_at(part, behind) {
            Self::READ
        } else {
            Self::write(at)
        })
    }

    /// A generic verb says nothing by itself: `process_refund` refunds.
    fn by_generic_verb(verb: &str, behind: &[String], at: usize) -> Self {
        let next = behind.first().map_or("", String::as_str);
        if is(verb, Traits::LIGHT) && LEXICON.action(next).is_some() {
            Self::write(at + 1)
        } else {
            Self::ANYTHING
        }
    }
}

fn is(part: &str, sought: Traits) -> bool {
    traits(part).has(sought)
}

/// Returns true if a word of a name is a verb that changes something.
fn is_write(part: &str, vocabulary: &Vocabulary) -> bool {
    vocabulary.is_base(part) || LEXICON.families(part) != 0
}

/// `post_search` and `patch_preview` only read.
fn only_looks_at(verb: &str, behind: &[String]) -> bool {
    let only_carries = matches!(verb, "post" | "put" | "patch");
    behind.iter().any(|part| {
        matches!(part.as_str(), "preview" | "dry") || (only_carries && is(part, Traits::READ))
    })
}

/// The verb of `or_create` and `and_replace`, after a verb that only reads.
fn write_behind_a_read(parts: &[String], vocabulary: &Vocabulary) -> Option<usize> {
    let changes =
        |part: &str| is_write(part, vocabulary) && !is(part, Traits::READ.and(Traits::NOUN_VERB));
    (1..parts.len())
        .find(|&at| matches!(parts[at - 1].as_str(), "or" | "and") && changes(&parts[at]))
}

/// The nouns behind a preposition, and the nouns that identify a message.
fn destinations(behind: &[String], head: Option<&str>) -> Vec<String> {
    let is_preposition = |part: &&String| matches!(part.as_str(), "to" | "into" | "in" | "on");
    let behind_preposition = behind
        .iter()
        .skip_while(|part| !is_preposition(part))
        .skip(1);
    let is_message = head.is_some_and(|head| traits(head).has(Traits::MESSAGE));
    let which = behind.iter().filter(|_| is_message);
    let nouns = behind_preposition
        .chain(which)
        .map(|part| noun_key(part).into_owned());
    nouns
        .filter(|noun| head != Some(noun) && !traits(noun).has(Traits::PREPOSITION))
        .collect()
}

fn head(parts: &[String], verb: usize) -> Option<String> {
    let behind = &parts[verb + 1..];
    let object = behind
        .iter()
        .take_while(|part| !is(part, Traits::PREPOSITION))
        .filter(|part| can_be_head(part))
        .last();
    // `transfer_to_agent` is about the agent.
    let beyond = || behind.iter().rfind(|part| !is(part, Traits::PREPOSITION));
    let before = || {
        let before = &parts[verb.checked_sub(1)?];
        // `process_refund` is about the refund.
        Some(if is(before, Traits::LIGHT) {
            &parts[verb]
        } else {
            before
        })
    };
    object
        .or_else(beyond)
        .or_else(before)
        .map(|noun| noun_key(noun).into_owned())
}

fn can_be_head(part: &str) -> bool {
    part.chars().count() > 1
        && !part.starts_with(|c: char| c.is_ascii_digit())
        && !matches!(part, "v1" | "v2" | "new" | "bulk" | "batch")
}

/// The effect of a call, from its tool and the beginning of the text of its arguments.
pub(super) fn effect_of_call(tool: &ToolName, arguments: &str) -> Effect {
    let mut end = arguments.len().min(READ_OF_CODE);
    while !arguments.is_char_boundary(end) {
        end -= 1;
    }
    effect_of(tool, &arguments[..end])
}

fn effect_of(tool: &ToolName, arguments: &str) -> Effect {
    let may_be_sql = |key: &String| {
        matches!(
            key.as_str(),
            "sql" | "query" | "execute" | "run" | "statement"
        )
    };
    let is_code = tool.effect == Effect::Anything;
    let is_query = || {
        tool.effect == Effect::Read
            && (tool.keys.iter().any(may_be_sql) || has_key(arguments, &["sql", "statement"]))
    };
    if tool.effect == Effect::Read && is_writing_request(arguments) {
        return Effect::Anything;
    }
    if !is_code && !is_query() {
        return tool.effect;
    }
    let code = Code::read(arguments);
    let is_shell = tool.keys.iter().any(|key| {
        matches!(
            key.as_str(),
            "bash" | "shell" | "terminal" | "command" | "exec"
        )
    });
    match (is_code, code.selects || code.writes) {
        (_, true) if code.selects && !code.writes => Effect::Read,
        (true, true) if !code.is_program => Effect::Sql,
        (false, true) if code.writes => Effect::Sql,
        (true, false) if is_shell && only_looks(arguments) => Effect::Read,
        _ => tool.effect,
    }
}

/// Returns true if a JSON text has one of these keys.
fn has_key(json: &str, keys: &[&str]) -> bool {
    each_pair(json).any(|(key, _)| keys.contains(&key))
}

/// Returns true if the arguments are a request of HTTP that changes something: an address, and a method such as POST.
fn is_writing_request(json: &str) -> bool {
    const METHODS: [&str; 4] = ["POST", "PUT", "PATCH", "DELETE"];
    let writes = |(key, value): (&str, &str)| {
        matches!(key, "method" | "http_method" | "httpMethod")
            && METHODS.iter().any(|one| value.eq_ignore_ascii_case(one))
    };
    each_pair(json).any(writes) && has_key(json, &["url", "uri", "path", "endpoint"])
}

/// The keys of a JSON text with the text behind each, also where JSON is encoded as a text.
fn each_pair(json: &str) -> impl Iterator<Item = (&str, &str)> {
    let parts = json.split('"');
    let mut parts = parts.map(|part| part.trim_end_matches('\\')).peekable();
    let mut key = parts.next();
    std::iter::from_fn(move || {
        loop {
            let link = parts.next()?;
            let before = key.replace(link)?;
            if link.trim_start().starts_with(':') {
                let value = parts.peek().copied().unwrap_or_default();
                return Some((before, value));
            }
        }
    })
}

/// The meaning of the words of a statement or command.
#[derive(Default)]
struct Code {
    selects: bool,
    writes: bool,
    is_program: bool,
}

impl Code {
    fn read(text: &str) -> Self {
        const PROGRAM: [&str; 3] = ["import", "def", "print"];
        let (mut selects, mut has_from, mut updates, mut sets) = (false, false, false, false);
        let mut code = Self::default();
        let mut before = "";
        for word in words_of_code(text) {
            let is = |known: &str| word.eq_ignore_ascii_case(known);
            let follows =
                |known: &[&str]| known.iter().any(|known| before.eq_ignore_ascii_case(known));
            selects |= is("select");
            has_from |= is("from");
            code.is_program |= PROGRAM.into_iter().any(is);
            sets |= is("set");
            updates |= follows(&["update"]);
            // A GraphQL mutation, and SQL statements, which their first word identifies.
            let is_first = follows(&["sql", "query", "statement"]);
            let begins_write = ["mutation", "grant", "revoke", "call", "rename", "vacuum"];
            code.writes |= follows(&["create", "alter", "drop", "truncate"])
                || (is("into") && follows(&["insert", "merge", "replace"]))
                || (is("from") && follows(&["delete"]))
                || (is_first && begins_write.into_iter().any(is));
            before = word;
        }
        code.selects = selects && has_from;
        code.writes |= updates && sets;
        code
    }
}

/// The words of a JSON text. `\n` and `\t` separate words.
fn words_of_code(text: &str) -> impl Iterator<Item = &str> {
    let plain = text.split('\\').enumerate().map(|(at, part)| {
        let after_escape = part.strip_prefix(['n', 't']).filter(|_| at > 0);
        after_escape.unwrap_or(part)
    });
    plain
        .flat_map(|part| part.split(|c: char| !c.is_alphanumeric()))
        .filter(|word| !word.is_empty())
}

/// Returns true if every program of a command only reads.
fn only_looks(arguments: &str) -> bool {
    let command = arguments
        .split_once(':')
        .map_or(arguments, |(_, command)| command);
    let command = command.trim_matches(|c: char| !c.is_alphanumeric());
    let program = |part: &str| {
        let name = part.split_whitespace().next().unwrap_or_default();
        traits(name.trim_matches('"')).has(Traits::READ_SHELL)
    };
    !command.contains('>')
        && !command.is_empty()
        && command
            .split(['|', ';', '&'])
            .filter(|part| !part.trim().is_empty())
            .all(program)
}

/// The words of a text, in compared form: as written, with verbs uninflected and camelCase words whole.
#[derive(Debug)]
pub(super) struct Words(HashSet<String>);

impl Words {
    pub(super) fn has(&self, word: &str) -> bool {
        self.0.contains(word)
    }

    pub(super) fn new(text: &str, tokens: &[Token<'_>], vocabulary: &Vocabulary) -> Self {
        let mut words = HashSet::default();
        let mut add = |key: &str| {
            if !words.contains(key) {
                words.insert(key.to_owned());
            }
        };
        for token in tokens {
            add(&noun_key(&token.word));
            if let Some(form) = vocabulary.form(&token.word) {
                add(&noun_key(vocabulary.base(form)));
            }
            if let Some(whole) = &token.whole {
                add(&noun_key(&text[whole.clone()].to_lowercase()));
            }
        }
        Self(words)
    }
}
