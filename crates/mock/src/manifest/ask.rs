//! `ask:` which requests does the mock send to the client before it answers?

use super::answer::{Inputs, error_of_missing};
use super::content;
use super::context::Context;
use super::fields::{any_json, either, object_json, text};
use super::json::{Json, Object, list};
use super::path::Values;
use super::scope::Scope;
use mcptest_core::problem::Problem;
use mcptest_core::suite::read::{Block, Field};
use mcptest_mcp::jsonrpc::{RpcError, RpcResult, code};
use serde_json::{Value, json};

/// A kind of request to a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum AskKind {
    /// A message from the client's model.
    Sampling,
    /// Input from the client's user.
    Elicitation,
    /// The client's folders.
    Roots,
}

impl AskKind {
    /// Every kind.
    pub const ALL: [Self; 3] = [Self::Sampling, Self::Elicitation, Self::Roots];

    /// The method of the request.
    pub fn method(self) -> &'static str {
        match self {
            Self::Sampling => "sampling/createMessage",
            Self::Elicitation => "elicitation/create",
            Self::Roots => "roots/list",
        }
    }

    /// The capability that a client declares for this request.
    pub fn capability(self) -> &'static str {
        match self {
            Self::Sampling => "sampling",
            Self::Elicitation => "elicitation",
            Self::Roots => "roots",
        }
    }

    /// Refuses a client's answer that does not fit the kind.
    pub fn check(self, answer: &Value) -> RpcResult {
        let (is_one, wanted) = match self {
            Self::Sampling => (
                answer["content"].is_object() || answer["content"].is_array(),
                "a message with `content`",
            ),
            Self::Elicitation => (
                matches!(
                    answer["action"].as_str(),
                    Some("accept" | "decline" | "cancel")
                ),
                "an `action`: accept, decline or cancel",
            ),
            Self::Roots => (answer["roots"].is_array(), "a list of `roots`"),
        };
        if is_one {
            return Ok(());
        }
        let found = answer.to_string();
        let message = format!(
            "the answer to `{}` is not {wanted}: {}",
            self.method(),
            super::answer::cut(&found)
        );
        Err(RpcError::new(code::INVALID_PARAMS, message))
    }
}

/// One request to the client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AskRequest {
    /// Its name: the key of its answer in [`Inputs`].
    pub name: String,
    /// The kind.
    pub kind: AskKind,
    /// Its parameters, as JSON text.
    pub params: String,
}

/// The requests to make now, or why the client cannot receive them.
pub type Asks = RpcResult<Vec<AskRequest>>;

/// The kinds of requests that a client has declared.
pub type Declared<'d> = &'d dyn Fn(AskKind) -> bool;

/// The requests before an answer: rounds, each sent after the answers to the previous one.
#[derive(Debug, Default)]
pub struct Ask {
    /// True if even the first round carries a `requestState`, as later rounds always do.
    pub request_state: bool,
    rounds: Vec<Vec<Question>>,
}

#[derive(Debug)]
struct Question {
    name: String,
    kind: AskKind,
    params: Json,
    optional: bool,
}

/// A request as it is written, before it has a name.
struct WrittenRequest {
    kind: AskKind,
    params: Json,
}

impl WrittenRequest {
    fn named(self, name: &str, optional: bool) -> Question {
        Question {
            name: name.to_owned(),
            kind: self.kind,
            params: self.params,
            optional,
        }
    }

    fn named_by_kind(self) -> Question {
        let name = self.kind.capability();
        self.named(name, false)
    }
}

/// The keys for the kinds of requests.
const KEYS: [&str; 3] = ["sampling", "elicitation", "roots"];

impl Ask {
    /// Returns true without requests.
    pub fn is_empty(&self) -> bool {
        self.rounds.is_empty()
    }

    /// The requests to make now: the requests of the first round that `inputs` does not answer.
    /// Empty if the answer can be given. Optional requests are skipped for a client without the
    /// capability; a required request is then an error.
    pub(super) fn next(
        &self,
        who: &str,
        values: &Values<'_>,
        inputs: &Inputs,
        declared: Declared<'_>,
    ) -> Asks {
        for round in &self.rounds {
            let open: Vec<&Question> = round
                .iter()
                .filter(|question| !question.is_answered(inputs))
                .filter(|question| !question.optional || declared(question.kind))
                .collect();
            if let Some(question) = open.iter().find(|question| !declared(question.kind)) {
                return Err(question.refused(who));
            }
            if !open.is_empty() {
                return open
                    .into_iter()
                    .map(|question| question.request(who, values))
                    .collect();
            }
        }
        Ok(Vec::new())
    }

