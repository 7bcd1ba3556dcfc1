//! `args.items[0]["odd name"]`: where does a path lead in the values of a call?

use super::state::StateNow;
use serde_json::Value;
use std::ops::Range;

/// A problem in a text, and its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) bytes: Range<usize>,
    pub(super) message: String,
    pub(super) help: Option<String>,
}

impl Fault {
    pub(super) fn new(bytes: Range<usize>, message: impl Into<String>) -> Self {
        Self {
            bytes,
            message: message.into(),
            help: None,
        }
    }

    pub(super) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// A path: the name of a value, and the steps into it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Path {
    root: String,
    steps: Vec<Step>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    Key(String),
    /// The index; a negative one counts from the end.
    Index(i64),
}

/// The values that paths lead into, by name.
#[derive(Clone, Default)]
pub(super) struct Values<'v> {
    named: Vec<(&'v str, &'v Value)>,
    state: Option<&'v StateNow<'v>>,
}

/// The default name of the server's state.
pub(super) const STATE: &str = "state";

impl<'v> Values<'v> {
    pub(super) fn new(entries: impl IntoIterator<Item = (&'v str, &'v Value)>) -> Self {
        Self {
            named: entries.into_iter().collect(),
            state: None,
        }
    }

    /// These values and the state.
    pub(super) fn and_state(self, state: &'v StateNow<'v>) -> Self {
        Self {
            state: Some(state),
            ..self
        }
    }

    /// Adds a value to these values.
    pub(super) fn with<'w>(&self, name: &'w str, value: &'w Value) -> Values<'w>
    where
        'v: 'w,
    {
        Values {
            named: self.named.iter().copied().chain([(name, value)]).collect(),
            state: self.state,
        }
    }
}

impl Path {
    /// The path at the start of `text`, and its length in bytes. `known` are the names of values.
    pub(super) fn read(text: &str, known: &[&str]) -> Result<(Self, usize), Fault> {
        let root = name_length(text);
        if root == 0 {
            return Err(Fault::new(
                0..first_character(text),
                "a path starts with the name of a value",
            )
            .help(format!("known here: {}", known.join(", "))));
        }
        let name = &text[..root];
        if !known.contains(&name) {
            let fault = Fault::new(0..root, format!("`{name}` is not defined here"));
            return Err(
                match mcptest_core::problem::nearest(name, known.iter().copied()) {
                    Some(near) => fault.help(format!("did you mean `{near}`?")),
                    None => fault.help(format!("known here: {}", known.join(", "))),
                },
            );
        }
        let mut path = Self {
            root: name.to_owned(),
            steps: Vec::new(),
        };
        let mut at = root;
        while let Some((step, length)) =
            Step::read(&text[at..]).map_err(|fault| moved(fault, at))?
        {
            path.steps.push(step);
            at += length;
        }
        Ok((path, at))
    }

    /// The argument that the path leads into.
    pub(super) fn argument(&self) -> Option<&str> {
        match (self.root.as_str(), self.steps.first()) {
            ("args", Some(Step::Key(name))) => Some(name),
            _ => None,
        }
    }

    /// The value that the path leads to.
    pub(super) fn find<'v>(&self, values: &Values<'v>) -> Option<&'v Value> {
        let named = values
            .named
            .iter()
            .rev()
            .find(|(name, _)| *name == self.root)
            .map(|(_, value)| *value);
        let state = || {
            values
                .state
                .filter(|_| self.root == STATE)
                .map(StateNow::value)
        };
        self.steps
            .iter()
            .try_fold(named.or_else(state)?, |value, step| step.into(value))
    }
}

pub(super) fn moved(fault: Fault, by: usize) -> Fault {
    Fault {
        bytes: fault.bytes.start + by..fault.bytes.end + by,
        ..fault
    }
}

