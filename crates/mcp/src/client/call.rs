//! How does one request get from its arguments to its result, over several rounds if necessary?

use super::conversation::quote;
use super::input_required::InputRequired;
use super::link::{Asked, Asking, Deadline};
use super::param_headers::{encode, headers_of};
use super::params::Params;
use super::{CallFailure, Called, Client, Misbehaviour, Note, Observed, tool_result};
use crate::era::Era;
use crate::jsonrpc::write_text;
use serde_json::Value;
use serde_json::value::RawValue;
use std::time::Instant;

pub(super) async fn call_tool(
    client: &Client,
    name: &str,
    arguments: &RawValue,
    deadline: Deadline,
) -> Called {
    let headers = param_headers(client, name, arguments).await;
    let start = Instant::now();
    let params = client
        .params()
        .with("name", &write_text(name))
        .with("arguments", arguments.get())
        .and_notices();
    let round = Round {
        client,
        method: "tools/call",
        asked: format!("tools/call {name}"),
        headers,
    };
    let Asked { outcome, notes } = round.run(params, deadline).await;
    let outcome = outcome.and_then(|result| round.checked(result));
    if let Ok(result) = &outcome {
        round.observe_faults(result);
    }
    Called {
        outcome,
        duration: start.elapsed(),
        notifications: notes,
    }
}

pub(super) async fn request(
    client: &Client,
    method: &str,
    params: Option<Value>,
    deadline: Deadline,
) -> Result<Box<RawValue>, CallFailure> {
    let name = ["name", "uri"]
        .iter()
        .find_map(|key| params.as_ref()?.get(key)?.as_str());
    let asked = name.map_or_else(|| method.to_owned(), |name| format!("{method} {name}"));
    let headers = if client.info.era == Era::Modern {
        name_header(method, params.as_ref())
    } else {
        Vec::new()
    };
    let params = client.params().with_value(params.unwrap_or_default());
    Round {
        client,
        method,
        asked,
        headers,
    }
    .run(params, deadline)
    .await
    .outcome
}

/// `Mcp-Name`, for the methods that have it.
fn name_header(method: &str, params: Option<&Value>) -> Vec<(String, String)> {
    let key = match method {
        "tools/call" | "prompts/get" => "name",
        "resources/read" => "uri",
        _ => return Vec::new(),
    };
    let name = params
        .and_then(|params| params.get(key))
        .and_then(Value::as_str);
    name.map(|name| ("Mcp-Name".to_owned(), encode(name)))
        .into_iter()
        .collect()
}

async fn param_headers(client: &Client, name: &str, arguments: &RawValue) -> Vec<(String, String)> {
    if client.info.era != Era::Modern || !matches!(client.link, super::Link::Http(..)) {
        return Vec::new();
    }
    let known = || client.param_headers.lock();
    if known().is_none() {
        // Without the list no argument is repeated as a header; the server says so if it wants one.
        let _ = Box::pin(client.list_tools()).await;
    }
    let mut headers = vec![("Mcp-Name".to_owned(), encode(name))];
    let wanted = known()
        .as_ref()
        .and_then(|tools| tools.get(name))
        .cloned()
        .unwrap_or_default();
    if !wanted.is_empty() {
        let arguments: Value = serde_json::from_str(arguments.get()).unwrap_or_default();
        headers.extend(headers_of(&wanted, &arguments));
    }
    headers
}

/// The number of times that a call is repeated with more input.
pub(super) const MAX_ROUNDS: usize = 10;

/// A request with its rounds.
struct Round<'a> {
    client: &'a Client,
    method: &'a str,
    asked: String,
    headers: Vec<(String, String)>,
}

impl Round<'_> {
    async fn run(&self, first: Params, deadline: Deadline) -> Asked {
        let link = &self.client.link;
        let mut params = first.clone();
        let mut notes = Vec::new();
        for _ in 0..=MAX_ROUNDS {
            let asking = Asking {
                method: self.method,
                asked: &self.asked,
                params: &params,
                headers: &self.headers,
                deadline,
            };
            let answer = link.ask(asking).await;
            notes.extend(answer.notes);
            let result = match answer.outcome {
                Ok(result) if self.client.info.era == Era::Modern => result,
                outcome => return Asked { outcome, notes },
            };
            let next = match InputRequired::read(&result) {
                Ok(None) => {
                    return Asked {
                        outcome: Ok(result),
                        notes,
                    };
                }
                Ok(Some(input)) => input.answered(link.conversation(), &first),
                Err(why) => Err(Misbehaviour::BadResult {
                    why: why.to_string(),
                }),
            };
            match next {
                Ok(next) => params = next,
                Err(why) => return self.failed(why, notes),
            }
        }
        let rounds = MAX_ROUNDS;
        self.failed(Misbehaviour::TooManyRounds { rounds }, notes)
    }

    /// The result of a tool, which must be an object.
    fn checked(&self, result: Box<RawValue>) -> Result<Box<RawValue>, CallFailure> {
        if !tool_result::is_no_object(&result) {
            return Ok(result);
        }
        let why = format!("is not an object: {}", quote(result.get()));
        let why = Misbehaviour::BadResult { why };
        Err(self.client.link.error(&self.asked, why, Vec::new()).into())
    }

    /// Notes the faults in a tool's result that remains usable.
    fn observe_faults(&self, result: &RawValue) {
        for why in tool_result::faults(result) {
            self.client
                .link
                .conversation()
                .observe(Observed::BadResult {
                    asked: self.asked.clone(),
                    why,
                });
        }
    }

    fn failed(&self, why: Misbehaviour, notes: Vec<Note>) -> Asked {
        let error = self.client.link.error(&self.asked, why, Vec::new());
        Asked {
            outcome: Err(error.into()),
            notes,
        }
    }
}
