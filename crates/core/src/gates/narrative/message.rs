//! Which sentences of a closing message are the agent's own statements?

use super::identifier::is_code_with_digit_first;
use super::lexicon::{Traits, traits};
use super::token::{closing_quote, is_apostrophe, lower};
use super::verbs::{Form, Vocabulary};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;

/// The longest quoted text or code that is looked up among the values of calls.
const LONGEST_HELD: usize = 200;
/// The longest name in single quotes: a longer text has an apostrophe at its end.
const LONGEST_QUOTED_NAME: usize = 60;
/// The longest "Best regards," and the longest name below it.
const LONGEST_SIGNATURE: usize = 40;

/// One word, number, quotation or mark.
#[derive(Debug, Clone)]
pub(super) struct Word<'t> {
    /// Its place, in bytes.
    pub(super) place: Range<usize>,
    /// In lower case; contractions with a straight apostrophe.
    pub(super) text: Cow<'t, str>,
    pub(super) kind: WordKind,
    /// The possible roles of the word. Numbers, quotations and marks have none.
    pub(super) traits: Traits,
    /// The form of a verb that it looks like.
    pub(super) form: Option<Form>,
    /// True if it begins with a capital letter.
    pub(super) is_capitalised: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WordKind {
    Word,
    Number,
    /// Quoted text, code, a path, an address or an id: it is looked up and not read.
    Held,
    Mark(char),
}

/// One sentence, heading, list item or row of a table.
#[derive(Debug, Default)]
pub(super) struct Sentence {
    /// Its words, as a range of the message's.
    pub(super) words: Range<usize>,
    /// Its place, in bytes.
    pub(super) place: Range<usize>,
    pub(super) is_question: bool,
    pub(super) is_heading: bool,
    /// The line that it belongs to, if that is an item of a list.
    pub(super) item: Option<usize>,
    /// True if it contains a check mark.
    pub(super) is_checked: bool,
}

/// A closing message, parsed for claims.
#[derive(Debug, Default)]
pub(super) struct Message<'t> {
    pub(super) words: Vec<Word<'t>>,
    pub(super) sentences: Vec<Sentence>,
    /// The content that it shows besides its sentences.
    pub(super) shown: Shown,
}

/// The content that a message shows: the answer itself may be what was made.
#[derive(Debug, Default, Clone, Copy)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "a message may show several of them"
)]
pub(super) struct Shown {
    pub(super) code: bool,
    pub(super) table: bool,
    pub(super) draft: bool,
    pub(super) list: bool,
}

impl<'t> Message<'t> {
    pub(super) fn read(text: &'t str, vocabulary: &Vocabulary) -> Self {
        let own = OwnLines::read(text);
        let mut reader = Reader {
            text,
            vocabulary,
            message: Self {
                shown: own.shown,
                ..Self::default()
            },
            open: Sentence::default(),
        };
        for line in &own.lines {
            reader.line(line);
        }
        reader.end_sentence(false);
        reader.message
    }

    /// Returns true if the message is in a language that the gate does not read.
    pub(super) fn is_foreign(&self, text: &str) -> bool {
        let (mut letters, mut others) = (0, 0);
        for letter in text.chars().filter(|letter| letter.is_alphabetic()) {
            letters += 1;
            others += usize::from(letter > '\u{24f}');
        }
        let count = |of: Traits| self.words.iter().filter(|word| word.traits.has(of)).count();
        others * 10 > letters * 3 || count(Traits::FOREIGN) > count(Traits::ENGLISH)
    }
}

/// A line without the marks of its list or heading.
struct Line {
    place: Range<usize>,
    is_heading: bool,
    is_item: bool,
    is_checked: bool,
}

/// Reads the agent's own lines: not code, quotations, drafts, table data or crossed-out text.
struct OwnLines<'t> {
    text: &'t str,
    /// The index of the last line that is a rule. It closes a draft.
    last_rule: Option<usize>,
    /// The marker of the open block of code.
    fence: Option<&'static str>,
    is_draft: bool,
    announces_draft: bool,
    letter: Letter,
    table: Table,
    shown: Shown,
    lines: Vec<Line>,
}

impl<'t> OwnLines<'t> {
    fn read(text: &'t str) -> Self {
        let places = line_places(text);
        let last_rule = places
            .iter()
            .rposition(|place| is_rule(&text[place.clone()]));
        let mut own = Self {
            text,
            last_rule,
            fence: None,
            is_draft: false,
            announces_draft: false,
            letter: Letter::default(),
            table: Table::default(),
            shown: Shown::default(),
            lines: Vec::new(),
        };
        for (at, place) in places.into_iter().enumerate() {
            own.line(at, place);
        }
        own
    }

