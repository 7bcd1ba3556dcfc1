//! How is the server under test reached, and what was observed so far?

use super::NotSent;
use super::answer::Answer;
use mcptest_core::schema::sample_of;
use mcptest_core::trace::RecordedServer;
use mcptest_mcp::client::{CallFailure, Misbehaviour, Tap, Tool, Tools, WireError, result_faults};
use mcptest_mcp::client::{Client, Closing, Direction, Endpoint, Observed, ServerInfo, ServerSpec};
use mcptest_mcp::era::Era;
use parking_lot::Mutex;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use thiserror::Error;
use tokio::time::{Instant, sleep, timeout};

/// A variable of the server that no answer may contain.
const CANARY_NAME: &str = "MCPTEST_CANARY_TOKEN";
pub(super) const CANARY: &str = "mcptest-canary-5f0c2d9ab71e";
const KEPT_MESSAGES: usize = 5_000;
const KEPT_BYTES: usize = 64 << 20;
/// The maximum number of tools to try, and of tools that may give no answer.
const MOST_CALLS: usize = 30;
const MOST_HUNG: usize = 2;
/// The number of answers that all these calls together may wait for. Tools that fail slowly, such as tools of a network
/// that is away, do not use up the check.
const ANSWERS_OF_ALL_CALLS: u32 = 3;
/// A call that takes longer can be cancelled while it runs; a shorter one may be over before.
pub(super) const SLOW: Duration = Duration::from_millis(300);
/// The time to wait for an optional message.
const MOMENT: Duration = Duration::from_millis(150);

/// Why a probe cannot run.
#[derive(Debug, Clone, PartialEq, Error)]
pub(super) enum Unusable {
    #[error("no connection exists")]
    NoConnection,
    #[error(transparent)]
    NotConnected(WireError),
    #[error("cannot list the tools: {0}")]
    NotListed(WireError),
    #[error("the server has no tools")]
    NoTools,
    #[error("no tool says `readOnlyHint: true`; `--allow-writes` calls the other tools too")]
    NothingReadOnly,
    #[error("no arguments can be generated for the callable tools")]
    NoArguments,
}

impl From<Unusable> for NotSent {
    fn from(why: Unusable) -> Self {
        Self::NothingToTry(why.to_string())
    }
}

/// The reason that a server did not continue.
#[derive(Debug, Clone, PartialEq, Error)]
pub(super) enum Stuck {
    #[error(transparent)]
    Unusable(#[from] Unusable),
    /// A sentence about its misbehaviour.
    #[error("{0}")]
    Misbehaved(String),
    #[error("no answer came within {} s", limit.as_secs_f64())]
    Silent { limit: Duration },
}

/// The server, and its connection if one is open.
pub(super) struct ServerUnderTest {
    pub(super) spec: ServerSpec,
    allow_writes: bool,
    client: Option<Arc<Client>>,
    pub(super) info: Option<ServerInfo>,
    listed: Option<Result<Tools, Unusable>>,
    made: Option<Vec<MadeCall>>,
    said: Arc<Mutex<Vec<String>>>,
    pub(super) observed: Vec<Observed>,
    last_id: usize,
}

/// A callable tool.
#[derive(Debug, Clone)]
pub(super) struct Callable {
    pub(super) name: String,
    pub(super) input: Value,
    pub(super) output: Option<Value>,
    /// Arguments that match its schema, if they can be generated.
    pub(super) arguments: Option<Value>,
    pub(super) is_read_only: bool,
}

/// A call with generated arguments, and its result.
#[derive(Debug, Clone)]
pub(super) struct MadeCall {
    pub(super) tool: Callable,
    pub(super) arguments: Value,
    pub(super) answer: Answer,
    /// The faults in its result.
    pub(super) faults: Vec<String>,
    /// True without an answer in time.
    pub(super) is_hung: bool,
    pub(super) took: Duration,
}

impl MadeCall {
    /// Returns true if the tool answered at once, so that it does not depend on anything outside.
    pub(super) fn is_quick(&self) -> bool {
        self.took < SLOW && !self.is_hung && !matches!(self.answer, Answer::None(_))
    }

