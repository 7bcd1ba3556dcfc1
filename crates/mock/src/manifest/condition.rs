//! `when:` does a condition hold for a call? A small subset of CEL with its own parser: the CEL
//! crates bring an ANTLR runtime.

use super::path::{Fault, Path, Values, first_character, moved, name_length, quoted};
use mcptest_core::json::values_equal;
use serde_json::{Number, Value};
use std::cmp::Ordering;

const MAX_LENGTH: usize = 4096;
const MAX_DEPTH: usize = 50;

/// A condition over the values of a call.
#[derive(Debug)]
pub(super) enum Condition {
    Any(Vec<Condition>),
    All(Vec<Condition>),
    Not(Box<Condition>),
    Has(Path),
    Compare {
        left: Operand,
        comparison: Comparison,
        right: Operand,
    },
    In {
        item: Operand,
        collection: Operand,
    },
    True(Operand),
}

#[derive(Debug)]
pub(super) enum Operand {
    Path(Path),
    Literal(Value),
}

/// The comparison of two values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comparison {
    Equal,
    NotEqual,
    Less,
    AtMost,
    Greater,
    AtLeast,
}

impl Comparison {
    /// The sign of each comparison. A longer sign comes before its prefix.
    const SIGNS: [(&str, Self); 6] = [
        ("==", Self::Equal),
        ("!=", Self::NotEqual),
        ("<=", Self::AtMost),
        (">=", Self::AtLeast),
        ("<", Self::Less),
        (">", Self::Greater),
    ];

    fn holds(self, left: &Value, right: &Value) -> bool {
        match self {
            Self::Equal => values_equal(left, right),
            Self::NotEqual => !values_equal(left, right),
            Self::Less => order(left, right).is_some_and(Ordering::is_lt),
            Self::AtMost => order(left, right).is_some_and(Ordering::is_le),
            Self::Greater => order(left, right).is_some_and(Ordering::is_gt),
            Self::AtLeast => order(left, right).is_some_and(Ordering::is_ge),
        }
    }
}

impl Condition {
    /// Reads a condition. `known` are the names of values.
    pub(super) fn read(text: &str, known: &[&str]) -> Result<Self, Fault> {
        if text.len() > MAX_LENGTH {
            return Err(Fault::new(
                0..text.len(),
                format!("a condition can have at most {MAX_LENGTH} bytes"),
            ));
        }
        let mut parser = Parser {
            text,
            known,
            position: 0,
            depth: 0,
        };
        let condition = parser.alternatives()?;
        match parser.rest() {
            "" => Ok(condition),
            _ => Err(parser.unexpected("`and`, `or` or the end")),
        }
    }

    /// The paths that it uses.
    pub(super) fn paths(&self) -> Vec<&Path> {
        let operands = match self {
            Self::Any(parts) | Self::All(parts) => {
                return parts.iter().flat_map(Self::paths).collect();
            }
            Self::Not(part) => return part.paths(),
            Self::Has(path) => return vec![path],
            Self::Compare { left, right, .. } => vec![left, right],
            Self::In { item, collection } => vec![item, collection],
            Self::True(operand) => vec![operand],
        };
        operands.into_iter().filter_map(Operand::path).collect()
    }

    /// Returns true if it holds. A missing value or an impossible comparison does not hold.
    pub(super) fn holds(&self, values: &Values<'_>) -> bool {
        match self {
            Self::Any(parts) => parts.iter().any(|part| part.holds(values)),
            Self::All(parts) => parts.iter().all(|part| part.holds(values)),
            Self::Not(part) => !part.holds(values),
            Self::Has(path) => path.find(values).is_some(),
            Self::True(operand) => operand.find(values) == Some(&Value::Bool(true)),
            Self::In { item, collection } => match (item.find(values), collection.find(values)) {
                (Some(item), Some(collection)) => contains(collection, item),
                _ => false,
            },
            Self::Compare {
                left,
                comparison,
                right,
            } => match (left.find(values), right.find(values)) {
                (Some(left), Some(right)) => comparison.holds(left, right),
                _ => false,
            },
        }
    }
}

