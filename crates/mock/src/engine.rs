//! A request in; an answer, work to do, or a fault out. No transport.

use super::audience::Filter;
use super::catalog::{Catalog, Source};
use super::incoming::Request;
use super::job::{Job, Mock};
use super::pending_request::{Client, MockAnswer, PendingRequest};
use super::request_state::RequestState;
use super::server::Server;
use super::session::{Agreed, Session};
use super::{legacy, modern, render};
use crate::manifest::{AskRequest, Inputs, LogLevel};
use http::HeaderMap;
use mcptest_mcp::era::Era;
use mcptest_mcp::fault::{self, Action};
use mcptest_mcp::jsonrpc::{self, Id, RpcError, RpcResult, code};
use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Instant;

/// The way to answer a request.
#[derive(Debug)]
pub(super) struct Handled {
    pub(super) outcome: MockOutcome,
    /// The fault to inject, if any.
    pub(super) action: Option<Box<Action>>,
}

#[derive(Debug)]
pub(super) enum MockOutcome {
    /// One message, with its HTTP status.
    Answer { answer: MockAnswer, status: u16 },
    /// Work that takes time or sends notifications.
    PendingRequest(Box<PendingRequest>),
    /// A subscription that stays open.
    Listen { id: Id, filter: Filter },
    /// A fault keeps the request from being served.
    Unserved,
}

/// The sender of a request and its protocol.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asker<'a> {
    /// The session; a modern request over HTTP has none.
    pub(super) session: Option<&'a Arc<Session>>,
    /// The headers, over HTTP.
    pub(super) headers: Option<&'a HeaderMap>,
}

impl Server {
    /// Answers a request, or returns the work that the answer needs.
    pub(super) fn handle(&self, request: &Request<'_>, asker: Asker<'_>) -> Handled {
        let catalog = self.catalog();
        let action = action(&catalog, request);
        if let Some(action) = &action
            && action.request != fault::RequestFault::Serve
        {
            let outcome = match fault::refusal(action.request) {
                Some(error) => MockOutcome::refused(request, &error, 200),
                None => MockOutcome::Unserved,
            };
            return Handled {
                outcome,
                action: Some(action.clone()),
            };
        }
        let outcome = match request.era {
            Era::Modern => self.handle_modern(&catalog, request, asker),
            Era::Legacy => self.handle_legacy(&catalog, request, asker),
        };
        Handled { outcome, action }
    }

    fn handle_modern(
        &self,
        catalog: &Arc<Catalog>,
        request: &Request<'_>,
        asker: Asker<'_>,
    ) -> MockOutcome {
        let capabilities = match modern::check(request, catalog, asker.headers) {
            Ok(capabilities) => capabilities,
            Err(error) => {
                return MockOutcome::refused(request, &error, modern::status(error.code, true));
            }
        };
        let meta = request.params.meta.as_ref();
        let level = meta.and_then(|meta| meta.log_level.as_deref());
        let client = Client {
            capabilities,
            level: level.and_then(LogLevel::named),
            progress_token: meta
                .and_then(|meta| meta.progress_token)
                .map(|token| token.get().to_owned()),
        };
        let outcome = match &*request.method {
            "server/discover" => Ok(MockOutcome::result(
                catalog,
                request,
                &legacy::discovery(catalog),
            )),
            "subscriptions/listen" => listen(request),
            _ => self.work(catalog, request, asker.session, client),
        };
        outcome.unwrap_or_else(|error| {
            MockOutcome::refused(request, &error, modern::status(error.code, false))
        })
    }

    fn handle_legacy(
        &self,
        catalog: &Arc<Catalog>,
        request: &Request<'_>,
        asker: Asker<'_>,
    ) -> MockOutcome {
        let refused = |error: RpcError| MockOutcome::refused(request, &error, 200);
        let Some(session) = asker.session else {
            return refused(legacy::not_initialized());
        };
        let done = match &*request.method {
            "initialize" => legacy::initialize(catalog, session, &request.params).map(Cow::Owned),
            "ping" => Ok("{}".into()),
            "logging/setLevel" => legacy::set_level(session, &request.params).map(|()| "{}".into()),
            "resources/subscribe" | "resources/unsubscribe" if session.agreed.get().is_some() => {
                legacy::subscribe(catalog, session, request).map(|()| "{}".into())
            }
            _ => {
                let Some(agreed) = session.agreed.get() else {
                    return refused(legacy::not_initialized());
                };
                let client = legacy_client(agreed, session, request);
                return self
                    .work(catalog, request, Some(session), client)
                    .unwrap_or_else(refused);
            }
        };
        done.map_or_else(refused, |result| {
            MockOutcome::result(catalog, request, &result)
        })
    }

