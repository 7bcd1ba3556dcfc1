//! Which messages does a tool send while it works, and which changes does it announce afterwards?

use super::answer::error_of_missing;
use super::fields::{any_json, template};
use super::json::Json;
use super::path::Values;
use super::scope::Scope;
use super::template::{Missing, Template};
use mcptest_core::problem::Span;
use mcptest_core::suite::read::{Block, Field};
use mcptest_mcp::jsonrpc::RpcResult;
use serde_json::Value;

/// A notification before the answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// The delay before it.
    pub delay_ms: u64,
    /// Its contents.
    pub kind: NoticeKind,
}

/// The contents of a notification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoticeKind {
    /// `notifications/progress`, for a call with a progress token: its params without the token, as JSON text.
    Progress(String),
    /// `notifications/message`, for a client that wants this level.
    Log {
        /// The level.
        level: LogLevel,
        /// The params, as JSON text.
        params: String,
    },
    /// A verbatim message.
    Other(String),
}

/// The severity of a log message: the index of its name, least severe first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct LogLevel(usize);

impl LogLevel {
    /// Every level, least first.
    pub const NAMES: [&str; 8] = [
        "debug",
        "info",
        "notice",
        "warning",
        "error",
        "critical",
        "alert",
        "emergency",
    ];
    const INFO: Self = Self(1);

    /// The level of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::NAMES
            .iter()
            .position(|known| *known == name)
            .map(Self)
    }
}

/// Something of a server that changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerChange {
    /// The list of tools.
    Tools,
    /// The list of prompts.
    Prompts,
    /// The list of resources.
    Resources,
    /// The contents of the resource at this address.
    Updated(String),
}

/// A tool's notifications and changes besides its answer.
#[derive(Debug, Default)]
pub(super) struct Aside {
    notices: Vec<NoticePlan>,
    lists: Vec<ServerChange>,
    updated: Vec<UpdatedResource>,
}

/// A notification of the manifest.
#[derive(Debug)]
struct NoticePlan {
    delay_ms: u64,
    kind: PlannedKind,
    params: Json,
}

#[derive(Debug, Clone, Copy)]
enum PlannedKind {
    Progress,
    Log(LogLevel),
}

/// A resource that changes after a call.
#[derive(Debug)]
struct UpdatedResource {
    uri: Template,
    span: Span,
}

impl Aside {
    pub(super) fn notices(&self, who: &str, values: &Values<'_>) -> RpcResult<Vec<Notice>> {
        let made = self.notices.iter().map(|plan| plan.render(values));
        made.collect::<Result<_, Missing>>()
            .map_err(|missing| error_of_missing(who, &missing))
    }

    pub(super) fn changes(&self, who: &str, values: &Values<'_>) -> RpcResult<Vec<ServerChange>> {
        let updated = self
            .updated
            .iter()
            .map(|resource| resource.uri.render(values).map(ServerChange::Updated));
        let made = self.lists.iter().cloned().map(Ok).chain(updated);
        made.collect::<Result<_, Missing>>()
            .map_err(|missing| error_of_missing(who, &missing))
    }

    /// The addresses of resources that change with every call, and their places.
    pub(super) fn updated(&self) -> impl Iterator<Item = (&str, Span)> {
        self.updated
            .iter()
            .filter_map(|resource| Some((resource.uri.as_literal()?, resource.span)))
    }

    /// Reads notifications, which may use the arguments. They are sent before any request to the client.
    pub(super) fn read(block: &mut Block<'_>, scope: &Scope) -> Self {
        let logging = block.list("logging", "Log messages before the answer", |f| {
            read_log(f, scope)
        });
        let progress = block.list("progress", "Progress before the answer", |f| {
            read_progress(f, scope)
        });
        let lists = block.or_default(
            "list_changed",
            "Lists to announce as changed after a call",
            read_lists,
        );
        let updated = block.or_default(
            "updated",
            "Resources to announce as changed after a call",
            |f| read_updated(f, scope),
        );
        Self {
            notices: logging.into_iter().chain(progress).collect(),
            lists,
            updated,
        }
    }
}