/// Returns true if a list has this item, or a map this key.
fn contains(collection: &Value, item: &Value) -> bool {
    match (collection, item) {
        (Value::Array(items), item) => items.iter().any(|other| values_equal(item, other)),
        (Value::Object(map), Value::String(key)) => map.contains_key(key),
        _ => false,
    }
}

impl Operand {
    fn path(&self) -> Option<&Path> {
        match self {
            Self::Path(path) => Some(path),
            Self::Literal(_) => None,
        }
    }

    fn find<'v>(&'v self, values: &Values<'v>) -> Option<&'v Value> {
        match self {
            Self::Path(path) => path.find(values),
            Self::Literal(value) => Some(value),
        }
    }
}

/// Orders numbers by size and texts by characters; other values have no order.
fn order(left: &Value, right: &Value) -> Option<Ordering> {
    let whole = |number: &Number| {
        number
            .as_i64()
            .map(i128::from)
            .or(number.as_u64().map(i128::from))
    };
    match (left, right) {
        (Value::String(left), Value::String(right)) => Some(left.cmp(right)),
        (Value::Number(left), Value::Number(right)) => match (whole(left), whole(right)) {
            (Some(left), Some(right)) => Some(left.cmp(&right)),
            _ => left.as_f64()?.partial_cmp(&right.as_f64()?),
        },
        _ => None,
    }
}

struct Parser<'t> {
    text: &'t str,
    known: &'t [&'t str],
    position: usize,
    depth: usize,
}