    /// The methods of both protocols.
    fn work(
        &self,
        catalog: &Arc<Catalog>,
        request: &Request<'_>,
        session: Option<&Arc<Session>>,
        client: Client,
    ) -> RpcResult<MockOutcome> {
        if let Some(known) = at_once(catalog, request)? {
            return Ok(MockOutcome::result(catalog, request, &known));
        }
        let state = self.request_state(request)?;
        let job = job(catalog, request, state.as_ref())?;
        let (inputs, round) = inputs(request, &job, state)?;
        if request.era == Era::Modern {
            let asks = job.requests(&inputs, &|kind| client.capabilities.has(kind))?;
            if !asks.is_empty() {
                let result = self.input_required(&job, &asks, inputs, round);
                return Ok(MockOutcome::result(catalog, request, &result));
            }
        }
        let pending = PendingRequest {
            server: self.clone(),
            catalog: Arc::clone(catalog),
            job,
            era: request.era,
            id: request.id.clone(),
            method: request.method.clone().into_owned(),
            client,
            inputs,
            session: session.cloned(),
        };
        match pending.instant() {
            Some(answer) => answer.map(|answer| MockOutcome::Answer {
                answer,
                status: 200,
            }),
            None => Ok(MockOutcome::PendingRequest(Box::new(pending))),
        }
    }

    /// The state that the client returns, which must be signed by this server.
    fn request_state(&self, request: &Request<'_>) -> RpcResult<Option<RequestState>> {
        let Some(text) = &request.params.request_state else {
            return Ok(None);
        };
        let foreign = "`requestState` is not from this server";
        match self.0.signer.read(text) {
            Some(state) => Ok(Some(state)),
            None => Err(RpcError::new(code::INVALID_PARAMS, foreign)),
        }
    }

    fn input_required(
        &self,
        job: &Job,
        asks: &[AskRequest],
        answers: Inputs,
        round: usize,
    ) -> String {
        let requests: Vec<String> = asks
            .iter()
            .map(|ask| {
                let (name, method) = (jsonrpc::write_text(&ask.name), ask.kind.method());
                format!(r#"{name}:{{"method":"{method}","params":{}}}"#, ask.params)
            })
            .collect();
        let mut text = format!(
            r#"{{"resultType":"input_required","inputRequests":{{{}}}"#,
            requests.join(",")
        );
        if round > 0 || !answers.is_empty() || job.always_has_state() {
            let state = RequestState {
                round: round + 1,
                answers,
                call: job.fingerprint(),
            };
            text.push_str(&format!(
                r#","requestState":"{}""#,
                self.0.signer.sign(&state)
            ));
        }
        text.push('}');
        jsonrpc::one_line(&text).into_owned()
    }
}

impl MockOutcome {
    fn result(catalog: &Catalog, request: &Request<'_>, result: &str) -> Self {
        let text = catalog
            .dressing
            .result(request.era, &request.id, &request.method, result);
        Self::Answer {
            answer: MockAnswer {
                text,
                deferred: None,
            },
            status: 200,
        }
    }

