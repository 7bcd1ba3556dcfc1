//! Which parts of a JSON text are secret, with the escapes of its strings decoded?

use super::keys::{self, Also, KeyRule};
use super::plain::Task;
use super::scan::{escape, number_length, plain_prefix};
use super::span::Edit;
use super::{Redactor, decode, own, placeholder};

/// JSON in a string in JSON in a string …: each level doubles the backslashes, so deep nesting does not occur.
const MOST_LEVELS: usize = 8;

/// The nesting of a JSON text in strings of other JSON texts.
#[derive(Clone, Copy, Default)]
pub(super) struct Depth {
    /// The depth of nested strings.
    level: usize,
    /// True if the numbers and verdicts are our own.
    is_document: bool,
}

impl Depth {
    /// The depth of a document with our own numbers.
    pub(super) fn of_document() -> Self {
        Self {
            level: 0,
            is_document: true,
        }
    }

    /// The depth of the strings inside a string at this depth.
    fn below(self) -> Self {
        Self {
            level: self.level + 1,
            is_document: false,
        }
    }
}

/// Reads the tokens of a JSON text. Text outside strings must be punctuation, numbers and literals, so that no secret
/// hides there. The reader does not check their order.
struct Reader<'r, 't> {
    redactor: &'r Redactor,
    text: &'t str,
    at: usize,
    level: Depth,
    all_or_nothing: bool,
    /// The rule of the key before the next value.
    rule: Option<&'static KeyRule>,
    /// The rule for the texts of the list that was opened at this depth.
    list: Option<(&'static KeyRule, usize)>,
    /// True if the next number was counted by mcptest.
    is_own_number: bool,
    depth: usize,
    edits: Vec<Edit<'r>>,
}

impl Redactor {
    /// The edits that remove every secret from a string: token by token for JSON, otherwise as
    /// prose.
    pub(super) fn scan<'r>(
        &'r self,
        text: &str,
        level: Depth,
        all_or_nothing: bool,
    ) -> Vec<Edit<'r>> {
        let is_like_json = matches!(
            text.trim_start().as_bytes().first(),
            Some(b'{' | b'[' | b'"')
        );
        let edits = if is_like_json {
            self.structured(text, level, all_or_nothing)
        } else {
            None
        };
        edits.unwrap_or_else(|| {
            self.plain(
                text,
                Task {
                    rule: None,
                    all_or_nothing,
                },
            )
        })
    }

    /// The edits in a JSON text; `None` if it is not JSON, or nested too deeply in other JSON.
    pub(super) fn structured<'r>(
        &'r self,
        text: &str,
        level: Depth,
        all_or_nothing: bool,
    ) -> Option<Vec<Edit<'r>>> {
        if level.level > MOST_LEVELS {
            return None;
        }
        let mut reader = Reader {
            redactor: self,
            text,
            at: 0,
            level,
            all_or_nothing,
            rule: None,
            list: None,
            is_own_number: false,
            depth: 0,
            edits: Vec::new(),
        };
        while reader.token()? {}
        Some(reader.edits)
    }
}

