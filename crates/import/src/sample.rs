//! Which beginning of a transcript reveals its format?

use crate::json::{Fields, Json};
use mcptest_core::escape::clipped;

const MOST_VALUES: usize = 64;
const MOST_ITEMS: usize = 200;
const DEEPEST: usize = 4;

/// Keys that contain messages, or are next to them.
const AROUND: [&str; 14] = [
    "messages", "request", "response", "body", "params", "inputs", "outputs", "input", "output",
    "choices", "values", "message", "result", "run_type",
];

/// The first objects of a transcript, which show its format.
#[derive(Default)]
pub(crate) struct Sample<'a> {
    /// Objects around messages: requests, responses, runs, exports.
    pub(crate) records: Vec<Fields<'a>>,
    /// Messages and items.
    pub(crate) messages: Vec<Fields<'a>>,
}

impl<'a> Sample<'a> {
    /// A sample of each value, of which a list has many.
    pub(crate) fn from_each(values: &[Json<'a>]) -> Vec<Self> {
        let mut samples = Vec::new();
        for value in values.iter().take(MOST_VALUES) {
            let items = value.list().unwrap_or_else(|| vec![*value]);
            for item in items.into_iter().take(MOST_ITEMS) {
                let mut sample = Self::default();
                sample.collect(item, 1);
                samples.push(sample);
            }
        }
        samples
    }

    fn collect(&mut self, value: Json<'a>, depth: usize) {
        if depth > DEEPEST {
            return;
        }
        if let Some(list) = value.list() {
            for item in list.into_iter().take(MOST_ITEMS) {
                self.collect(item, depth + 1);
            }
            return;
        }
        let Some(fields) = value.object() else { return };
        let is_around = AROUND.iter().any(|key| fields.has(key));
        if fields.has("role") || fields.has("lc") || (fields.has("type") && !is_around) {
            self.messages.push(fields);
            return;
        }
        for inner in AROUND.iter().filter_map(|key| fields.get(key)) {
            self.collect(inner, depth + 1);
        }
        self.records.push(fields);
    }
}

/// Returns true if a part of a message's content has a revealing kind.
pub(crate) fn has_part(message: &Fields<'_>, is_telling: impl Fn(&str) -> bool) -> bool {
    let parts = message
        .get("content")
        .and_then(Json::list)
        .unwrap_or_default();
    parts.iter().any(|part| {
        part.object()
            .and_then(|part| part.string("type"))
            .is_some_and(|kind| is_telling(&kind))
    })
}

/// A description of an unknown file.
pub(crate) fn description(values: &[Json<'_>]) -> String {
    let Some(first) = values.first() else {
        return "nothing".to_owned();
    };
    let described = described(*first);
    if values.len() > 1 {
        format!("{described} on the first of {} lines", values.len())
    } else {
        described
    }
}

fn described(value: Json<'_>) -> String {
    if let Some(fields) = value.object() {
        if let Some(own) = fields
            .string("format")
            .filter(|format| format.starts_with("mcptest-"))
        {
            return format!("a file that mcptest wrote ({})", clipped(&own, 40));
        }
        let mut keys: Vec<String> = fields
            .keys()
            .take(5)
            .map(|key| format!("`{}`", clipped(key, 40)))
            .collect();
        if fields.keys().count() > keys.len() {
            keys.push("…".to_owned());
        }
        return match keys.len() {
            0 => "an empty object".to_owned(),
            _ => format!("an object with {}", keys.join(", ")),
        };
    }
    match value.list() {
        Some(list) => match list.first() {
            Some(first) => format!("a list that begins with {}", described(*first)),
            None => "an empty list".to_owned(),
        },
        None => value.kind().to_owned(),
    }
}
