//! Can a matcher hold for what a target is, whatever is recorded there?

use super::{combine, items};
use serde_json::Value;

/// The kind of value at a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Type {
    Text,
    Number,
    Flag,
    Object,
    List(Box<Type>),
    Any,
}

impl Type {
    fn has(&self, value: &Value) -> bool {
        match self {
            Self::Text => value.is_string(),
            Self::Number => value.is_number(),
            Self::Flag => value.is_boolean(),
            Self::Object => value.is_object(),
            Self::List(_) => value.is_array(),
            Self::Any => true,
        }
    }

    pub(crate) fn in_words(&self) -> &'static str {
        match self {
            Self::Text => "a string",
            Self::Number => "a number",
            Self::Flag => "`true` or `false`",
            Self::Object => "an object",
            Self::List(_) => "a list",
            Self::Any => "any value",
        }
    }

    fn advice(&self) -> &'static str {
        match self {
            Self::Text => "compare a string with `exact`, `contains` or `regex`, or its `length`",
            Self::Number => "compare a number with `exact`, `gte`, `lte`, `gt` or `lt`",
            Self::Flag => "write `exact: true` or `exact: false`",
            Self::Object => "name one of its fields in the target, or write `subset` or `schema`",
            Self::List(_) => {
                "check the items with `any-item`, `every-item` or `no-item`, or check the `length`"
            }
            Self::Any => "",
        }
    }
}

/// A matcher that never holds for values of a type.
pub(crate) struct Misfit<'m> {
    /// The part of the value that it looks at, in words.
    part: &'static str,
    key: &'m str,
    operand: &'m Value,
    of: Type,
}

impl Misfit<'_> {
    /// The message about the matcher and its target.
    pub(crate) fn message(&self, target: &str) -> String {
        let Self {
            part,
            key,
            operand,
            of,
        } = self;
        let is_about_value = matches!(
            *key,
            "exact" | "one-of" | "oneOf" | "subset" | "equals-json"
        );
        let matcher = if is_about_value {
            format!("`{key}: {operand}`")
        } else {
            format!("`{key}`")
        };
        format!(
            "{part}`{target}` is {}: {matcher} never holds for it",
            of.in_words()
        )
    }

    pub(crate) fn help(&self) -> String {
        let (key, operand) = (self.key, self.operand);
        let number = || {
            operand
                .as_str()
                .filter(|text| text.parse::<f64>().is_ok_and(f64::is_finite))
        };
        match (&self.of, operand) {
            (Type::Number, Value::String(_)) if key == "exact" && number().is_some() => {
                format!(
                    "write the number without quotes: `exact: {}`",
                    number().unwrap_or_default()
                )
            }
            (Type::Text, Value::Number(number)) if matches!(key, "exact" | "contains") => {
                format!("write it as a string, in quotes: `{key}: \"{number}\"`")
            }
            (of, _) => of.advice().to_owned(),
        }
    }
}

/// The first part of a matcher that can never hold for such a value. Below `not`, that part asserts
/// nothing.
pub(super) fn misfit<'m>(written: &'m Value, of: &Type) -> Option<Misfit<'m>> {
    if *of == Type::Any {
        return None;
    }
    let (key, operand) = written.as_object()?.iter().next()?;
    let misfits = || Misfit {
        part: "",
        key,
        operand,
        of: of.clone(),
    };
    if combine::KEYS.contains(&key.as_str()) {
        let inner = operand
            .as_array()
            .map_or(std::slice::from_ref(operand), Vec::as_slice);
        return inner.iter().find_map(|inner| misfit(inner, of));
    }
    if items::KEYS.contains(&key.as_str()) {
        let Type::List(item) = of else {
            return Some(misfits());
        };
        return misfit(operand, item).map(|misfit| Misfit {
            part: "an item of ",
            ..misfit
        });
    }
    if key == "length" && operand.is_object() && can_hold(key, operand, of) {
        return misfit(operand, &Type::Number).map(|misfit| Misfit {
            part: "the length of ",
            ..misfit
        });
    }
    (!can_hold(key, operand, of)).then(misfits)
}

fn can_hold(key: &str, operand: &Value, of: &Type) -> bool {
    let contains = |part: &Value| match of {
        Type::Text => part.is_string(),
        Type::Object => part.is_object(),
        Type::List(item) => part.is_array() || part.is_null() || item.has(part),
        Type::Any => true,
        Type::Number | Type::Flag => false,
    };
    let mut parts = operand.as_array().into_iter().flatten();
    let is_there = |value: &Value| value.is_null() || of.has(value);
    match key {
        "exact" | "subset" => is_there(operand),
        "equals-json" => *of == Type::Text || is_there(operand),
        "one-of" | "oneOf" => parts.any(is_there),
        "contains" => contains(operand),
        "contains-all" => parts.all(contains),
        "contains-any" => parts.any(contains),
        "icontains" => match of {
            Type::List(item) => matches!(**item, Type::Text | Type::Any),
            _ => *of == Type::Text,
        },
        "starts-with" | "ends-with" | "regex" => *of == Type::Text,
        "gte" | "lte" | "gt" | "lt" => *of == Type::Number,
        "length" => matches!(of, Type::Text | Type::List(_) | Type::Object),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn fits(written: &Value, of: &Type) -> bool {
        misfit(written, of).is_none()
    }

    #[test]
    fn what_no_number_text_or_flag_can_meet_is_seen_at_any_depth() {
        for written in [
            json!({"contains": "1"}),
            json!({"regex": "1"}),
            json!({"length": 2}),
            json!({"exact": "10"}),
            json!({"one-of": ["10", "11"]}),
            json!({"not": {"contains": "1"}}),
            json!({"all-of": [{"gte": 1}, {"starts-with": "1"}]}),
            json!({"any-item": {"gte": 1}}),
        ] {
            assert!(!fits(&written, &Type::Number), "{written}");
        }
        for written in [
            json!({"gte": 3}),
            json!({"exact": 3}),
            json!({"contains": 3}),
        ] {
            assert!(!fits(&written, &Type::Text), "{written}");
        }
        assert!(!fits(&json!({"exact": "false"}), &Type::Flag));
        let numbers = Type::List(Box::new(Type::Number));
        assert!(
            !fits(&json!({"gte": 3}), &numbers)
                && !fits(&json!({"every-item": {"regex": "3"}}), &numbers)
        );
        assert!(!fits(&json!({"length": {"contains": "3"}}), &Type::Text));
    }

    #[test]
    fn what_can_be_met_is_let_be() {
        for written in [
            json!({"exact": 10}),
            json!({"one-of": ["a", 10]}),
            json!({"not": {"gte": 3}}),
        ] {
            assert!(fits(&written, &Type::Number), "{written}");
        }
        for written in [
            json!({"equals-json": {"a": 1}}),
            json!({"length": {"gte": 3}}),
            json!({"absent": true}),
        ] {
            assert!(fits(&written, &Type::Text), "{written}");
        }
        let texts = Type::List(Box::new(Type::Text));
        assert!(
            fits(&json!({"contains": "a"}), &texts)
                && fits(&json!({"every-item": {"regex": "a"}}), &texts)
        );
        assert!(fits(&json!({"gte": 3}), &Type::Any));
    }
}
