//! OpenTelemetry GenAI spans: chats, tool executions and MCP calls of a trace are one conversation.

mod attributes;
mod calls;
mod log;
mod messages;
pub(super) mod openinference;
mod span;
mod trace;

use super::Importer;
use super::json::{Fields, Json, Misfit, object_of};
use super::sample::Sample;
use super::transcript::{Dropped, Transcript};
use super::unit::grouped;
use log::{LogRecord, describe};
use span::{Span, SpanKind};
use std::collections::BTreeMap;

pub(super) const IMPORTER: Importer = Importer {
    key: "otel",
    name: "otel genai",
    doc: "`resourceSpans`, `resourceLogs`, or spans and log records as Python prints them, whose attributes begin with `gen_ai.` or `mcp.`",
    also_reads: &[],
    sniff,
    read,
};

fn sniff(sample: &Sample<'_>) -> bool {
    sample
        .records
        .iter()
        .any(|record| is_export(record) || is_span(record) || is_log_of_python(record))
}

fn is_export(record: &Fields<'_>) -> bool {
    let keys = ["resourceSpans", "scopeSpans", "resourceLogs", "scopeLogs"];
    keys.iter().any(|key| record.has(key))
}

/// Returns true for a log record as Python prints it.
fn is_log_of_python(record: &Fields<'_>) -> bool {
    record.has("attributes")
        && record.keys().any(|key| key == "severity_number")
        && record.keys().any(|key| key == "span_id")
}

/// Returns true for a single span, as Python prints it or as a row of a table.
fn is_span(record: &Fields<'_>) -> bool {
    let context = record.part("context").unwrap_or_default();
    (context.has("trace_id") && context.has("span_id"))
        || (record.has("context.trace_id") && record.has("context.span_id"))
}

/// The beginning of the names that mcptest gives to traces of requests without a trace.
const UNNAMED: &str = "without a trace ";

/// The contents of exports.
#[derive(Default)]
struct Exported {
    spans: Vec<Span>,
    logs: Vec<LogRecord>,
    /// Exports of metrics.
    metrics: usize,
}

fn read(values: &[Json<'_>]) -> Result<Vec<Transcript>, Misfit> {
    let mut exported = Exported::default();
    for value in values {
        for one in value.list().unwrap_or_else(|| vec![*value]) {
            exported.read(one)?;
        }
    }
    let other_logs = describe(&mut exported.spans, exported.logs)?;
    let mut conversations = conversations(exported.spans);
    for spans in &mut conversations {
        // A table has the latest span first, and of spans that began together the later one.
        let starts = || spans.iter().map(|span| span.start);
        if starts().next() > starts().next_back()
            && starts().is_sorted_by(|one, other| one >= other)
        {
            spans.reverse();
        }
        spans.sort_by_key(|span| span.start);
    }
    // Exports are unordered: the first conversation is the one that began first.
    conversations.sort_by_key(|spans| spans.first().map_or(0, |span| span.start));
    let (conversations, others): (Vec<_>, Vec<_>) = conversations
        .into_iter()
        .partition(|spans| spans.iter().any(|span| span.kind != SpanKind::Other));
    let mut transcripts = conversations
        .iter()
        .map(|spans| trace::transcript(spans))
        .collect::<Result<Vec<Transcript>, Misfit>>()?;
    if let Some(first) = transcripts.first_mut() {
        let other_spans = others.iter().map(Vec::len).sum::<usize>();
        for (what, count) in [
            (Dropped::Span, other_spans),
            (Dropped::LogRecord, other_logs),
            (Dropped::Metrics, exported.metrics),
        ] {
            if count > 0 {
                *first.dropped.entry(what).or_default() += count;
            }
        }
    }
    Ok(transcripts)
}

/// The conversation that a span belongs to.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Thread {
    /// By the id of the conversation, which may have several traces.
    Conversation(String),
    Trace(String),
}

/// The spans of each conversation.
fn conversations(spans: Vec<Span>) -> Vec<Vec<Span>> {
    // Of several conversations in a trace, the first is around the others.
    let mut by_trace: BTreeMap<String, (u64, String)> = BTreeMap::new();
    for span in &spans {
        let Some(id) = span.conversation() else {
            continue;
        };
        let known = by_trace.get(&span.trace);
        if known.is_none_or(|(start, _)| span.start < *start) {
            by_trace.insert(span.trace.clone(), (span.start, id));
        }
    }
    grouped(spans.into_iter().map(|span| {
        let thread = match by_trace.get(&span.trace) {
            Some((_, id)) => Thread::Conversation(id.clone()),
            None => Thread::Trace(span.trace.clone()),
        };
        (thread, span)
    }))
}

impl Exported {
    fn read(&mut self, value: Json<'_>) -> Result<(), Misfit> {
        let export = object_of(value, "an export")?;
        if is_span(&export) {
            self.spans.push(Span::read(&export)?);
            return Ok(());
        }
        if is_log_of_python(&export) {
            self.logs.push(LogRecord::read(&export)?);
            return Ok(());
        }
        if !is_export(&export) {
            // A collector writes metrics into the same file.
            if !export.has("resourceMetrics") {
                return Err(export.misfit("this is not an export or a span".to_owned()));
            }
            self.metrics += 1;
            return Ok(());
        }
        if export.has("scopeSpans") || export.has("scopeLogs") {
            return self.read_resource(&export);
        }
        for resource in export.list("resourceSpans")?.unwrap_or_default() {
            self.read_resource(&object_of(resource, "an entry of `resourceSpans`")?)?;
        }
        for resource in export.list("resourceLogs")?.unwrap_or_default() {
            self.read_resource(&object_of(resource, "an entry of `resourceLogs`")?)?;
        }
        Ok(())
    }

    fn read_resource(&mut self, resource: &Fields<'_>) -> Result<(), Misfit> {
        let scopes = resource
            .list("scopeSpans")?
            .or(resource.list("instrumentationLibrarySpans")?);
        for scope in scopes.unwrap_or_default() {
            let scope = object_of(scope, "an entry of `scopeSpans`")?;
            for span in scope.list("spans")?.unwrap_or_default() {
                self.spans.push(Span::read(&object_of(span, "a span")?)?);
            }
        }
        for scope in resource.list("scopeLogs")?.unwrap_or_default() {
            let scope = object_of(scope, "an entry of `scopeLogs`")?;
            for record in scope.list("logRecords")?.unwrap_or_default() {
                let record = object_of(record, "a log record")?;
                self.logs.push(LogRecord::read(&record)?);
            }
        }
        Ok(())
    }
}
