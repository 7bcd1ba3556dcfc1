//! OpenTelemetry GenAI spans: chats, tool executions and MCP calls of a trace are one conversation.

mod attributes;
mod calls;
mod messages;
pub(super) mod openinference;
mod span;
mod trace;

use super::Importer;
use super::json::{Fields, Json, Misfit, object_of};
use super::sample::Sample;
use super::transcript::{Dropped, Transcript};
use super::unit::grouped;
use span::{Span, SpanKind};

pub(super) const IMPORTER: Importer = Importer {
    key: "otel",
    name: "otel genai",
    doc: "`resourceSpans`, or spans as Python prints them, whose attributes begin with `gen_ai.` or `mcp.`",
    also_reads: &[],
    sniff,
    read,
};

fn sniff(sample: &Sample<'_>) -> bool {
    sample
        .records
        .iter()
        .any(|record| is_export(record) || is_span(record))
}

fn is_export(record: &Fields<'_>) -> bool {
    record.has("resourceSpans") || record.has("scopeSpans")
}

/// Returns true for a single span, as Python prints it or as a row of a table.
fn is_span(record: &Fields<'_>) -> bool {
    let context = record.part("context").unwrap_or_default();
    (context.has("trace_id") && context.has("span_id"))
        || (record.has("context.trace_id") && record.has("context.span_id"))
}

fn read(values: &[Json<'_>]) -> Result<Vec<Transcript>, Misfit> {
    let mut spans = Vec::new();
    for value in values {
        for one in value.list().unwrap_or_else(|| vec![*value]) {
            read_export(one, &mut spans)?;
        }
    }
    let mut traces = grouped(
        spans
            .into_iter()
            .map(|span: Span| (span.trace.clone(), span)),
    );
    for trace in &mut traces {
        // A table has the latest span first, and of spans that began together the later one.
        let starts = || trace.iter().map(|span| span.start);
        if starts().next() > starts().next_back()
            && starts().is_sorted_by(|one, other| one >= other)
        {
            trace.reverse();
        }
        trace.sort_by_key(|span| span.start);
    }
    // Exports are unordered: the first trace is the one that began first.
    traces.sort_by_key(|trace| trace.first().map_or(0, |span| span.start));
    let (conversations, others): (Vec<_>, Vec<_>) = traces
        .into_iter()
        .partition(|trace| trace.iter().any(|span| span.kind != SpanKind::Other));
    let mut transcripts = conversations
        .iter()
        .map(|trace| trace::transcript(trace))
        .collect::<Result<Vec<Transcript>, Misfit>>()?;
    if let Some(first) = transcripts.first_mut() {
        let others = others.iter().map(Vec::len).sum::<usize>();
        if others > 0 {
            *first.dropped.entry(Dropped::Span).or_default() += others;
        }
    }
    Ok(transcripts)
}

fn read_export(value: Json<'_>, spans: &mut Vec<Span>) -> Result<(), Misfit> {
    let export = object_of(value, "an export")?;
    if is_span(&export) {
        spans.push(Span::read(&export)?);
        return Ok(());
    }
    let Some(resources) = export.list("resourceSpans")? else {
        if export.has("scopeSpans") {
            return read_scopes(value, spans);
        }
        // A collector writes logs and metrics into the same file.
        let is_other = export.has("resourceLogs") || export.has("resourceMetrics");
        return if is_other {
            Ok(())
        } else {
            Err(export.misfit("this is not an export or a span".to_owned()))
        };
    };
    for resource in resources {
        read_scopes(resource, spans)?;
    }
    Ok(())
}

fn read_scopes(resource: Json<'_>, spans: &mut Vec<Span>) -> Result<(), Misfit> {
    let resource = object_of(resource, "an entry of `resourceSpans`")?;
    let scopes = resource
        .list("scopeSpans")?
        .or(resource.list("instrumentationLibrarySpans")?);
    for scope in scopes.unwrap_or_default() {
        let scope = object_of(scope, "an entry of `scopeSpans`")?;
        for span in scope.list("spans")?.unwrap_or_default() {
            spans.push(Span::read(&object_of(span, "a span")?)?);
        }
    }
    Ok(())
}