impl<'r> Reader<'r, '_> {
    /// Reads one token. Returns false at the end, and `None` if this is not JSON.
    fn token(&mut self) -> Option<bool> {
        self.skip_space();
        let Some(&byte) = self.text.as_bytes().get(self.at) else {
            return Some(false);
        };
        match byte {
            b'"' => self.string()?,
            b'{' | b'[' => self.open(byte),
            b'}' | b']' => self.close(),
            b',' => self.at += 1,
            b'-' | b'0'..=b'9' => self.number()?,
            _ => self.literal()?,
        }
        Some(true)
    }

    fn skip_space(&mut self) {
        let rest = &self.text.as_bytes()[self.at..];
        self.at += rest
            .iter()
            .take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'))
            .count();
    }

    fn open(&mut self, bracket: u8) {
        self.at += 1;
        self.depth += 1;
        let rule = self
            .rule
            .take()
            .filter(|rule| bracket == b'[' && rule.also == Also::Lists);
        if let Some(rule) = rule {
            self.list = Some((rule, self.depth));
        }
    }

    fn close(&mut self) {
        self.at += 1;
        self.list = self.list.filter(|(_, depth)| *depth < self.depth);
        self.depth = self.depth.saturating_sub(1);
    }

    fn literal(&mut self) -> Option<()> {
        let rest = &self.text[self.at..];
        let literal = ["true", "false", "null"]
            .iter()
            .find(|literal| rest.starts_with(**literal))?;
        self.at += literal.len();
        self.rule = None;
        Some(())
    }

    fn number(&mut self) -> Option<()> {
        let at = self.at..self.at + number_length(&self.text.as_bytes()[self.at..]);
        self.at = at.end;
        let literal = &self.text[at.clone()];
        let rule = self
            .rule
            .take()
            .filter(|rule| rule.also == Also::Numbers)
            .map(|rule| rule.name);
        let is_searched = !self.is_own_number && !self.level.is_document;
        let Some(what) = rule.or_else(|| self.redactor.pattern_in(literal).filter(|_| is_searched))
        else {
            return Some(());
        };
        literal.parse::<f64>().ok()?;
        self.edits.push(Edit {
            at,
            what,
            with: format!("\"{}\"", placeholder::plain(what)),
        });
        Some(())
    }

    fn string(&mut self) -> Option<()> {
        let start = self.at + 1;
        let (end, is_escaped) = string_end(self.text.as_bytes(), start)?;
        self.at = end + 1;
        self.skip_space();
        let is_key = self.text.as_bytes().get(self.at) == Some(&b':');
        let raw = &self.text[start..end];
        let decoded = is_escaped.then(|| decode::json(raw));
        let content = decoded.as_ref().map_or(raw, |decoded| &decoded.content);
        let edits = if is_key {
            self.at += 1;
            self.key(content)
        } else {
            self.value(content)
        };
        for edit in edits {
            let at = decoded
                .as_ref()
                .map_or(edit.at.clone(), |decoded| decoded.raw(&edit.at));
            let with = in_string(edit.with);
            self.edits.push(Edit {
                at: start + at.start..start + at.end,
                with,
                ..edit
            });
        }
        Some(())
    }

    /// The secrets in a key, whose rule is for the value that follows.
    fn key(&mut self, content: &str) -> Vec<Edit<'r>> {
        // Only a pattern makes a secret of a number.
        self.is_own_number = !self.redactor.patterns.is_empty() && own::is_number(content);
        if own::is_key(content) {
            self.rule = None;
            return Vec::new();
        }
        self.rule = keys::rule(content);
        self.redactor.plain(
            content,
            Task {
                rule: None,
                all_or_nothing: self.all_or_nothing,
            },
        )
    }

    fn value(&mut self, content: &str) -> Vec<Edit<'r>> {
        if self.level.is_document && own::is_verdict(content) {
            self.rule = None;
            return Vec::new();
        }
        let list = self
            .list
            .filter(|(_, depth)| *depth == self.depth)
            .map(|(rule, _)| rule);
        match self.rule.take().or(list) {
            Some(rule) => {
                let task = Task {
                    rule: Some(rule),
                    all_or_nothing: self.all_or_nothing,
                };
                self.redactor.plain(content, task)
            }
            None => self
                .redactor
                .scan(content, self.level.below(), self.all_or_nothing),
        }
    }
}

/// A replacement within a JSON string. A replacement of a number has quotes.
fn in_string(with: String) -> String {
    if with.contains('"') {
        with.replace('\\', "\\\\").replace('"', "\\\"")
    } else {
        with
    }
}

/// The closing quote of the string that opens before `start`, and whether the string has escapes.
pub(super) fn string_end(bytes: &[u8], start: usize) -> Option<(usize, bool)> {
    let mut at = start;
    let mut is_escaped = false;
    loop {
        at += plain_prefix(&bytes[at..]);
        match bytes.get(at)? {
            b'"' => return Some((at, is_escaped)),
            b'\\' => at += escape(&bytes[at..])?.1,
            _ => return None,
        }
        is_escaped = true;
    }
}
