//! Which log records describe a request to a model, with its span or without?

use super::attributes::Attributes;
use super::messages::{Message, Side, message_of_event};
use super::span::{Span, hexadecimal, time_of};
use crate::json::{Fields, Misfit};
use std::collections::BTreeMap;

/// The event with everything that was sent and answered.
const DETAILS: &str = "gen_ai.client.inference.operation.details";

/// A log record as far as a conversation needs it.
#[derive(Debug, Default)]
pub(super) struct LogRecord {
    /// Empty if the record belongs to no trace.
    trace: String,
    /// Empty if the record belongs to no span.
    span: String,
    time: u64,
    name: String,
    attributes: Attributes,
    address: usize,
}

impl LogRecord {
    pub(super) fn read(fields: &Fields<'_>) -> Result<Self, Misfit> {
        let id = |keys: &[&str]| {
            let written = keys.iter().find_map(|key| fields.string(key));
            let id = written.map(|id| hexadecimal(&id)).unwrap_or_default();
            // An id of zeros is not a valid id.
            if id.bytes().all(|digit| digit == b'0') {
                String::new()
            } else {
                id
            }
        };
        let mut attributes = Attributes::read(fields)?;
        let named = fields
            .owned("eventName")
            .or_else(|| fields.owned("event_name"))
            .filter(|name| !name.is_empty());
        let name = named.or_else(|| attributes.text(&["event.name"]));
        let name = name.unwrap_or_default();
        if let Some(body) = fields.get("body") {
            let body = attributes.add_body(body);
            if name != DETAILS {
                attributes.insert("gen_ai.event.content", body);
            }
        }
        let time = ["timeUnixNano", "observedTimeUnixNano"]
            .iter()
            .find_map(|key| fields.count(key).filter(|time| *time > 0));
        let date = ["timestamp", "observed_timestamp"]
            .iter()
            .find_map(|key| time_of(fields.get(key)?));
        Ok(Self {
            trace: id(&["traceId", "trace_id"]),
            span: id(&["spanId", "span_id"]),
            time: time.or(date).unwrap_or_default(),
            name,
            attributes,
            address: fields.misfit(String::new()).address,
        })
    }

    fn is_details(&self) -> bool {
        self.name == DETAILS
    }

    /// The message of a record that has only one, with its side.
    fn message(&self) -> Result<Option<(Side, Message)>, Misfit> {
        let message = message_of_event(&self.name, &self.attributes).map_err(|message| Misfit {
            address: self.address,
            message,
        })?;
        Ok(message.map(|message| (Side::from_event(&self.name), message)))
    }
}

/// Adds what log records say to the spans of their requests. A request without a span becomes one.
/// Returns the number of records that describe no request.
pub(super) fn describe(spans: &mut Vec<Span>, mut logs: Vec<LogRecord>) -> Result<usize, Misfit> {
    logs.sort_by_key(|record| record.time);
    let mut by_id: BTreeMap<(String, String), usize> = BTreeMap::new();
    for (at, span) in spans.iter().enumerate() {
        by_id.insert((span.trace.clone(), span.id.clone()), at);
    }
    let mut others = 0;
    let mut unnamed = Unnamed::default();
    for record in logs {
        let message = if record.is_details() {
            None
        } else {
            record.message()?
        };
        let is_other = !record.is_details() && (message.is_none() || record.span.is_empty());
        if is_other {
            others += 1;
            continue;
        }
        let place = (record.trace.clone(), record.span.clone());
        let known = by_id
            .get(&place)
            .copied()
            .filter(|at| !record.span.is_empty() && spans[*at].is_request());
        let at = known.unwrap_or_else(|| {
            spans.push(request(&record, spans.len()));
            if !record.span.is_empty() {
                by_id.insert(place, spans.len() - 1);
            }
            spans.len() - 1
        });
        match message {
            Some((side, message)) => spans[at].add_message(side, message),
            None => spans[at].add_details(record.attributes)?,
        }
        if spans[at].trace.is_empty() {
            unnamed.assign(&mut spans[at]);
        }
    }
    for span in spans.iter_mut() {
        span.settle();
    }
    Ok(others)
}

/// The span of a request of which only log records tell.
fn request(record: &LogRecord, number: usize) -> Span {
    let id = if record.span.is_empty() {
        String::new()
    } else {
        record.span.clone()
    };
    Span {
        trace: record.trace.clone(),
        // The span of that id is not a request: this one is within it.
        parent: (!id.is_empty()).then_some(id),
        id: format!("log {number}"),
        start: record.time,
        end: record.time,
        address: record.address,
        is_logged: true,
        ..Span::default()
    }
}

/// The conversations of requests that belong to no trace: a request that repeats the messages of
/// another one continues it.
#[derive(Default)]
struct Unnamed {
    /// The texts that each conversation sent last.
    sent: Vec<Vec<String>>,
}

impl Unnamed {
    fn assign(&mut self, span: &mut Span) {
        let texts: Vec<String> = span
            .input
            .iter()
            .map(|message| format!("{} {}", message.role, message.text))
            .collect();
        let before = self
            .sent
            .iter()
            .position(|sent| sent.len() < texts.len() && texts.starts_with(sent));
        let at = before.unwrap_or(self.sent.len());
        match self.sent.get_mut(at) {
            Some(sent) => *sent = texts,
            None => self.sent.push(texts),
        }
        span.trace = format!("{}{at}", super::UNNAMED);
    }
}
