//! Are two JSON texts the same value? A 128-bit hash of the text, independent of the order of keys.

use super::number::Canonical;
use mcptest_redact::scan::{Escape, escape, number_length, plain_prefix};
use serde_json::Value;

/// A structural hash: equal JSON values have equal hashes, whatever their order of keys, spelling
/// of numbers or escapes. The last of duplicate keys counts. Text that is not JSON is hashed
/// verbatim.
pub fn hash(text: &str) -> u128 {
    Reader::new(text)
        .document()
        .unwrap_or_else(|| hash_bytes(NOT_JSON, text.as_bytes()))
}

/// Returns true if two JSON texts are equal values, by their 128-bit hashes.
pub fn equal(a: &str, b: &str) -> bool {
    a == b || hash(a) == hash(b)
}

/// The hash of a parsed value.
pub fn hash_value(value: &Value) -> u128 {
    match value {
        Value::Null => hash_word(NULL, 0),
        Value::Bool(flag) => hash_word(BOOLEAN, u128::from(*flag)),
        Value::Number(number) => hash_number(Canonical::new(number)),
        Value::String(text) => hash_bytes(STRING, text.as_bytes()),
        Value::Array(items) => {
            let mut state = State::new(ARRAY);
            for item in items {
                state.absorb(hash_value(item));
            }
            state.finish()
        }
        Value::Object(fields) => {
            let mut pairs: Vec<_> = fields
                .iter()
                .map(|(key, value)| (hash_bytes(STRING, key.as_bytes()), hash_value(value)))
                .collect();
            hash_pairs(&mut pairs)
        }
    }
}

/// The hash with every list as a bag: the order of items does not count, but their number does.
pub fn hash_of_bags(value: &Value) -> u128 {
    match value {
        Value::Array(items) => {
            let mut hashes: Vec<u128> = items.iter().map(hash_of_bags).collect();
            hashes.sort_unstable();
            let mut state = State::new(ARRAY);
            for hash in hashes {
                state.absorb(hash);
            }
            state.finish()
        }
        Value::Object(fields) => {
            let pair = |(key, value): (&String, &Value)| {
                (hash_bytes(STRING, key.as_bytes()), hash_of_bags(value))
            };
            let mut pairs: Vec<_> = fields.iter().map(pair).collect();
            hash_pairs(&mut pairs)
        }
        scalar => hash_value(scalar),
    }
}

const NULL: u64 = 1;
const BOOLEAN: u64 = 2;
const WHOLE: u64 = 3;
const FLOAT: u64 = 4;
const STRING: u64 = 5;
const ARRAY: u64 = 6;
const OBJECT: u64 = 7;
const NOT_JSON: u64 = 8;

/// The round of komihash: a 64 by 64 bit product folded into two words. Not meant against an adversary.
#[derive(Clone, Copy)]
struct State(u64, u64);

impl State {
    fn new(tag: u64) -> Self {
        let mut state = Self(0x243f_6a88_85a3_08d3, 0x4528_21e6_38d0_1377 ^ tag);
        state.absorb(0);
        state
    }

    fn absorb(&mut self, word: u128) {
        let product = u128::from(self.0 ^ word as u64) * u128::from(self.1 ^ (word >> 64) as u64);
        self.1 = self.1.wrapping_add((product >> 64) as u64);
        self.0 = self.1 ^ product as u64;
    }

    fn finish(mut self) -> u128 {
        self.absorb(0);
        self.absorb(0);
        u128::from(self.0) << 64 | u128::from(self.1)
    }
}

fn hash_word(tag: u64, word: u128) -> u128 {
    let mut state = State::new(tag);
    state.absorb(word);
    state.finish()
}

fn hash_number(number: Canonical) -> u128 {
    match number {
        Canonical::Whole(whole) => hash_word(WHOLE, whole as u128),
        Canonical::Float(bits) => hash_word(FLOAT, u128::from(bits)),
    }
}

fn hash_bytes(tag: u64, bytes: &[u8]) -> u128 {
    let mut state = State::new(tag);
    let (blocks, tail) = bytes.as_chunks::<16>();
    for block in blocks {
        state.absorb(u128::from_le_bytes(*block));
    }
    let mut last = [0; 16];
    last[..tail.len()].copy_from_slice(tail);
    state.absorb(u128::from_le_bytes(last));
    state.absorb(bytes.len() as u128);
    state.finish()
}

fn hash_pairs(pairs: &mut [(u128, u128)]) -> u128 {
    pairs.sort_by_key(|&(key, _)| key);
    let mut state = State::new(OBJECT);
    for (index, &(key, value)) in pairs.iter().enumerate() {
        if pairs.get(index + 1).is_none_or(|&(next, _)| next != key) {
            state.absorb(key);
            state.absorb(value);
        }
    }
    state.finish()
}

/// An open container, on a separate stack, so that nesting uses memory instead of the call stack.
enum Open {
    Array(State),
    Object { first_pair: usize, key: u128 },
}