impl Step {
    fn read(text: &str) -> Result<Option<(Self, usize)>, Fault> {
        if let Some(rest) = text.strip_prefix('.') {
            let length = name_length(rest);
            if length == 0 {
                return Err(Fault::new(0..1, "a name is missing after the dot")
                    .help("write an unusual name as `[\"odd name\"]`"));
            }
            return Ok(Some((Self::Key(rest[..length].to_owned()), length + 1)));
        }
        let Some(rest) = text.strip_prefix('[') else {
            return Ok(None);
        };
        if let Some((key, length)) = quoted(rest)? {
            if !rest[length..].starts_with(']') {
                return Err(Fault::new(0..length + 1, "`[` is never closed with `]`"));
            }
            return Ok(Some((Self::Key(key), length + 2)));
        }
        let close = rest
            .find(']')
            .ok_or_else(|| Fault::new(0..1, "`[` is never closed with `]`"))?;
        let index = rest[..close].trim().parse().map_err(|_| {
            Fault::new(
                0..close + 2,
                format!("`{}` is not a number or a quoted name", &rest[..close]),
            )
        })?;
        Ok(Some((Self::Index(index), close + 2)))
    }

    fn into<'v>(&self, value: &'v Value) -> Option<&'v Value> {
        match (self, value) {
            (Self::Key(key), Value::Object(map)) => map.get(key),
            (Self::Index(index), Value::Array(items)) => {
                let index = if *index < 0 {
                    items.len() as i64 + index
                } else {
                    *index
                };
                items.get(usize::try_from(index).ok()?)
            }
            _ => None,
        }
    }
}

/// The number of leading bytes that form a name: letters, digits, `_`, and `-` between them.
pub(super) fn name_length(text: &str) -> usize {
    let end = text
        .find(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '-'))
        .unwrap_or(text.len());
    text[..end].trim_end_matches('-').len()
}

pub(super) fn first_character(text: &str) -> usize {
    text.chars().next().map_or(0, char::len_utf8)
}

/// A quoted string at the start, in double or single quotes, and its length in bytes.
pub(super) fn quoted(text: &str) -> Result<Option<(String, usize)>, Fault> {
    let Some(quote) = text.chars().next().filter(|c| matches!(c, '"' | '\'')) else {
        return Ok(None);
    };
    let mut value = String::new();
    let mut characters = text.char_indices().skip(1);
    while let Some((at, c)) = characters.next() {
        match c {
            c if c == quote => return Ok(Some((value, at + 1))),
            '\\' => match characters.next() {
                Some((_, 'n')) => value.push('\n'),
                Some((_, 't')) => value.push('\t'),
                Some((_, c @ ('\\' | '"' | '\''))) => value.push(c),
                _ => {
                    return Err(Fault::new(at..at + 1, "escapes are not supported here")
                        .help("known escapes: `\\\\`, `\\\"`, `\\'`, `\\n`, `\\t`"));
                }
            },
            c => value.push(c),
        }
    }
    Err(Fault::new(0..1, "this quote is never closed"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn find(path: &str, args: &Value) -> Option<Value> {
        let (read, length) = Path::read(path, &["args"]).unwrap();
        assert_eq!(length, path.len());
        read.find(&Values::new([("args", args)])).cloned()
    }

    #[test]
    fn a_path_leads_through_maps_and_lists_and_odd_names() {
        let args = json!({"a": {"b": [1, 2]}, "odd name": {"user-id": true}});
        assert_eq!(find("args.a.b[0]", &args), Some(json!(1)));
        assert_eq!(find("args.a.b[-1]", &args), Some(json!(2)));
        assert_eq!(find("args[\"odd name\"].user-id", &args), Some(json!(true)));
        assert_eq!(find("args.a.b[-3]", &args), None);
        assert_eq!(find("args.a.b.c", &args), None);
        assert_eq!(find("args", &args), Some(args.clone()));
    }

    #[test]
    fn a_path_that_is_none_says_where() {
        let fault = |path: &str| Path::read(path, &["args", "sampling"]).unwrap_err();
        assert_eq!(fault("arg.x").help.unwrap(), "did you mean `args`?");
        assert_eq!(fault("args..x").bytes, 4..5);
        assert_eq!(fault("args.a[x]").bytes, 6..9);
        assert_eq!(fault("args.a[\"x").message, "this quote is never closed");
        assert_eq!(fault("").help.unwrap(), "known here: args, sampling");
    }
}