    fn line(&mut self, at: usize, place: Range<usize>) {
        let line = self.text[place.clone()].trim();
        if self.is_fence(line) {
            self.shown.code = true;
            return;
        }
        if line.starts_with('>') {
            self.shown.draft = true;
            return;
        }
        if self.fence.is_some() || is_markup(line) || self.letter.has(line) {
            self.shown.draft |= self.letter.is_open();
            return;
        }
        if line.is_empty() {
            return;
        }
        if is_rule(line) {
            self.rule(at);
            return;
        }
        if self.is_draft {
            return;
        }
        self.announces_draft = is_draft_heading(line);
        self.letter.announce(line, self.announces_draft);
        self.own_line(line, place);
    }

    /// Returns true if the line opens or closes a block of code.
    fn is_fence(&mut self, line: &str) -> bool {
        let marker = ["```", "~~~"]
            .into_iter()
            .find(|marker| line.starts_with(marker));
        match (self.fence, marker) {
            (None, Some(_)) => self.fence = marker,
            (Some(open), Some(marker)) if open == marker => self.fence = None,
            _ => return false,
        }
        true
    }

    /// A rule opens an announced draft, if another rule closes it. It also closes an open draft.
    fn rule(&mut self, at: usize) {
        let opens = self.announces_draft && self.last_rule > Some(at);
        self.is_draft = !self.is_draft && opens;
        self.shown.draft |= self.is_draft;
        self.announces_draft = false;
    }

    fn own_line(&mut self, line: &str, place: Range<usize>) {
        let kept = if line.starts_with('|') {
            self.shown.table = true;
            self.table.row(self.text, &place)
        } else {
            self.table = Table::default();
            Some(place)
        };
        if let Some(line) = kept.and_then(|place| unmarked(self.text, place)) {
            self.shown.list |= line.is_item;
            self.lines.push(line);
        }
    }
}

/// A line of tags alone, as of a call that was written and not made.
fn is_markup(line: &str) -> bool {
    let Some(tag) = line.strip_prefix('<') else {
        return false;
    };
    let name = tag.trim_start_matches('/');
    line.ends_with('>') && name.starts_with(char::is_alphabetic) && !tag.contains("> ")
}

/// A draft without rules around it: from its salutation to its signature.
#[derive(Default)]
struct Letter {
    state: LetterState,
}

#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum LetterState {
    #[default]
    None,
    Announced,
    Open,
    /// The line with the name follows.
    Signed,
}

impl Letter {
    fn announce(&mut self, line: &str, is_heading: bool) {
        let is_draft = || {
            let word = |word: &str| {
                matches!(
                    word.to_lowercase()
                        .trim_matches(|c: char| !c.is_alphabetic()),
                    "draft" | "drafted" | "template" | "wording"
                )
            };
            line.split_whitespace().any(word)
        };
        self.state = if is_heading && is_draft() {
            LetterState::Announced
        } else {
            LetterState::None
        };
    }

    fn is_open(&self) -> bool {
        matches!(self.state, LetterState::Open | LetterState::Signed)
    }

    /// Returns true if the line is part of the draft.
    fn has(&mut self, line: &str) -> bool {
        let first = line
            .trim_start_matches(['*', '_', '"', ' '])
            .split(|c: char| !c.is_alphabetic())
            .next()
            .unwrap_or_default()
            .to_lowercase();
        let begins = matches!(
            first.as_str(),
            "subject" | "dear" | "hi" | "hello" | "hey" | "to"
        );
        let signs = matches!(
            first.as_str(),
            "best" | "regards" | "sincerely" | "kind" | "cheers" | "thanks" | "yours" | "warm"
        ) && line.len() < LONGEST_SIGNATURE;
        match self.state {
            LetterState::None => false,
            _ if line.is_empty() => self.state != LetterState::Announced,
            LetterState::Announced if begins => {
                self.state = LetterState::Open;
                true
            }
            LetterState::Announced => false,
            LetterState::Open => {
                if signs {
                    self.state = LetterState::Signed;
                }
                true
            }
            LetterState::Signed => {
                self.state = LetterState::None;
                line.len() < LONGEST_SIGNATURE && !line.ends_with(['.', '!', '?'])
            }
        }
    }
}

fn line_places(text: &str) -> Vec<Range<usize>> {
    let mut start = 0;
    let mut places = Vec::new();
    for line in text.split(['\n', '\r', '\u{2028}', '\u{2029}']) {
        places.push(start..start + line.len());
        let end = start + line.len();
        start = end + text[end..].chars().next().map_or(0, char::len_utf8);
    }
    places
}