impl<'t> Parser<'t> {
    /// The unread text, after white space.
    fn rest(&mut self) -> &'t str {
        let rest = &self.text[self.position..];
        let trimmed = rest.trim_start();
        self.position += rest.len() - trimmed.len();
        trimmed
    }

    /// Reads one of these words or signs, if the text continues with it.
    fn accept(&mut self, words: &[&str]) -> bool {
        let rest = self.rest();
        let is_there = |word: &&&str| {
            let is_name = word.starts_with(char::is_alphabetic);
            rest.starts_with(**word) && (!is_name || name_length(rest) == word.len())
        };
        let found = words.iter().find(is_there);
        self.position += found.map_or(0, |word| word.len());
        found.is_some()
    }

    fn unexpected(&mut self, wanted: &str) -> Fault {
        let rest = self.rest();
        let end = self.position + name_length(rest).max(first_character(rest));
        let message = match &self.text[self.position..end] {
            "" => format!("the condition ends here; {wanted} is missing"),
            "=" => {
                return Fault::new(self.position..end, "`=` compares nothing").help("write `==`");
            }
            found => format!("expected {wanted}, found `{found}`"),
        };
        Fault::new(self.position..end, message)
    }

    fn alternatives(&mut self) -> Result<Condition, Fault> {
        let mut parts = vec![self.conjunction()?];
        while self.accept(&["or", "||"]) {
            parts.push(self.conjunction()?);
        }
        Ok(if parts.len() == 1 {
            parts.remove(0)
        } else {
            Condition::Any(parts)
        })
    }

    fn conjunction(&mut self) -> Result<Condition, Fault> {
        let mut parts = vec![self.term()?];
        while self.accept(&["and", "&&"]) {
            parts.push(self.term()?);
        }
        Ok(if parts.len() == 1 {
            parts.remove(0)
        } else {
            Condition::All(parts)
        })
    }

    fn term(&mut self) -> Result<Condition, Fault> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Fault::new(
                self.position..self.position,
                format!("this is nested more than {MAX_DEPTH} deep"),
            ));
        }
        let condition = self.term_of_any_depth();
        self.depth -= 1;
        condition
    }

    fn term_of_any_depth(&mut self) -> Result<Condition, Fault> {
        if self.accept(&["not"]) || (!self.rest().starts_with("!=") && self.accept(&["!"])) {
            return Ok(Condition::Not(Box::new(self.term()?)));
        }
        if self.accept(&["("]) {
            let inner = self.alternatives()?;
            return if self.accept(&[")"]) {
                Ok(inner)
            } else {
                Err(self.unexpected("`)`"))
            };
        }
        if self.accept(&["has"]) {
            return self.has();
        }
        let left = self.operand()?;
        self.rest_of_comparison(left)
    }

    /// Reads the operator and the right side, after the left side.
    fn rest_of_comparison(&mut self, left: Operand) -> Result<Condition, Fault> {
        if self.accept(&["in"]) {
            return self.membership(left);
        }
        if self.accept(&["not"]) {
            if !self.accept(&["in"]) {
                return Err(self.unexpected("`in`"));
            }
            let membership = self.membership(left)?;
            return Ok(Condition::Not(Box::new(membership)));
        }
        let sign = Comparison::SIGNS
            .into_iter()
            .find(|(sign, _)| self.accept(&[sign]));
        match sign {
            Some((_, comparison)) => Ok(Condition::Compare {
                left,
                comparison,
                right: self.operand()?,
            }),
            None => Ok(Condition::True(left)),
        }
    }

    fn membership(&mut self, item: Operand) -> Result<Condition, Fault> {
        let collection = self.operand()?;
        Ok(Condition::In { item, collection })
    }

    fn has(&mut self) -> Result<Condition, Fault> {
        if !self.accept(&["("]) {
            return Err(self.unexpected("`(`"));
        }
        let path = self.path()?;
        if self.accept(&[")"]) {
            Ok(Condition::Has(path))
        } else {
            Err(self.unexpected("`)`"))
        }
    }

    fn path(&mut self) -> Result<Path, Fault> {
        let rest = self.rest();
        let (path, length) =
            Path::read(rest, self.known).map_err(|fault| moved(fault, self.position))?;
        self.position += length;
        Ok(path)
    }

    fn operand(&mut self) -> Result<Operand, Fault> {
        for (word, value) in [
            ("null", Value::Null),
            ("true", true.into()),
            ("false", false.into()),
        ] {
            if self.accept(&[word]) {
                return Ok(Operand::Literal(value));
            }
        }
        let rest = self.rest();
        if let Some((text, length)) = quoted(rest).map_err(|fault| moved(fault, self.position))? {
            self.position += length;
            return Ok(Operand::Literal(text.into()));
        }
        if rest.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '.')) {
            return self.number().map(Operand::Literal);
        }
        if self.accept(&["["]) {
            return self.list().map(Operand::Literal);
        }
        if name_length(rest) == 0 {
            return Err(self.unexpected("a value, such as `args.city` or `\"Paris\"`"));
        }
        self.path().map(Operand::Path)
    }

    fn number(&mut self) -> Result<Value, Fault> {
        let rest = self.rest();
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '+' | '.');
        let length = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        let number = serde_json::from_str(&rest[..length]).map_err(|_| {
            Fault::new(
                self.position..self.position + length,
                format!("`{}` is not a number", &rest[..length]),
            )
        })?;
        self.position += length;
        Ok(number)
    }

    fn list(&mut self) -> Result<Value, Fault> {
        let mut items = Vec::new();
        while !self.accept(&["]"]) {
            if !items.is_empty() && !self.accept(&[","]) {
                return Err(self.unexpected("`,` or `]`"));
            }
            let start = self.position;
            match self.operand()? {
                Operand::Literal(item) if !item.is_array() => items.push(item),
                _ => {
                    let fault = Fault::new(
                        start..self.position,
                        "a list can contain only texts, numbers, `true`, `false` and `null`",
                    );
                    return Err(fault.help("compare with `==` and `or` instead"));
                }
            }
        }
        Ok(items.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn holds(condition: &str) -> bool {
        let args = json!({"city": "Paris", "days": 3, "price": 2.5, "none": null, "flag": true,
            "tags": ["a", "b"], "at": {"odd name": [0, {"x": 1}]}, "big": 9_007_199_254_740_993_u64});
        let condition = Condition::read(condition, &["args", "in_put"]).unwrap();
        condition.holds(&Values::new([("args", &args)]))
    }

    #[test]
    fn what_holds_and_what_does_not() {
        for condition in [
            r#"args.city == "Paris" and args.days > 2"#,
            "args.city == 'Paris' && !(args.days < 3)",
            "args.days == 3.0 and args.price >= 2.5 and args.days <= 3",
            "has(args.none) and not has(args.other)",
            "args.none == null",
            "args.flag",
            "args.flag == true or args.nope",
            "args.city in ['Oslo', \"Paris\"]",
            "args.city not in ['Oslo']",
            "'a' in args.tags and args.tags[-1] == 'b'",
            "'odd name' in args.at",
            r#"args.at["odd name"][1].x == 1"#,
            "false or false and true or true",
            "args.city > 'Oslo'",
            "args.days != '3'",
            "args.big > 9007199254740992",
            "-1 < args.days",
            "not not args.flag",
        ] {
            assert!(holds(condition), "{condition}");
        }
        for condition in [
            "args.nope == null",
            "args.nope != 3",
            "args.days == '3'",
            "args.days < 'z'",
            "args.city",
            "args.days",
            "args.tags < args.tags",
            "args.nope in ['a']",
            "'a' in args.city",
            "not args.flag",
        ] {
            assert!(!holds(condition), "{condition}");
        }
    }

    #[test]
    fn a_fault_says_what_was_expected_and_at_which_bytes() {
        let fault = |text: &str| {
            let fault = Condition::read(text, &["args"]).unwrap_err();
            (fault.bytes, fault.message)
        };
        assert_eq!(fault("args.a = 1"), (7..8, "`=` compares nothing".into()));
        assert_eq!(
            fault("arg.a == 1"),
            (0..3, "`arg` is not defined here".into())
        );
        assert_eq!(
            fault("args.a == "),
            (
                10..10,
                "the condition ends here; a value, such as `args.city` or `\"Paris\"` is missing"
                    .into()
            )
        );
        assert_eq!(
            fault("(args.a == 1"),
            (12..12, "the condition ends here; `)` is missing".into())
        );
        assert_eq!(
            fault("args.a == 1 args.b").1,
            "expected `and`, `or` or the end, found `args`"
        );
        assert_eq!(
            fault("args.a == 'x"),
            (10..11, "this quote is never closed".into())
        );
        assert_eq!(
            fault("args.a == 1x"),
            (10..12, "`1x` is not a number".into())
        );
        assert_eq!(
            fault("args.a in [args.b]").1,
            "a list can contain only texts, numbers, `true`, `false` and `null`"
        );
        assert_eq!(fault("has args.a").1, "expected `(`, found `args`");
        assert_eq!(fault("").0, 0..0);
    }

    proptest::proptest! {
        #[test]
        fn no_text_brings_the_parser_down(text in "(args|has|not|in|and|or|[().,=<>!&|\"'\\[\\]{}$é\\\\ -]|[0-9]|x){0,24}") {
            let args = json!({"x": [1]});
            if let Ok(condition) = Condition::read(&text, &["args"]) {
                condition.holds(&Values::new([("args", &args)]));
            }
            let template = crate::manifest::template::Template::read(&format!("${{{text}"), &["args"]);
            if let Err(fault) = template {
                proptest::prop_assert!(fault.bytes.end <= text.len() + 2);
            }
        }
    }

    #[test]
    fn long_and_deep_conditions_are_refused() {
        assert!(
            Condition::read(&"(".repeat(4000), &[])
                .unwrap_err()
                .message
                .contains("deep")
        );
        assert!(
            Condition::read(&"not ".repeat(1000), &[])
                .unwrap_err()
                .message
                .contains("deep")
        );
        assert!(
            Condition::read(&"x".repeat(5000), &[])
                .unwrap_err()
                .message
                .contains("at most")
        );
    }
}
