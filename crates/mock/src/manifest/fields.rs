//! Which fields do only manifests have: texts with holes, JSON with holes, and
//! keys with two spellings?

use super::json::{Json, PlacedFault};
use super::path::{Fault, Path};
use super::scope::Scope;
use super::template::Template;
use mcptest_core::problem::Problem;
use mcptest_core::suite::read::{Block, Field};
use mcptest_core::yaml::{Kind, Scalar};
use serde_json::json;

/// A string with holes; numbers and flags count as texts.
pub(super) fn template(field: &mut Field<'_>, scope: &Scope) -> Option<Template> {
    let node = field.node(|| json!({ "type": ["string", "number", "boolean"] }))?;
    let Kind::Scalar(Scalar::Text { text, .. }) = &node.kind else {
        return field
            .scalar_text()
            .map(|text| Template::literal(&text.value));
    };
    let read = Template::read(text, &scope.names());
    let template = read
        .map_err(|fault| {
            report(
                field,
                PlacedFault {
                    fault,
                    text,
                    span: node.span,
                },
            );
        })
        .ok()?;
    template
        .paths()
        .filter_map(Path::argument)
        .for_each(|name| scope.check_argument(name, field));
    Some(template)
}

/// A string with holes, as JSON.
pub(super) fn text(field: &mut Field<'_>, scope: &Scope) -> Option<Json> {
    template(field, scope).map(Json::text)
}

/// A number of bytes, as JSON.
pub(super) fn size(field: &mut Field<'_>) -> Option<Json> {
    field
        .whole(0..=u64::MAX)
        .map(|size| Json::raw(size.to_string()))
}

/// Bytes in base64; with holes they cannot be checked.
pub(super) fn base64(field: &mut Field<'_>, scope: &Scope) -> Option<Template> {
    let text = template(field, scope)?;
    if text.as_literal().is_some_and(|text| !is_base64(text)) {
        let problem = Problem::error("this is not base64");
        field.report(
            problem
                .help("`file:` sends the bytes of a file unchanged; `raw:` may contain anything"),
        );
        return None;
    }
    Some(text)
}

fn is_base64(text: &str) -> bool {
    let bare = text.trim_end_matches('=');
    text.len().is_multiple_of(4)
        && text.len() - bare.len() <= 2
        && bare
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'))
}

/// The address of a resource. An address that starts with a hole cannot be checked.
pub(super) fn uri(field: &mut Field<'_>, scope: &Scope) -> Option<Template> {
    let text = template(field, scope)?;
    text.as_literal()
        .is_none_or(|text| has_scheme(text, field))
        .then_some(text)
}

/// Returns true if an address has a scheme. Otherwise reports a problem.
pub(super) fn has_scheme(uri: &str, field: &Field<'_>) -> bool {
    let is_of_scheme =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    let is_uri = uri.split_once(':').is_some_and(|(scheme, rest)| {
        scheme.starts_with(|first: char| first.is_ascii_alphabetic())
            && scheme.bytes().all(is_of_scheme)
            && !rest.is_empty()
            && !uri.contains(char::is_whitespace)
    });
    if !is_uri && !field.is_describing() {
        let problem = Problem::error(format!("`{uri}` is not a URI"));
        field.report(problem.help(
            "a URI starts with a scheme and has no spaces, such as \
            `file:///notes.txt`",
        ));
    }
    is_uri || field.is_describing()
}

/// Any JSON with holes.
pub(super) fn any_json(field: &mut Field<'_>, scope: &Scope) -> Option<Json> {
    let node = field.node(|| json!(true))?;
    let json = Json::of_node(node, &scope.names())
        .map_err(|faults| report_all(field, faults))
        .ok()?;
    json.paths()
        .into_iter()
        .filter_map(Path::argument)
        .for_each(|name| scope.check_argument(name, field));
    Some(json)
}

/// Reads JSON verbatim: `${…}` has no meaning in it.
pub(super) fn literal_json(field: &mut Field<'_>) -> Option<Json> {
    let node = field.node(|| json!(true))?;
    Json::literal(node)
        .map_err(|faults| report_all(field, faults))
        .ok()
}

/// Reads a map verbatim.
pub(super) fn literal_object(field: &mut Field<'_>) -> Option<Json> {
    object(field, literal_json)
}

/// A map with holes.
pub(super) fn object_json(field: &mut Field<'_>, scope: &Scope) -> Option<Json> {
    object(field, |field| any_json(field, scope))
}

fn object(
    field: &mut Field<'_>,
    read: impl FnOnce(&mut Field<'_>) -> Option<Json>,
) -> Option<Json> {
    let node = field.node(|| json!({ "type": "object" }))?;
    match &node.kind {
        Kind::Map(_) => read(field),
        _ => field.wrong(node, "a map"),
    }
}

pub(super) fn report_all(field: &Field<'_>, faults: Vec<PlacedFault<'_>>) {
    for fault in faults {
        report(field, fault);
    }
}

pub(super) fn report(field: &Field<'_>, placed: PlacedFault<'_>) {
    let Fault {
        bytes,
        message,
        help,
    } = placed.fault;
    let span = field.span_within(placed.span, placed.text, bytes);
    let problem = Problem::error(message).at(span);
    field.report(match help {
        Some(help) => problem.help(help),
        None => problem,
    });
}

/// Reads a key that may be in MCP's camel case or in snake case.
pub(super) fn either<T>(
    block: &mut Block<'_>,
    (camel, snake): (&'static str, &'static str),
    doc: &str,
    read: impl Fn(&mut Field<'_>) -> Option<T>,
) -> Option<T> {
    block.at_most_one_of(&[camel, snake]);
    let first = block.optional(snake, doc, &read);
    let second = block.optional(camel, &format!("Another spelling of `{snake}`"), &read);
    first.or(second)
}