/// The beginning of a value.
enum Begun {
    /// A finished value: its hash.
    Whole(u128),
    /// A container was opened.
    Container,
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    open: Vec<Open>,
    pairs: Vec<(u128, u128)>,
    unescaped: Vec<u8>,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            text,
            at: 0,
            open: Vec::new(),
            pairs: Vec::new(),
            unescaped: Vec::new(),
        }
    }

    fn document(mut self) -> Option<u128> {
        loop {
            let Begun::Whole(mut value) = self.begin_value()? else {
                continue;
            };
            loop {
                match self.end_value(value)? {
                    Next::Value => break,
                    Next::Closed(container) => value = container,
                    Next::Done => return Some(value),
                }
            }
        }
    }

    /// Begins a value; `None` if the text is not JSON.
    fn begin_value(&mut self) -> Option<Begun> {
        match self.peek()? {
            b'{' => {
                self.at += 1;
                if self.take(b'}') {
                    return Some(Begun::Whole(hash_pairs(&mut [])));
                }
                let key = self.key()?;
                self.open.push(Open::Object {
                    first_pair: self.pairs.len(),
                    key,
                });
                Some(Begun::Container)
            }
            b'[' => {
                self.at += 1;
                if self.take(b']') {
                    return Some(Begun::Whole(State::new(ARRAY).finish()));
                }
                self.open.push(Open::Array(State::new(ARRAY)));
                Some(Begun::Container)
            }
            b'"' => self.string().map(Begun::Whole),
            b'n' => self.word("null", hash_word(NULL, 0)).map(Begun::Whole),
            b't' => self.word("true", hash_word(BOOLEAN, 1)).map(Begun::Whole),
            b'f' => self.word("false", hash_word(BOOLEAN, 0)).map(Begun::Whole),
            _ => self.number().map(Begun::Whole),
        }
    }

    fn end_value(&mut self, value: u128) -> Option<Next> {
        let Some(open) = self.open.last_mut() else {
            return self.peek().is_none().then_some(Next::Done);
        };
        let closing = match open {
            Open::Array(state) => {
                state.absorb(value);
                b']'
            }
            Open::Object { key, .. } => {
                self.pairs.push((*key, value));
                b'}'
            }
        };
        if self.take(closing) {
            return self.close().map(Next::Closed);
        }
        if !self.take(b',') {
            return None;
        }
        if closing == b'}' {
            let next = self.key()?;
            if let Some(Open::Object { key, .. }) = self.open.last_mut() {
                *key = next;
            }
        }
        Some(Next::Value)
    }

    fn close(&mut self) -> Option<u128> {
        match self.open.pop()? {
            Open::Array(state) => Some(state.finish()),
            Open::Object { first_pair, .. } => {
                let hash = hash_pairs(self.pairs.get_mut(first_pair..)?);
                self.pairs.truncate(first_pair);
                Some(hash)
            }
        }
    }

    fn key(&mut self) -> Option<u128> {
        if self.peek()? != b'"' {
            return None;
        }
        let key = self.string()?;
        self.take(b':').then_some(key)
    }

    fn string(&mut self) -> Option<u128> {
        self.at += 1;
        let rest = &self.text.as_bytes()[self.at..];
        let plain = plain_prefix(rest);
        if *rest.get(plain)? == b'"' {
            self.at += plain + 1;
            return Some(hash_bytes(STRING, &rest[..plain]));
        }
        self.unescape()?;
        Some(hash_bytes(STRING, &self.unescaped))
    }

    fn unescape(&mut self) -> Option<()> {
        self.unescaped.clear();
        loop {
            let rest = self.text.as_bytes().get(self.at..)?;
            let plain = plain_prefix(rest);
            self.unescaped.extend_from_slice(&rest[..plain]);
            self.at += plain;
            match *rest.get(plain)? {
                b'"' => {
                    self.at += 1;
                    return Some(());
                }
                b'\\' => {
                    let (meaning, length) = escape(&rest[plain..])?;
                    self.at += length;
                    match meaning {
                        Escape::Char(character) => {
                            self.unescaped
                                .extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                        }
                        // 0xff is in no UTF-8 text, so this is equal to no string but its like.
                        Escape::LoneSurrogate(unit) => {
                            self.unescaped.push(0xff);
                            self.unescaped.extend_from_slice(&unit.to_le_bytes());
                        }
                    }
                }
                _ => return None,
            }
        }
    }

    fn number(&mut self) -> Option<u128> {
        let start = self.at;
        self.at += number_length(&self.text.as_bytes()[start..]);
        Some(hash_number(Canonical::read(&self.text[start..self.at])?))
    }

    fn word(&mut self, word: &str, hash: u128) -> Option<u128> {
        let is_here = self.text.as_bytes()[self.at..].starts_with(word.as_bytes());
        self.at += word.len();
        is_here.then_some(hash)
    }

    fn take(&mut self, wanted: u8) -> bool {
        let is_here = self.peek() == Some(wanted);
        self.at += usize::from(is_here);
        is_here
    }

    fn peek(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = bytes.get(self.at) {
            self.at += 1;
        }
        bytes.get(self.at).copied()
    }
}

/// The token after a value.
enum Next {
    Value,
    Closed(u128),
    Done,
}

#[cfg(test)]
mod tests;
