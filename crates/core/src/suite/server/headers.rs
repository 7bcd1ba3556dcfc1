//! Which HTTP headers can a user set, and what may they say?

use super::HeaderValue;
use crate::problem::{Problem, Span};
use crate::suite::read::{Block, Field};

/// Headers of the exchange itself, and who sets them.
const RESERVED: [(&str, &str); 3] = [
    ("the protocol sets it", "accept content-type"),
    (
        "the HTTP connection sets it",
        "connection content-length host keep-alive te trailer transfer-encoding upgrade",
    ),
    (
        "the client sets it for each request",
        "last-event-id mcp-method mcp-name mcp-protocol-version mcp-session-id",
    ),
];

/// Why a user cannot set a header of this name.
pub fn check_header_name(name: &str) -> Result<(), String> {
    let is_token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    if name.is_empty() || !name.chars().all(is_token) {
        return Err(format!(
            "{name:?} is not a header's name: HTTP allows letters, digits and `-` in it"
        ));
    }
    let lower = name.to_ascii_lowercase();
    let owner = RESERVED
        .iter()
        .find(|(_, names)| names.split(' ').any(|name| name == lower))
        .map(|(owner, _)| *owner);
    match owner.or_else(|| {
        lower
            .starts_with("mcp-param-")
            .then_some("the client sets it for each request")
    }) {
        Some(owner) => Err(format!("the header `{name}` cannot be set: {owner}")),
        None => Ok(()),
    }
}

/// Why HTTP does not allow this value.
pub fn check_header_value(value: &str) -> Result<(), String> {
    match value.chars().find(|c| !matches!(c, '\t' | ' '..='~')) {
        Some(bad) => Err(format!(
            "HTTP does not allow {bad:?} in the value of a header"
        )),
        None => Ok(()),
    }
}

/// `headers:` with each value, and `auth:`.
pub(super) fn read(block: &mut Block<'_>) -> (Vec<(String, HeaderValue)>, Option<String>) {
    let mut seen: Vec<(String, Span)> = Vec::new();
    let headers = block.optional("headers", "HTTP headers: a string, or {env: NAME}", |f| {
        f.entries(|name, span, f| {
            if !f.is_describing() {
                check_name(name, span, &mut seen, f);
            }
            read_value(f)
        })
    });
    let token = block.optional("auth", "The authentication", |f| {
        f.block(|b| {
            let doc = "The environment variable that holds a bearer token";
            b.required("bearer_token_env", doc, |f| f.name())
        })
    });
    let authorization = seen.iter().find(|(name, _)| name == "authorization");
    if let (Some((_, header)), Some(auth)) = (authorization, block.key_span("auth")) {
        let problem = Problem::error(
            "`auth` and the header `Authorization` cannot be used together; remove one",
        );
        block.report(problem.at(auth).also(*header, "already given here"));
    }
    (headers.unwrap_or_default(), token.flatten())
}

fn check_name(name: &str, span: Span, seen: &mut Vec<(String, Span)>, field: &Field<'_>) {
    if let Err(why) = check_header_name(name) {
        field.report(Problem::error(why).at(span));
    }
    let lower = name.to_ascii_lowercase();
    match seen.iter().find(|(other, _)| *other == lower) {
        Some((_, first)) => {
            let problem = Problem::error(format!(
                "the header `{name}` is given twice: case makes no difference"
            ));
            field.report(problem.at(span).also(*first, "already given here"));
        }
        None => seen.push((lower, span)),
    }
}

fn read_value(field: &mut Field<'_>) -> Option<HeaderValue> {
    field.shapes("a string or {env: NAME}", |shapes| {
        shapes.scalar(|f| {
            let text = f.template()?;
            if let Some(Err(why)) = f.literal(&text).map(|text| check_header_value(&text)) {
                f.report(Problem::error(why));
            }
            Some(HeaderValue::Literal(text))
        });
        shapes.block(|b| {
            b.required(
                "env",
                "The environment variable that holds the value",
                |f| f.name(),
            )
            .map(HeaderValue::Env)
        });
    })
}