    /// The names that answers have.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.rounds
            .iter()
            .flatten()
            .map(|question| question.name.as_str())
    }

    /// The keys of a tool, prompt or resource that ask: `sampling`, `elicitation` and `roots`, or `ask`.
    pub(super) fn read(block: &mut Block<'_>, context: &Context<'_>, scope: &Scope) -> Self {
        let together = read_kinds(block, context, scope);
        let rounds = block.optional(
            "ask",
            "Rounds of requests to the client by name: a map, or a list of maps, one per round",
            |f| f.define("ask", |f| read_rounds(f, context, scope)),
        );
        let request_state = either(
            block,
            ("requestState", "request_state"),
            "Send a `requestState` with the first round too",
            |f| f.flag(),
        );
        for key in KEYS {
            block.at_most_one_of(&["ask", key]);
        }
        let one_round = || {
            if together.is_empty() {
                return Vec::new();
            }
            vec![
                together
                    .into_iter()
                    .map(WrittenRequest::named_by_kind)
                    .collect(),
            ]
        };
        Self {
            request_state: request_state.unwrap_or_default(),
            rounds: rounds.unwrap_or_else(one_round),
        }
    }
}

impl Question {
    fn is_answered(&self, inputs: &Inputs) -> bool {
        inputs
            .get(&self.name)
            .is_some_and(|answer| self.kind.check(answer).is_ok())
    }

    fn request(&self, who: &str, values: &Values<'_>) -> RpcResult<AskRequest> {
        let params = self
            .params
            .render(values)
            .map_err(|missing| error_of_missing(who, &missing))?;
        Ok(AskRequest {
            name: self.name.clone(),
            kind: self.kind,
            params: params.into_owned(),
        })
    }

    fn refused(&self, who: &str) -> RpcError {
        let capability = self.kind.capability();
        let message = format!("{who} needs a client with the capability `{capability}`");
        RpcError::new(code::MISSING_CLIENT_CAPABILITY, message)
            .with_data(&json!({ "requiredCapabilities": { capability: {} } }))
    }
}

fn read_rounds(
    field: &mut Field<'_>,
    context: &Context<'_>,
    scope: &Scope,
) -> Option<Vec<Vec<Question>>> {
    let mut scope = scope.clone();
    field.shapes(
        "a map of requests by name, or a list of such maps",
        |shapes| {
            shapes.map(|field| {
                read_round(field, context, &mut scope.clone()).map(|round| vec![round])
            });
            shapes.list(|field| field.list(|field| read_round(field, context, &mut scope)));
        },
    )
}

/// The requests of one round; later ones can use its answers.
fn read_round(
    field: &mut Field<'_>,
    context: &Context<'_>,
    scope: &mut Scope,
) -> Option<Vec<Question>> {
    let before = scope.clone();
    let questions = field.named_entries(|name, span, field| {
        if scope.has(name) {
            let problem = Problem::error(format!("`{name}` is reserved")).at(span);
            field.report(problem.help("each request needs a unique name"));
        }
        scope.add(name);
        field.try_block(|block| read_question(block, name, context, &before))
    })?;
    Some(
        questions
            .into_iter()
            .map(|(_, question)| question)
            .collect(),
    )
}

fn read_question(
    block: &mut Block<'_>,
    name: &str,
    context: &Context<'_>,
    scope: &Scope,
) -> Option<Question> {
    let mut kinds = read_kinds(block, context, scope);
    let optional = block.flag(
        "optional",
        "Skip the request if the client lacks the capability",
        false,
    );
    block.at_most_one_of(&KEYS);
    if !KEYS.iter().any(|key| block.has(key)) && !block.has_slip_of(&KEYS) {
        block.report(Problem::error(
            "a request is `sampling`, `elicitation` or `roots`",
        ));
    }
    Some(kinds.pop()?.named(name, optional))
}

fn read_kinds(block: &mut Block<'_>, context: &Context<'_>, scope: &Scope) -> Vec<WrittenRequest> {
    let sampling = block.optional(
        "sampling",
        "Asks the client's model: a string, or a map with `messages`",
        |f| f.define("sampling", |f| read_sampling(f, context, scope)),
    );
    let elicitation = block.optional(
        "elicitation",
        "Asks the client's user: a string, or a map with `message` and `requested_schema`",
        |f| f.define("elicitation", |f| read_elicitation(f, scope)),
    );
    let roots = block.optional("roots", "Asks for the client's roots: `{}`", |f| {
        object_json(f, scope)
    });
    let kinds = [
        (AskKind::Sampling, sampling),
        (AskKind::Elicitation, elicitation),
        (AskKind::Roots, roots),
    ];
    kinds
        .into_iter()
        .filter_map(|(kind, params)| {
            Some(WrittenRequest {
                kind,
                params: params?,
            })
        })
        .collect()
}