    pub(super) fn sent(&self) -> String {
        format!("tools/call {} {}", self.tool.name, self.arguments)
    }
}

/// The answer to a string that was sent verbatim.
#[derive(Debug, Default)]
pub(super) struct Raw {
    pub(super) status: Option<u16>,
    pub(super) text: String,
}

impl Raw {
    pub(super) fn answer(&self) -> Option<Answer> {
        Answer::in_message(&self.text)
    }

    pub(super) fn words(&self) -> String {
        let text = if self.text.is_empty() {
            "nothing"
        } else {
            &self.text
        };
        self.status.map_or_else(
            || text.to_owned(),
            |status| format!("HTTP {status}, {text}"),
        )
    }
}

impl ServerUnderTest {
    pub(super) fn new(spec: &ServerSpec, allow_writes: bool) -> Self {
        let mut spec = spec.clone();
        if let Endpoint::Command { env, .. } = &mut spec.endpoint {
            env.push((CANARY_NAME.to_owned(), CANARY.to_owned()));
        }
        Self {
            spec,
            allow_writes,
            client: None,
            info: None,
            listed: None,
            made: None,
            said: Arc::default(),
            observed: Vec::new(),
            last_id: 0,
        }
    }

    pub(super) fn is_http(&self) -> bool {
        matches!(self.spec.endpoint, Endpoint::Url { .. })
    }

    pub(super) fn era(&self) -> Era {
        self.info
            .as_ref()
            .map(|info| info.era)
            .or(self.spec.era)
            .unwrap_or(Era::Legacy)
    }

    pub(super) fn client(&self) -> Result<&Arc<Client>, Unusable> {
        self.client.as_ref().ok_or(Unusable::NoConnection)
    }

    /// Refuses a probe for the other transport.
    pub(super) fn only_over(&self, http: bool) -> Result<(), NotSent> {
        let needed = if http { "HTTP" } else { "stdio" };
        if self.is_http() == http {
            Ok(())
        } else {
            let why = format!("for servers on {needed} only");
            Err(NotSent::DoesNotApply(why))
        }
    }

    /// Returns true if the server declares this capability.
    pub(super) fn declares(&self, capability: &str) -> bool {
        let capabilities = self
            .info
            .as_ref()
            .map_or("null", |info| info.capabilities.get());
        serde_json::from_str::<Value>(capabilities).is_ok_and(|all| all.get(capability).is_some())
    }

    pub(super) fn recorded(&self) -> Option<RecordedServer> {
        self.info
            .as_ref()
            .map(|info| info.to_recorded(&self.spec.name))
    }

    /// Every message of the server so far.
    pub(super) fn said(&self) -> Vec<String> {
        self.said.lock().clone()
    }

    fn tap(&self) -> Tap {
        let said = Arc::clone(&self.said);
        Arc::new(move |from, text| {
            let mut said = said.lock();
            if from == Direction::Server
                && said.len() < KEPT_MESSAGES
                && said.iter().map(String::len).sum::<usize>() + text.len() < KEPT_BYTES
            {
                said.push(text.to_owned());
            }
        })
    }

    /// Returns true if the process on the other end of the connection has ended.
    pub(super) fn has_lost_its_server(&self) -> bool {
        self.client
            .as_ref()
            .is_some_and(|client| client.has_ended())
    }

    /// Connects, unless there is a connection to a server that runs.
    pub(super) async fn connect(&mut self) -> Result<(), WireError> {
        if self.has_lost_its_server() {
            self.end().await;
        }
        if self.client.is_none() {
            let client = Client::connect(&self.spec, Some(self.tap())).await?;
            // Found out once: a server does not change its era.
            self.spec.era = Some(client.server().era);
            self.info.get_or_insert_with(|| client.server().clone());
            self.client = Some(Arc::new(client));
        }
        Ok(())
    }

    /// A separate connection without a handshake.
    pub(super) fn stranger(&self) -> Result<Client, WireError> {
        Client::without_handshake(&self.spec, self.era(), Some(self.tap()))
    }

    /// Returns true if the server also supports the handshake of the legacy protocol.
    pub(super) async fn speaks_legacy(&self) -> bool {
        let spec = ServerSpec {
            era: Some(Era::Legacy),
            ..self.spec.clone()
        };
        let Ok(client) = Client::connect(&spec, Some(self.tap())).await else {
            return false;
        };
        client.close().await;
        true
    }

    /// Opens another session with the server.
    pub(super) async fn another(&self) -> Result<Client, WireError> {
        Client::connect(&self.spec, Some(self.tap())).await
    }