/// `---`, `***`, `___`
fn is_rule(line: &str) -> bool {
    let line = line.trim();
    line.len() >= 3
        && ['-', '*', '_', '=']
            .into_iter()
            .any(|mark| line.chars().all(|other| other == mark))
}

fn is_draft_heading(line: &str) -> bool {
    let line = line.trim_end_matches(['*', ' ', '_']);
    let is_named = |word: &str| {
        matches!(
            word.to_lowercase()
                .trim_matches(|c: char| !c.is_alphabetic()),
            "draft"
                | "template"
                | "email"
                | "e-mail"
                | "message"
                | "letter"
                | "reply"
                | "text"
                | "wording"
        )
    };
    line.ends_with(':') && line.len() < LONGEST_HELD && line.split_whitespace().any(is_named)
}

/// The rows of a table that report actions: the rows under a heading such as "Action" or "Step".
#[derive(Default)]
struct Table {
    rows: usize,
    lists_actions: bool,
}

impl Table {
    /// The part of a row that reports a completed action.
    fn row(&mut self, text: &str, place: &Range<usize>) -> Option<Range<usize>> {
        self.rows += 1;
        let row = &text[place.clone()];
        let start = place.start + row.find('|').map_or(0, |bar| bar + 1);
        let rest = &text[start..place.end];
        let end = start + rest.find('|').unwrap_or(rest.len());
        let cell = text[start..end].trim_matches(|c: char| !c.is_alphanumeric());
        if self.rows == 1 {
            self.lists_actions = traits(&cell.to_lowercase()).has(Traits::ACTION_HEADER);
            return None;
        }
        let went_wrong = |cell: &str| {
            let word = cell.to_lowercase();
            matches!(
                word.trim_matches(|c: char| !c.is_alphanumeric()),
                "failed" | "pending" | "skipped" | "no" | "not done" | "planned" | "todo" | "error"
            ) || cell.contains(['❌', '✗', '✘'])
        };
        if !self.lists_actions || cell.is_empty() || rest.split('|').any(went_wrong) {
            return None;
        }
        Some(start..if cell.contains(' ') { end } else { place.end })
    }
}

/// The mark at the beginning of a line.
enum LineMark {
    /// The text of the line begins.
    Text,
    /// An open or crossed-out item begins.
    NotDone,
    Heading,
    Checked {
        length: usize,
    },
    Bullet {
        length: usize,
    },
}

impl LineMark {
    fn read(line: &str) -> Option<Self> {
        let first = line.chars().next()?;
        let after = line[first.len_utf8()..].chars().next();
        let length = first.len_utf8();
        Some(match first {
            '#' if matches!(after, Some('#' | ' ')) => Self::Heading,
            '-' | '–' if after == Some(' ') => Self::Bullet { length },
            '❌' | '✗' | '✘' | '⏳' | '☐' => Self::NotDone,
            '✅' | '✓' | '✔' | '☑' => Self::Checked { length },
            '[' if line.starts_with("[ ]") => Self::NotDone,
            '[' if line.starts_with("[x]") || line.starts_with("[X]") => {
                Self::Checked { length: 3 }
            }
            '0'..='9' => {
                length_of_number(line).map_or(Self::Text, |length| Self::Bullet { length })
            }
            _ if !first.is_alphanumeric() && !first.is_ascii() && first > '\u{2190}' => {
                Self::Bullet { length }
            }
            _ => Self::Text,
        })
    }
}

/// The length of "1." or "2)" at the beginning of a line.
fn length_of_number(line: &str) -> Option<usize> {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    if digits > 3 || !line[digits..].starts_with(['.', ')']) {
        return None;
    }
    let behind = line[digits + 1..].chars().next();
    let is_number = behind.is_none_or(|c| matches!(c, ' ' | '*'));
    is_number.then_some(digits + 1)
}

/// The line after its bullets, numbers, check boxes and heading marks; `None` if it is open or
/// crossed out.
fn unmarked(text: &str, place: Range<usize>) -> Option<Line> {
    let mut line = Line {
        place,
        is_heading: false,
        is_item: false,
        is_checked: false,
    };
    loop {
        let rest = &text[line.place.clone()];
        let trimmed = rest.trim_start_matches([
            ' ', '\t', '*', '_', '•', '+', '·', '▪', '◦', '→', '|', '\u{fe0f}',
        ]);
        line.is_heading |= is_bold(rest);
        line.is_item |= rest.len() > trimmed.len() && !rest.starts_with(' ');
        line.place.start += rest.len() - trimmed.len();
        let length = match LineMark::read(trimmed)? {
            LineMark::Text => return Some(line),
            LineMark::NotDone => return None,
            LineMark::Heading => {
                line.is_heading = true;
                1
            }
            LineMark::Checked { length } => {
                line.is_checked = true;
                length
            }
            LineMark::Bullet { length } => length,
        };
        line.is_item = true;
        line.place.start += length;
    }
}