    fn refused(request: &Request<'_>, error: &RpcError, status: u16) -> Self {
        let text = render::error(Some(&request.id), error);
        Self::Answer {
            answer: MockAnswer {
                text,
                deferred: None,
            },
            status,
        }
    }
}

fn action(catalog: &Catalog, request: &Request<'_>) -> Option<Box<Action>> {
    if catalog.injector.is_idle() {
        return None;
    }
    let tool = request.params.name.as_deref();
    let action = catalog
        .injector
        .on_request(&request.method, tool, Instant::now());
    (!action.is_healthy()).then(|| Box::new(action))
}

fn legacy_client(agreed: &Agreed, session: &Session, request: &Request<'_>) -> Client {
    let token = request
        .params
        .meta
        .as_ref()
        .and_then(|meta| meta.progress_token);
    Client {
        capabilities: agreed.capabilities.clone(),
        level: Some(*session.level.lock()),
        progress_token: token.map(|token| token.get().to_owned()),
    }
}

fn listen(request: &Request<'_>) -> RpcResult<MockOutcome> {
    let filter = request.params.notifications.map_or("{}", RawValue::get);
    let filter = serde_json::from_str(filter).map_err(|error| {
        RpcError::new(
            code::INVALID_PARAMS,
            format!("invalid `notifications`: {error}"),
        )
    })?;
    Ok(MockOutcome::Listen {
        id: request.id.clone(),
        filter,
    })
}

/// The result of a request that needs no work: a page of a list, or a completion.
fn at_once<'c>(catalog: &'c Catalog, request: &Request<'_>) -> RpcResult<Option<Cow<'c, str>>> {
    let Source::Manifest(mock) = &catalog.source else {
        return Ok(None);
    };
    if let Some(list) = catalog.lists.get(&*request.method) {
        return list.page(request.params.cursor.as_deref()).map(Some);
    }
    if &*request.method == "completion/complete" {
        return complete(mock, request).map(|text| Some(Cow::Owned(text)));
    }
    Ok(None)
}

fn job(
    catalog: &Arc<Catalog>,
    request: &Request<'_>,
    state: Option<&RequestState>,
) -> RpcResult<Job> {
    let mock = match &catalog.source {
        Source::Tape(tape) => {
            let fingerprint = state.map(|state| state.call.as_str());
            return tape
                .find(&request.method, request.raw, fingerprint)
                .map(Job::Recorded);
        }
        Source::Manifest(mock) => Arc::clone(mock),
    };
    match &*request.method {
        "tools/call" => tool_job(mock, request),
        "prompts/get" if !mock.manifest.prompts.is_empty() => prompt_job(mock, request),
        "resources/read" if catalog.lists.contains_key("resources/list") => {
            resource_job(mock, request)
        }
        method => Err(RpcError::new(
            code::METHOD_NOT_FOUND,
            format!("Method not found: {method}"),
        )),
    }
}

fn tool_job(mock: Arc<Mock>, request: &Request<'_>) -> RpcResult<Job> {
    let name = required(request.params.name.as_ref(), "name")?;
    let tool = mock.manifest.tool(&name)?;
    let arguments = arguments(request)?;
    tool.check(&arguments)?;
    Ok(Job::Tool {
        mock,
        name,
        arguments,
    })
}

fn prompt_job(mock: Arc<Mock>, request: &Request<'_>) -> RpcResult<Job> {
    let name = required(request.params.name.as_ref(), "name")?;
    let prompt = mock.manifest.prompt(&name)?;
    let arguments = arguments(request)?;
    prompt.check(&arguments)?;
    Ok(Job::Prompt {
        mock,
        name,
        arguments,
    })
}

fn resource_job(mock: Arc<Mock>, request: &Request<'_>) -> RpcResult<Job> {
    let uri = required(request.params.uri.as_ref(), "uri")?;
    if let Err(error) = mock.manifest.resource(&uri) {
        return Err(in_era(error, request.era));
    }
    Ok(Job::Resource { mock, uri })
}

fn required(value: Option<&String>, key: &str) -> RpcResult<String> {
    let missing = || RpcError::new(code::INVALID_PARAMS, format!("`params.{key}` is missing"));
    value.cloned().ok_or_else(missing)
}

fn arguments(request: &Request<'_>) -> RpcResult<Value> {
    let Some(raw) = request.params.arguments.filter(|raw| raw.get() != "null") else {
        return Ok(Value::Object(serde_json::Map::new()));
    };
    if !raw.get().starts_with('{') {
        return Err(RpcError::new(
            code::INVALID_PARAMS,
            "`params.arguments` is not an object",
        ));
    }
    serde_json::from_str(raw.get())
        .map_err(|error| RpcError::new(code::INVALID_PARAMS, format!("invalid arguments: {error}")))
}

/// The client's answers so far, and the number of rounds.
fn inputs(
    request: &Request<'_>,
    job: &Job,
    state: Option<RequestState>,
) -> RpcResult<(Inputs, usize)> {
    let invalid = |message: &str| RpcError::new(code::INVALID_PARAMS, message);
    let (mut inputs, mut round) = (Inputs::new(), 0);
    if let Some(state) = state {
        if state.call != job.fingerprint() {
            return Err(invalid("`requestState` belongs to a different request"));
        }
        (inputs, round) = (state.answers, state.round);
    }
    if let Some(raw) = request.params.input_responses {
        let answers: Inputs = serde_json::from_str(raw.get())
            .map_err(|_| invalid("`params.inputResponses` is not an object"))?;
        inputs.extend(answers);
    }
    Ok((inputs, round))
}

/// The refusal of an unknown resource, for which only the legacy protocol has a separate code.
pub(super) fn in_era(error: RpcError, era: Era) -> RpcError {
    match era {
        Era::Legacy => RpcError {
            code: code::RESOURCE_NOT_FOUND,
            ..error
        },
        Era::Modern => error,
    }
}

fn complete(mock: &Mock, request: &Request<'_>) -> RpcResult<String> {
    if !mock.manifest.has_completions() {
        return Err(RpcError::new(
            code::METHOD_NOT_FOUND,
            "Method not found: completion/complete",
        ));
    }
    let value = |raw: Option<&RawValue>| {
        raw.and_then(|raw| serde_json::from_str::<Value>(raw.get()).ok())
            .unwrap_or_default()
    };
    let argument = value(request.params.argument);
    let text = |key: &str| argument[key].as_str().unwrap_or_default();
    mock.manifest.complete(
        &value(request.params.reference),
        text("name"),
        text("value"),
    )
}