    /// Ends the connection. The next probe opens another.
    pub(super) async fn end(&mut self) -> Option<Closing> {
        let closing = Arc::into_inner(self.client.take()?)?.close().await;
        self.observed.extend(closing.observed.iter().cloned());
        Some(closing)
    }

    pub(super) async fn ask(&self, method: &str, params: Value) -> Answer {
        match self.client() {
            Ok(client) => Answer::of(client.request(method, Some(params)).await),
            Err(why) => Answer::None(why.to_string()),
        }
    }

    /// Calls a tool. The caller has checked that calling is allowed.
    pub(super) async fn call(&self, name: &str, arguments: &Value) -> Answer {
        let raw = to_raw_value(arguments).unwrap_or_else(|_| RawValue::NULL.to_owned());
        match self.client() {
            Ok(client) => Answer::of(client.call_tool(name, &raw, None).await.outcome),
            Err(why) => Answer::None(why.to_string()),
        }
    }

    /// An id that no request had.
    pub(super) fn next_id(&mut self) -> String {
        self.last_id += 1;
        format!("check-{}", self.last_id)
    }

    /// Sends a string verbatim, and waits for the answer to the request of this id.
    pub(super) async fn raw(
        &self,
        client: &Client,
        text: &str,
        headers: &[(&str, &str)],
        id: &str,
    ) -> Raw {
        let from = self.said.lock().len();
        // The first answer of a process that has just been started takes as long as its start.
        let is_new = client.server().raw.get() == "null";
        let limit = if is_new {
            self.spec.connect_timeout
        } else {
            self.spec.timeout
        };
        match timeout(limit, client.send_raw(text, headers)).await {
            Ok(Ok(Some(answer))) => Raw {
                status: Some(answer.status),
                text: answer.body,
            },
            Ok(Ok(None)) => {
                self.wait_for(client, from, limit, |line| line.contains(id))
                    .await
            }
            Ok(Err(why)) => Raw {
                status: None,
                text: why.sentence("the message"),
            },
            Err(_) => Raw::default(),
        }
    }