/// `**Closed issues**` and `**Closed issues:**`
fn is_bold(line: &str) -> bool {
    let body = line.trim().trim_end_matches(':').strip_prefix("**");
    let body = body.and_then(|body| body.strip_suffix("**"));
    body.is_some_and(|body| !body.contains("**"))
}

struct Reader<'t, 'v> {
    text: &'t str,
    vocabulary: &'v Vocabulary,
    message: Message<'t>,
    open: Sentence,
}

impl<'t> Reader<'t, '_> {
    fn line(&mut self, line: &Line) {
        self.begin_line(line);
        let end = line.place.end;
        let mut at = line.place.start;
        let mut unclosed: BTreeSet<char> = BTreeSet::new();
        while let Some(next) = first_character(&self.text[at..end]) {
            let after = at + next.len_utf8();
            let close = match next {
                '\'' | '‘' => self.quoted_name(at, end),
                '`' | '"' | '“' if !unclosed.contains(&next) => {
                    closing_quote(&self.text[..end], at, next)
                }
                _ => None,
            };
            if let Some(close) = close {
                at = self.quotation(at, after..close);
                continue;
            }
            at = match next {
                '`' | '"' | '“' => {
                    unclosed.insert(next);
                    after
                }
                '#' => self.chunk(at, after, end),
                _ if next.is_alphanumeric() => self.chunk(at, at, end),
                _ => {
                    self.mark(at, next, end);
                    after
                }
            };
        }
    }

    /// Ends the sentence before a line, unless the line continues it.
    fn begin_line(&mut self, line: &Line) {
        let rest = &self.text[line.place.clone()];
        let last = self.message.words.last();
        let continues = !line.is_item
            && rest.starts_with(|c: char| c.is_lowercase())
            && last.is_some_and(|last| !matches!(last.kind, WordKind::Mark(':')));
        if !continues || self.open.is_heading {
            self.end_sentence(false);
        }
        self.open.is_heading = line.is_heading;
        self.open.is_checked = line.is_checked;
        if !continues {
            self.open.item = line.is_item.then_some(line.place.start);
        }
    }

    /// Adds a quotation that begins with its mark. Returns the position behind its closing mark.
    fn quotation(&mut self, mark: usize, content: Range<usize>) -> usize {
        let close = content.end;
        let after = close + first_character(&self.text[close..]).map_or(1, char::len_utf8);
        self.push(mark..after, WordKind::Held, content);
        after
    }

    /// The end of a name in single quotes: the 'general' channel.
    fn quoted_name(&self, at: usize, end: usize) -> Option<usize> {
        let is_inside = self.text[..at]
            .chars()
            .next_back()
            .is_some_and(char::is_alphanumeric);
        let mark = self.text[at..end].chars().next().filter(|_| !is_inside)?;
        let start = at + mark.len_utf8();
        let mut limit = end.min(start + LONGEST_QUOTED_NAME);
        while !self.text.is_char_boundary(limit) {
            limit -= 1;
        }
        let begins = self.text[start..limit]
            .chars()
            .next()
            .is_some_and(char::is_alphanumeric);
        closing_quote(&self.text[..limit], at, mark).filter(|_| begins)
    }

    /// Reads a word, number, path or address that begins at `start`. Returns the position where reading continues.
    fn chunk(&mut self, mark: usize, start: usize, end: usize) -> usize {
        let end = start + length_of_chunk(&self.text[start..end]);
        if end == start {
            return start;
        }
        let chunk = &self.text[start..end];
        let is_contraction = chunk.chars().all(|c| c.is_alphabetic() || is_apostrophe(c));
        if is_contraction && let Some(apostrophe) = chunk.find(is_apostrophe) {
            self.contraction(start, start + apostrophe, end);
            return end;
        }
        let is_word = chunk.chars().all(|c| c.is_alphabetic() || c == '-') && mark == start;
        let is_number = chunk.starts_with(|c: char| c.is_ascii_digit())
            && !chunk.contains(['/', '@', '_'])
            && !is_code_with_digit_first(chunk);
        let kind = if is_word {
            WordKind::Word
        } else if is_number {
            WordKind::Number
        } else {
            WordKind::Held
        };
        self.push(mark..end, kind, start..end);
        end
    }

    fn contraction(&mut self, start: usize, apostrophe: usize, end: usize) {
        let word = &self.text[start..apostrophe];
        let mark = self.text[apostrophe..end].chars().next();
        let behind = apostrophe + mark.map_or(1, char::len_utf8);
        let suffix = self.text[behind..end].to_lowercase();
        if suffix == "t" && word.ends_with(['n', 'N']) {
            self.push_word(start..end, Cow::Owned(format!("{}'t", word.to_lowercase())));
            return;
        }
        self.push_word(start..apostrophe, lower(word));
        let written_out = match suffix.as_str() {
            "ll" => "will",
            "d" => "'d",
            "ve" => "have",
            "s" => "'s",
            "re" => "are",
            "m" => "am",
            _ => return,
        };
        self.push_word(apostrophe..end, Cow::Borrowed(written_out));
    }

    fn push_word(&mut self, place: Range<usize>, text: Cow<'t, str>) {
        let (traits, form) = (traits(&text), self.vocabulary.form(&text));
        let is_capitalised = self.text[place.clone()].starts_with(char::is_uppercase);
        self.message.words.push(Word {
            is_capitalised,
            place,
            text,
            kind: WordKind::Word,
            traits,
            form,
        });
    }

    fn push(&mut self, place: Range<usize>, kind: WordKind, content: Range<usize>) {
        let content = &self.text[content];
        if kind == WordKind::Word {
            return self.push_word(place, lower(content));
        }
        let text = if content.len() > LONGEST_HELD {
            Cow::Borrowed("")
        } else {
            lower(content)
        };
        self.message.words.push(Word {
            place,
            text,
            kind,
            traits: Traits::default(),
            form: None,
            is_capitalised: false,
        });
    }

    fn mark(&mut self, at: usize, mark: char, end: usize) {
        let after = self.text[at + mark.len_utf8()..end].chars().next();
        let is_free = after.is_none_or(|c| !c.is_alphanumeric());
        match mark {
            '.' | '!' | '…' | '。' | '！' if is_free => self.end_sentence(false),
            '?' | '？' => self.end_sentence(true),
            '-' if is_free && self.text[..at].ends_with(' ') => {
                self.push(at..at + 1, WordKind::Mark('—'), at..at);
            }
            ',' | ';' | ':' | '(' | ')' | '—' | '–' | '|' | '→' | '，' | '；' | '：' | '['
            | ']' => {
                let mark_kind = if mark == '–' { '—' } else { mark };
                self.push(at..at + mark.len_utf8(), WordKind::Mark(mark_kind), at..at);
            }
            '✅' | '✓' | '✔' | '☑' => self.open.is_checked = true,
            _ => {}
        }
    }

    fn end_sentence(&mut self, is_question: bool) {
        let words = self.open.words.start..self.message.words.len();
        let mut sentence = std::mem::take(&mut self.open);
        self.open.words.start = words.end;
        (self.open.is_heading, self.open.is_checked) = (sentence.is_heading, sentence.is_checked);
        self.open.item = sentence.item;
        let (Some(first), Some(last)) = (
            self.message.words[words.clone()].first(),
            self.message.words.last(),
        ) else {
            return;
        };
        sentence.place = first.place.start..last.place.end;
        sentence.words = words;
        sentence.is_question = is_question;
        self.message.sentences.push(sentence);
    }
}

/// The length of the word, number, path or address that a text begins with.
fn length_of_chunk(text: &str) -> usize {
    let mut at = 0;
    loop {
        at += text[at..]
            .find(|c: char| !c.is_alphanumeric())
            .unwrap_or(text.len() - at);
        if text[at..].starts_with("://") {
            return at + length_of_address(&text[at..]);
        }
        let mut ahead = text[at..].chars();
        let link = ahead
            .next()
            .filter(|link| "._/@:-\\&%+'’ʼ＇".contains(*link));
        match (link, ahead.next()) {
            (Some(link), Some(next)) if next.is_alphanumeric() => at += link.len_utf8(),
            _ => return at,
        }
    }
}

/// The length of the rest of an address, which begins with `://`.
fn length_of_address(text: &str) -> usize {
    const SCHEME_END: usize = "://".len();
    text[SCHEME_END..]
        .find(|c: char| c.is_whitespace() || ")>]\"`".contains(c))
        .map_or(text.len(), |end| SCHEME_END + end)
}

fn first_character(text: &str) -> Option<char> {
    text.chars().next()
}
