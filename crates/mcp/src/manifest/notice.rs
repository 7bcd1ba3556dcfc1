//! What does a tool say while it works, and what changes when it is done?

use super::fields::{any_json, template};
use super::json::{Json, Object, quote};
use super::path::Values;
use super::scope::Scope;
use super::template::{Missing, Template};
use crate::jsonrpc::RpcError;
use mcptest_core::problem::Span;
use mcptest_core::suite::read::{Block, Field};
use serde_json::{Number, Value};
use std::str::FromStr;

/// A notification before the answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Notice {
    /// How long to wait before it.
    pub delay_ms: u64,
    /// What it says.
    pub kind: NoticeKind,
}

/// What a notification says.
#[derive(Debug, Clone, PartialEq)]
pub enum NoticeKind {
    /// `notifications/progress`, for a call with a progress token.
    Progress {
        /// How far the work is.
        progress: Number,
        /// How far it goes.
        total: Option<Number>,
        /// What is being done.
        message: Option<String>,
    },
    /// `notifications/message`, for a client that wants this level.
    Log {
        /// Its level.
        level: LogLevel,
        /// The parameters, as JSON text.
        params: String,
    },
}

/// How much a log message matters, from least to most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum LogLevel {
    Debug,
    Info,
    Notice,
    Warning,
    Error,
    Critical,
    Alert,
    Emergency,
}

const LEVELS: &[(&str, LogLevel)] = &[
    ("debug", LogLevel::Debug),
    ("info", LogLevel::Info),
    ("notice", LogLevel::Notice),
    ("warning", LogLevel::Warning),
    ("error", LogLevel::Error),
    ("critical", LogLevel::Critical),
    ("alert", LogLevel::Alert),
    ("emergency", LogLevel::Emergency),
];

/// A text that is no log level.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a log level: debug, info, notice, warning, error, critical, alert or emergency")]
pub struct LogLevelError(String);

impl FromStr for LogLevel {
    type Err = LogLevelError;

    fn from_str(written: &str) -> Result<Self, LogLevelError> {
        let level = LEVELS.iter().find(|(name, _)| *name == written).map(|(_, level)| *level);
        level.ok_or_else(|| LogLevelError(written.to_owned()))
    }
}

/// What changes after a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// A list is another: `notifications/{tools,prompts,resources}/list_changed`.
    ListChanged(ListKind),
    /// A resource is another: `notifications/resources/updated` for this address.
    Updated(String),
}

/// A list that a server offers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ListKind {
    /// The tools.
    Tools,
    /// The prompts.
    Prompts,
    /// The resources.
    Resources,
}

/// What a tool says and changes beside its answer.
#[derive(Debug, Default)]
pub(super) struct Aside {
    notices: Vec<(u64, Step)>,
    effects: Vec<EffectPlan>,
}

#[derive(Debug)]
enum Step {
    Progress { progress: Number, total: Option<Number>, message: Option<Template> },
    Log { level: LogLevel, params: Json },
}

#[derive(Debug)]
enum EffectPlan {
    ListChanged(ListKind),
    Updated(Template, Span),
}

impl Aside {
    pub(super) fn notices(&self, who: &str, values: &Values<'_>) -> Result<Vec<Notice>, RpcError> {
        let made = self
            .notices
            .iter()
            .map(|(delay_ms, step)| step.render(values).map(|kind| Notice { delay_ms: *delay_ms, kind }));
        made.collect::<Result<_, Missing>>().map_err(|missing| RpcError::missing(who, &missing))
    }

    pub(super) fn effects(&self, who: &str, values: &Values<'_>) -> Result<Vec<Effect>, RpcError> {
        let made = self.effects.iter().map(|effect| match effect {
            EffectPlan::ListChanged(list) => Ok(Effect::ListChanged(*list)),
            EffectPlan::Updated(uri, _) => uri.render(values).map(Effect::Updated),
        });
        made.collect::<Result<_, Missing>>().map_err(|missing| RpcError::missing(who, &missing))
    }

    /// The addresses of resources that change whatever the call is, and their places.
    pub(super) fn updated(&self) -> impl Iterator<Item = (&str, Span)> {
        self.effects.iter().filter_map(|effect| match effect {
            EffectPlan::Updated(uri, span) => uri.as_literal().map(|uri| (uri, *span)),
            EffectPlan::ListChanged(_) => None,
        })
    }