impl NoticePlan {
    fn render(&self, values: &Values<'_>) -> Result<Notice, Missing> {
        let params = self.params.render(values)?.into_owned();
        Ok(Notice {
            delay_ms: self.delay_ms,
            kind: match self.kind {
                PlannedKind::Progress => NoticeKind::Progress(params),
                PlannedKind::Log(level) => NoticeKind::Log { level, params },
            },
        })
    }
}

fn read_lists(field: &mut Field<'_>) -> Option<Vec<ServerChange>> {
    field.shapes(
        "`tools`, `prompts`, `resources` or a list of them",
        |shapes| {
            shapes.text(|f| read_list_name(f).map(|list| vec![list]));
            shapes.list(|f| f.list(read_list_name));
        },
    )
}

fn read_list_name(field: &mut Field<'_>) -> Option<ServerChange> {
    const LISTS: [ServerChange; 3] = [
        ServerChange::Tools,
        ServerChange::Prompts,
        ServerChange::Resources,
    ];
    let words = [("tools", 0), ("prompts", 1), ("resources", 2)];
    field.choice("a list", &words).map(|at| LISTS[at].clone())
}

fn read_updated(field: &mut Field<'_>, scope: &Scope) -> Option<Vec<UpdatedResource>> {
    let read_one = |f: &mut Field<'_>| {
        Some(UpdatedResource {
            uri: template(f, scope)?,
            span: f.span(),
        })
    };
    field.shapes("an address or a list of them", |shapes| {
        shapes.text(|f| read_one(f).map(|resource| vec![resource]));
        shapes.list(|f| f.list(read_one));
    })
}

fn read_delay(block: &mut Block<'_>) -> u64 {
    block.or_default("delay", "The delay before it, such as `50ms`", |f| {
        f.duration_ms()
    })
}

fn read_number(field: &mut Field<'_>) -> Option<Json> {
    field.number(f64::MIN..=f64::MAX)?;
    match field.value_quietly() {
        Value::Number(number) => Some(Json::raw(number.to_string())),
        _ => None,
    }
}

fn read_progress(field: &mut Field<'_>, scope: &Scope) -> Option<NoticePlan> {
    field.try_block(|block| {
        let progress = block.required("progress", "The progress so far", read_number);
        let total = block.optional("total", "The total", read_number);
        let message = block.optional("message", "The current step", |f| template(f, scope));
        let delay_ms = read_delay(block);
        let message = message.map(Json::text);
        let params = [
            ("progress", Some(progress?)),
            ("total", total),
            ("message", message),
        ];
        Some(NoticePlan {
            delay_ms,
            kind: PlannedKind::Progress,
            params: Json::object(params),
        })
    })
}

fn read_log(field: &mut Field<'_>, scope: &Scope) -> Option<NoticePlan> {
    field.shapes("a string or a log message", |shapes| {
        shapes.scalar(|field| {
            let text = Json::text(template(field, scope)?);
            Some(log(0, LogLevel::INFO, None, text))
        });
        shapes.block(|block| {
            let level = block.optional("level", "The level [default: `info`]", |f| {
                let levels =
                    std::array::from_fn::<_, 8, _>(|at| (LogLevel::NAMES[at], LogLevel(at)));
                f.choice("a log level", &levels)
            });
            let logger = block.optional("logger", "The name of the logger", |f| template(f, scope));
            let data = block.required("data", "The contents: any JSON", |f| any_json(f, scope));
            let delay_ms = read_delay(block);
            if block.has("level") && level.is_none() {
                return None;
            }
            Some(log(
                delay_ms,
                level.unwrap_or(LogLevel::INFO),
                logger.map(Json::text),
                data?,
            ))
        });
    })
}

fn log(delay_ms: u64, level: LogLevel, logger: Option<Json>, data: Json) -> NoticePlan {
    let params = [
        ("level", Some(Json::string(LogLevel::NAMES[level.0]))),
        ("logger", logger),
        ("data", Some(data)),
    ];
    NoticePlan {
        delay_ms,
        kind: PlannedKind::Log(level),
        params: Json::object(params),
    }
}
