//! Which parts of a JSON answer are the same in two calls and will stay so?

use super::observed::{Expectation, is_lasting_in_json};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// The bytes above which an answer is too long for a suite, and is not compared as a whole.
const LONGEST: usize = 1500;

/// The expectation that an answer equals these two but for the places that vary. `None` if nothing else remains.
pub(super) fn equal_beside_what_varies(
    target: &str,
    [one, other]: [&Value; 2],
    args: &Value,
    is_closed: bool,
) -> Option<Expectation> {
    let mut compared = Compared {
        args,
        is_closed,
        varying: BTreeSet::new(),
        has_stable_value: false,
    };
    let stable = compared.stable(one, other, &[])?;
    if !compared.has_stable_value || stable.to_string().len() > LONGEST {
        return None;
    }
    let matcher = if compared.varying.is_empty() {
        json!({ "equals-json": stable })
    } else {
        json!({ "equals-json": stable, "except": compared.varying })
    };
    Some(Expectation::new(target, matcher))
}

struct Compared<'a> {
    args: &'a Value,
    /// True if the tool reads nothing outside, so that its numbers stay.
    is_closed: bool,
    /// The places that vary, as `except:` names them.
    varying: BTreeSet<String>,
    has_stable_value: bool,
}

impl Compared<'_> {
    /// The value without the places that vary. `None` if it varies as a whole.
    fn stable(&mut self, one: &Value, other: &Value, place: &[&str]) -> Option<Value> {
        match (one, other) {
            (Value::Object(one), Value::Object(other)) => self.stable_fields(one, other, place),
            (Value::Array(one), Value::Array(other)) if one.len() == other.len() => {
                let place: Vec<&str> = place.iter().copied().chain(["*"]).collect();
                one.iter()
                    .zip(other)
                    .map(|(one, other)| self.stable(one, other, &place))
                    .collect::<Option<Vec<_>>>()
                    .map(Value::Array)
            }
            _ if one == other && self.is_lasting(one) => {
                self.has_stable_value = true;
                Some(one.clone())
            }
            _ => None,
        }
    }

    fn stable_fields(
        &mut self,
        one: &Map<String, Value>,
        other: &Map<String, Value>,
        place: &[&str],
    ) -> Option<Value> {
        let keys: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
        let mut stable = Map::new();
        for key in keys {
            let inner: Vec<&str> = place.iter().copied().chain([key.as_str()]).collect();
            let both = one.get(key).zip(other.get(key));
            match both.and_then(|(one, other)| self.stable(one, other, &inner)) {
                Some(value) => {
                    stable.insert(key.clone(), value);
                }
                // `except:` cannot name such a key, so all that it is in varies.
                None if key.is_empty() || key.contains('.') || key == "*" => return None,
                None => {
                    self.varying.insert(inner.join("."));
                }
            }
        }
        Some(Value::Object(stable))
    }

    fn is_lasting(&self, value: &Value) -> bool {
        let args = self.args.as_object();
        let is_echo = args.is_some_and(|args| args.values().any(|arg| arg == value));
        is_echo || is_lasting_in_json(value, self.is_closed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drafted(one: &Value, other: &Value, is_closed: bool) -> Option<String> {
        let args = json!({ "day": "2026-01-01" });
        equal_beside_what_varies("result.x", [one, other], &args, is_closed)
            .map(|expectation| expectation.yaml())
    }

    #[test]
    fn times_and_ids_are_taken_out_and_all_else_is_compared() {
        let order = |id: &str, at: u64| {
            json!({"id": "A-17", "total": 12.5, "day": "2026-01-01", "request_id": id, "at": at,
                "items": [{"sku": "X", "seen": at}, {"sku": "Y", "seen": at}]})
        };
        assert_eq!(
            drafted(&order("a", 1), &order("b", 2), true).unwrap(),
            "{ target: result.x, matcher: { equals-json: { day: 2026-01-01, id: A-17, items: [{ sku: X }, { sku: Y }], \
             total: 12.5 }, except: [at, \"items.*.seen\", request_id] } }"
        );
    }

    #[test]
    fn a_value_that_was_the_same_twice_and_is_a_time_is_taken_out() {
        let at = json!({"at": "2026-11-15T10:00:00Z", "city": "Oslo"});
        assert!(
            drafted(&at, &at, true)
                .unwrap()
                .ends_with("{ city: Oslo }, except: [at] } }")
        );
    }

    #[test]
    fn numbers_of_a_tool_that_reads_the_outside_world_are_taken_out() {
        let weather = json!({"city": "Oslo", "degrees": 21});
        assert!(
            drafted(&weather, &weather, false)
                .unwrap()
                .contains("except: [degrees]")
        );
        assert!(
            !drafted(&weather, &weather, true)
                .unwrap()
                .contains("except")
        );
    }

    #[test]
    fn an_answer_of_which_nothing_stays_has_no_such_expectation() {
        assert_eq!(drafted(&json!({"at": 1}), &json!({"at": 2}), true), None);
        assert_eq!(drafted(&json!([1]), &json!([1, 2]), true), None);
        assert_eq!(
            drafted(&json!({"a.b": 1, "c": 2}), &json!({"a.b": 2, "c": 2}), true),
            None
        );
        assert_eq!(drafted(&json!({}), &json!({}), true), None);
    }
}
