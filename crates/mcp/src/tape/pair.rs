//! Which answer belongs to which request of a tape?

use super::{Direction, Entry, Event, Tape};
use crate::jsonrpc::{Body, Id, RpcError, parse};
use crate::wire::CallParams;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// A request of either side, with its answer.
#[derive(Debug, Clone)]
pub(crate) struct TapeRequest<'a> {
    /// The entry that contains it.
    pub(crate) entry: usize,
    pub(crate) from: Direction,
    pub(crate) session: Option<u64>,
    pub(crate) at_us: u64,
    pub(crate) id: Id,
    pub(crate) method: Cow<'a, str>,
    pub(crate) params: Option<&'a RawValue>,
    pub(crate) answer: Option<Answered<'a>>,
    /// The client cancelled the request.
    pub(crate) is_cancelled: bool,
    /// The faults that the proxy injected.
    pub(crate) faults: Vec<&'a str>,
}

/// The answer to a request.
#[derive(Debug, Clone)]
pub(crate) struct Answered<'a> {
    pub(crate) entry: usize,
    pub(crate) at_us: u64,
    pub(crate) outcome: Result<&'a RawValue, RpcError>,
}

impl<'a> TapeRequest<'a> {
    /// The parameters of a tool call.
    pub(crate) fn call(&self) -> Option<CallParams<'a>> {
        CallParams::read(self.params.filter(|_| self.method == "tools/call")?)
    }

    /// The result, if any.
    pub(crate) fn result(&self) -> Option<&'a RawValue> {
        self.answer.as_ref()?.outcome.as_ref().ok().copied()
    }

    /// The duration, in microseconds.
    pub(crate) fn duration_us(&self) -> Option<u64> {
        self.answer
            .as_ref()
            .map(|answer| answer.at_us.saturating_sub(self.at_us))
    }
}

/// Every request of the tape in order.
pub(crate) fn requests(tape: &Tape) -> Vec<TapeRequest<'_>> {
    let mut asked: Vec<TapeRequest<'_>> = Vec::new();
    for (index, entry) in tape.entries.iter().enumerate() {
        if let Some(Event::Fault { fault }) = &entry.event {
            strike(tape, &mut asked, entry, fault);
        }
        let Some(from) = entry.from else { continue };
        for text in messages(entry) {
            let Ok(message) = parse(text) else { continue };
            match message.body {
                Body::Request { id, method, params } => asked.push(TapeRequest {
                    entry: index,
                    from,
                    session: entry.session,
                    at_us: entry.at_us,
                    id,
                    method,
                    params,
                    answer: None,
                    is_cancelled: false,
                    faults: Vec::new(),
                }),
                Body::Result { id, result } => {
                    answer(tape, &mut asked, (index, from), &id, Ok(result));
                }
                Body::Error {
                    id: Some(id),
                    error,
                } => {
                    answer(tape, &mut asked, (index, from), &id, Err(error));
                }
                body => {
                    if let Some(id) = body.cancelled_id() {
                        cancel(&mut asked, entry, from, &id);
                    }
                }
            }
        }
    }
    asked
}

/// A fault strikes the newest request of the client at its place.
fn strike<'a>(tape: &Tape, asked: &mut [TapeRequest<'a>], entry: &Entry, fault: &'a str) {
    let struck = asked.iter_mut().rev().find(|asked| {
        asked.from == Direction::Client && same_place(&tape.entries[asked.entry], entry)
    });
    if let Some(struck) = struck {
        struck.faults.push(fault);
    }
}

/// Cancels a side's newest request with this id.
fn cancel(asked: &mut [TapeRequest<'_>], entry: &Entry, from: Direction, id: &Id) {
    let cancelled = asked
        .iter_mut()
        .rev()
        .find(|asked| asked.id == *id && asked.from == from && asked.session == entry.session);
    if let Some(asked) = cancelled {
        asked.is_cancelled = true;
    }
}

fn answer<'a>(
    tape: &Tape,
    asked: &mut [TapeRequest<'a>],
    (index, from): (usize, Direction),
    id: &Id,
    outcome: Result<&'a RawValue, RpcError>,
) {
    let entry = &tape.entries[index];
    let waits = |asked: &TapeRequest<'_>| {
        asked.answer.is_none()
            && asked.from != from
            && asked.id == *id
            && asked.session == entry.session
    };
    let found = asked
        .iter()
        .rposition(|asked| waits(asked) && tape.entries[asked.entry].exchange == entry.exchange)
        .or_else(|| asked.iter().rposition(waits));
    if let Some(found) = found {
        asked[found].answer = Some(Answered {
            entry: index,
            at_us: entry.at_us,
            outcome,
        });
    }
}

fn same_place(one: &Entry, other: &Entry) -> bool {
    one.session == other.session && one.exchange == other.exchange
}

/// The messages of an entry: one, or all of a batch.
pub(crate) fn messages(entry: &Entry) -> Vec<&str> {
    let Some(message) = &entry.message else {
        return Vec::new();
    };
    if message.get().starts_with('[')
        && let Ok(batch) = serde_json::from_str::<Vec<&RawValue>>(message.get())
    {
        return batch.into_iter().map(RawValue::get).collect();
    }
    vec![message.get()]
}