    /// Sends a string that may stay unanswered, and returns what arrived before the server answered
    /// another request.
    pub(super) async fn raw_and_on(
        &self,
        text: &str,
        headers: &[(&str, &str)],
    ) -> Result<Raw, Stuck> {
        let client = self.client()?;
        let from = self.said.lock().len();
        let sent = match timeout(self.spec.timeout, client.send_raw(text, headers)).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(why)) => return Err(Stuck::Misbehaved(why.sentence("the message"))),
            Err(_) => {
                return Err(Stuck::Silent {
                    limit: self.spec.timeout,
                });
            }
        };
        self.is_alive().await?;
        let is_about_it = |line: &str| {
            let message: Value = serde_json::from_str(line).unwrap_or_default();
            let is_ours = message["id"].as_str().is_some_and(|id| text.contains(id));
            is_ours
                || (message.get("method").is_none()
                    && message.is_object()
                    && message["id"].is_null())
        };
        Ok(match sent {
            Some(answer) => Raw {
                status: Some(answer.status),
                text: answer.body,
            },
            None => self.wait_for(client, from, MOMENT, is_about_it).await,
        })
    }

    /// The first matching message from there on; `None` if the server has ended.
    async fn wait_for(
        &self,
        client: &Client,
        from: usize,
        limit: Duration,
        is_it: impl Fn(&str) -> bool,
    ) -> Raw {
        let until = Instant::now() + limit;
        loop {
            let is_over = client.has_ended() || Instant::now() > until;
            let found = self
                .said
                .lock()
                .iter()
                .skip(from)
                .find(|line| is_it(line))
                .cloned();
            match found {
                Some(text) => return Raw { status: None, text },
                None if is_over => return Raw::default(),
                None => sleep(Duration::from_millis(5)).await,
            }
        }
    }

    /// Something that every server answers.
    pub(super) fn harmless(&self) -> &'static str {
        if self.era() == Era::Legacy {
            "ping"
        } else {
            "server/discover"
        }
    }

    /// Checks that the server still answers.
    pub(super) async fn is_alive(&self) -> Result<(), Stuck> {
        let method = self.harmless();
        if let (Some(client), false) = (&self.client, self.is_http()) {
            // Not as a request of the client's: an error without an id, about what came before, would be taken for its
            // answer.
            let id = format!("check-alive-{}", self.said.lock().len());
            let line = client.request_line(&id, method, json!({}));
            if !self.raw(client, &line, &[], &id).await.text.is_empty() {
                return Ok(());
            }
        }
        match self.ask(method, json!({})).await {
            Answer::None(why) => Err(Stuck::Misbehaved(why)),
            _ => Ok(()),
        }
    }

    /// The server's list, requested only once.
    pub(super) async fn listed(&mut self) -> Result<&Tools, Unusable> {
        if self.listed.is_none() {
            let listed = self.client()?.list_tools().await;
            self.listed = Some(listed.map_err(Unusable::NotListed));
        }
        match &self.listed {
            Some(Ok(tools)) => Ok(tools),
            Some(Err(why)) => Err(why.clone()),
            None => Err(Unusable::NoConnection),
        }
    }

    /// The callable tools, or the reason that no tool is callable.
    pub(super) async fn callable(&mut self) -> Result<Vec<Callable>, Unusable> {
        let allow_writes = self.allow_writes;
        let listed = self.listed().await?;
        if listed.tools.is_empty() {
            return Err(Unusable::NoTools);
        }
        let read = |raw: &RawValue| serde_json::from_str::<Value>(raw.get()).unwrap_or_default();
        let is_read_only =
            |tool: &Tool| read(&tool.raw)["annotations"]["readOnlyHint"] == Value::Bool(true);
        let may = listed
            .tools
            .iter()
            .filter(|tool| allow_writes || is_read_only(tool));
        let callable: Vec<Callable> = may
            .map(|tool| {
                let input = read(&tool.input_schema);
                Callable {
                    is_read_only: is_read_only(tool),
                    name: tool.name.clone(),
                    arguments: sample_of(&input).filter(Value::is_object),
                    output: tool.output_schema.as_deref().map(read),
                    input,
                }
            })
            .collect();
        if callable.is_empty() {
            return Err(Unusable::NothingReadOnly);
        }
        Ok(callable)
    }

    /// One call with generated arguments for each callable tool, or why none was made.
    pub(super) async fn made_calls(&mut self) -> Result<Vec<MadeCall>, Unusable> {
        if let Some(made) = &self.made {
            return Ok(made.clone());
        }
        let tools = self.callable().await?;
        let mut made: Vec<MadeCall> = Vec::new();
        let until = Instant::now() + self.spec.timeout.saturating_mul(ANSWERS_OF_ALL_CALLS);
        for tool in tools.into_iter().take(MOST_CALLS) {
            let Some(arguments) = tool.arguments.clone() else {
                continue;
            };
            let hung = made.iter().filter(|call| call.is_hung).count();
            let is_over = hung >= MOST_HUNG || (Instant::now() >= until && !made.is_empty());
            if is_over || self.connect().await.is_err() {
                break;
            }
            made.extend(self.make(tool, arguments).await);
            if made
                .last()
                .is_some_and(|call| matches!(call.answer, Answer::None(_)))
            {
                self.end().await;
            }
        }
        self.connect().await.map_err(Unusable::NotConnected)?;
        if made.is_empty() {
            return Err(Unusable::NoArguments);
        }
        self.made = Some(made.clone());
        Ok(made)
    }

    async fn make(&self, tool: Callable, arguments: Value) -> Option<MadeCall> {
        let raw = to_raw_value(&arguments).ok()?;
        let called = self
            .client
            .as_ref()?
            .call_tool(&tool.name, &raw, None)
            .await;
        let why = match &called.outcome {
            Err(CallFailure::Wire(error)) => Some(&error.misbehaviour),
            _ => None,
        };
        let is_hung = matches!(why, Some(Misbehaviour::NoAnswer { .. }));
        // A tool that tells of its progress is slow, and one that wants to ask the user is not answered here.
        if (is_hung && !called.progress().is_empty())
            || matches!(
                why,
                Some(Misbehaviour::InputRefused { .. } | Misbehaviour::TooManyRounds { .. })
            )
        {
            return None;
        }
        Some(MadeCall {
            is_hung,
            faults: called
                .outcome
                .as_ref()
                .map(|result| result_faults(result))
                .unwrap_or_default(),
            answer: Answer::of(called.outcome),
            took: called.duration,
            tool,
            arguments,
        })
    }
}