    /// What is said may use the arguments; it comes before anything is asked.
    pub(super) fn read(block: &mut Block<'_>, scope: &Scope) -> Self {
        let logging = block
            .optional("logging", "Log messages before the answer", |f| f.list(|f| read_log(f, scope)))
            .unwrap_or_default();
        let progress = block
            .optional("progress", "Progress before the answer", |f| f.list(|f| read_progress(f, scope)))
            .unwrap_or_default();
        let list_changed =
            block.optional("list_changed", "Lists that are said to have changed after a call", |f| {
                let words = [
                    ("tools", ListKind::Tools),
                    ("prompts", ListKind::Prompts),
                    ("resources", ListKind::Resources),
                ];
                f.shapes("`tools`, `prompts`, `resources` or a list of them", |shapes| {
                    shapes.text(|f| f.choice("a list", &words).map(|list| vec![list]));
                    shapes.list(|f| f.list(|f| f.choice("a list", &words)));
                })
            });
        let updated =
            block.optional("updated", "Resources that are said to have changed after a call", |f| {
                f.shapes("an address or a list of them", |shapes| {
                    let placed = |f: &mut Field<'_>| template(f, scope).map(|uri| (uri, f.span()));
                    shapes.text(|f| placed(f).map(|uri| vec![uri]));
                    shapes.list(|f| f.list(placed));
                })
            });
        let lists = list_changed.unwrap_or_default().into_iter().map(EffectPlan::ListChanged);
        let resources = updated.unwrap_or_default().into_iter();
        let resources = resources.map(|(uri, span)| EffectPlan::Updated(uri, span));
        Self {
            notices: logging.into_iter().chain(progress).collect(),
            effects: lists.chain(resources).collect(),
        }
    }
}

impl Step {
    fn render(&self, values: &Values<'_>) -> Result<NoticeKind, Missing> {
        Ok(match self {
            Self::Progress { progress, total, message } => NoticeKind::Progress {
                progress: progress.clone(),
                total: total.clone(),
                message: message.as_ref().map(|message| message.render(values)).transpose()?,
            },
            Self::Log { level, params } => {
                NoticeKind::Log { level: *level, params: params.render(values)?.into_owned() }
            }
        })
    }
}

fn read_delay(block: &mut Block<'_>) -> u64 {
    block.optional("delay", "How long to wait before it, as `50ms`", |f| f.duration_ms()).unwrap_or_default()
}

fn read_number(field: &mut Field<'_>) -> Option<Number> {
    let number = field.number(f64::MIN..=f64::MAX);
    number?;
    match field.value_quietly() {
        Value::Number(number) => Some(number),
        _ => None,
    }
}

fn read_progress(field: &mut Field<'_>, scope: &Scope) -> Option<(u64, Step)> {
    field
        .block(|block| {
            let progress = block.required("progress", "How far the work is", read_number);
            let total = block.optional("total", "How far it goes", read_number);
            let message = block.optional("message", "What is being done", |f| template(f, scope));
            let delay_ms = read_delay(block);
            Some((delay_ms, Step::Progress { progress: progress?, total, message }))
        })
        .flatten()
}

fn read_log(field: &mut Field<'_>, scope: &Scope) -> Option<(u64, Step)> {
    field.shapes("a text or a log message", |shapes| {
        shapes.scalar(|field| {
            let text = Json::text(template(field, scope)?);
            Some((0, log(LogLevel::Info, None, text)))
        });
        shapes.block(|block| {
            let level = block
                .optional("level", "Its level: `info` when left out", |f| f.choice("a log level", LEVELS));
            let logger = block.optional("logger", "Who says it", |f| template(f, scope));
            let data = block.required("data", "What it says: any JSON", |f| any_json(f, scope));
            let delay_ms = read_delay(block);
            if block.has("level") && level.is_none() {
                return None;
            }
            Some((delay_ms, log(level.unwrap_or(LogLevel::Info), logger.map(Json::text), data?)))
        });
    })
}

fn log(level: LogLevel, logger: Option<Json>, data: Json) -> Step {
    let name = LEVELS.iter().find(|(_, known)| *known == level).map_or("info", |(name, _)| name);
    let mut params = Object::default();
    params.member("level", Some(Json::raw(quote(name))));
    params.member("logger", logger);
    params.member("data", Some(data));
    Step::Log { level, params: params.finish() }
}