fn read_sampling(field: &mut Field<'_>, context: &Context<'_>, scope: &Scope) -> Option<Json> {
    field.shapes(
        "a string or the parameters of a sampling request",
        |shapes| {
            shapes.scalar(|field| {
                let messages = list([content::message(
                    "user",
                    content::text_block(text(field, scope)?),
                )]);
                Some(Json::object([
                    ("messages", Some(messages)),
                    ("maxTokens", Some(Json::raw("100"))),
                ]))
            });
            shapes.block(|block| read_sampling_params(block, context, scope));
        },
    )
}

/// The parameters with two spellings: MCP's, snake case, and the meaning.
const SPELLED: [(&str, &str, &str); 6] = [
    (
        "maxTokens",
        "max_tokens",
        "The maximum number of tokens to sample [default: 100]",
    ),
    ("systemPrompt", "system_prompt", "The system prompt"),
    (
        "modelPreferences",
        "model_preferences",
        "The preferred model",
    ),
    (
        "includeContext",
        "include_context",
        "The context to include",
    ),
    (
        "stopSequences",
        "stop_sequences",
        "Texts that end the message",
    ),
    ("toolChoice", "tool_choice", "The choice of tools"),
];

/// The parameters with one spelling, and their meaning.
const PLAIN: [(&str, &str); 4] = [
    ("temperature", "The temperature"),
    ("tools", "Tools that the model may call"),
    ("metadata", "For the provider"),
    ("_meta", "Metadata"),
];

fn read_sampling_params(
    block: &mut Block<'_>,
    context: &Context<'_>,
    scope: &Scope,
) -> Option<Json> {
    let messages = block.required("messages", "The conversation so far", |f| {
        f.list(|f| content::read_message(f, context, scope))
            .map(list)
    });
    let is_read = messages.is_some();
    let mut params = Object::default();
    params.member("messages", messages);
    for (camel, snake, doc) in SPELLED {
        let value = either(block, (camel, snake), doc, |f| any_json(f, scope));
        params.member(camel, value);
    }
    if !block.has("maxTokens") && !block.has("max_tokens") {
        params.member("maxTokens", Some(Json::raw("100")));
    }
    for (key, doc) in PLAIN {
        params.filled(block, key, doc, |f| any_json(f, scope));
    }
    is_read.then(|| params.finish())
}

fn read_elicitation(field: &mut Field<'_>, scope: &Scope) -> Option<Json> {
    field.shapes("a string or the parameters of an elicitation", |shapes| {
        shapes.scalar(|field| {
            let message = text(field, scope)?;
            Some(Json::object([
                ("message", Some(message)),
                ("requestedSchema", Some(empty_form())),
            ]))
        });
        shapes.block(|block| read_elicitation_block(block, scope));
    })
}

fn read_elicitation_block(block: &mut Block<'_>, scope: &Scope) -> Option<Json> {
    let message = block.required("message", "The text for the user", |f| text(f, scope));
    let mode = block.optional("mode", "`form` or `url`", |f| {
        f.choice(
            "a mode of elicitation",
            &[("form", "\"form\""), ("url", "\"url\"")],
        )
    });
    let schema = either(
        block,
        ("requestedSchema", "requested_schema"),
        "The JSON Schema of the form [default: an empty form]",
        |f| object_json(f, scope),
    );
    let url = block.optional("url", "The page that the user visits", |f| text(f, scope));
    let id = either(
        block,
        ("elicitationId", "elicitation_id"),
        "The id of a visit",
        |f| text(f, scope),
    );
    let meta = block.optional("_meta", "Metadata", |f| object_json(f, scope));
    let is_form = !block.has("url") && mode != Some("\"url\"");
    Some(Json::object([
        (
            "mode",
            mode.or((!is_form).then_some("\"url\"")).map(Json::raw),
        ),
        ("message", Some(message?)),
        (
            "requestedSchema",
            schema.or_else(|| is_form.then(empty_form)),
        ),
        ("url", url),
        ("elicitationId", id),
        ("_meta", meta),
    ]))
}

fn empty_form() -> Json {
    Json::raw(r#"{"type":"object","properties":{}}"#)
}
