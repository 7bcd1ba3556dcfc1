//! Which paths can a trace have? Any other path is a mistake, not an absent value.

use super::PathStep;
use crate::grade::SCORERS;
use crate::matcher::Type;
use crate::problem::{Problem, nearest};
use crate::trace::fields::Shape::{self, Any, Flag, List, Number, Record, Text, Whole};
use crate::trace::fields::{ERROR, Field, TRACE, optional};

/// The tree in which a path starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Roots {
    /// The trace of an agent's run.
    Trace,
    /// The result of a tool test.
    ToolTest,
}

static RESULT: &[Field] = &[
    optional("content", List(&Any), "the content blocks"),
    optional("structuredContent", Any, "the structured content"),
    optional("isError", Flag, "whether the tool reported an error"),
    optional("_meta", Any, "other data from the server"),
];

static PROGRESS: Shape = Record(&[
    optional("progress", Number, "the progress of the call"),
    optional("total", Number, "the total of the progress"),
    optional("message", Text, "the message of the progress"),
    optional("_meta", Any, "other data from the server"),
]);

static LOG: Shape = Record(&[
    optional("level", Text, "its severity, from `debug` to `emergency`"),
    optional("logger", Text, "its logger"),
    optional("data", Any, "the message: a string, or any JSON"),
    optional("_meta", Any, "other data from the server"),
]);

static TOOL_TEST: Shape = Record(&[
    optional("result", Record(RESULT), "the tool's result"),
    optional("error", Record(ERROR), "the JSON-RPC error"),
    optional(
        "progress",
        List(&PROGRESS),
        "the progress notifications during the call, in order",
    ),
    optional(
        "log",
        List(&LOG),
        "the log messages during the call, in order",
    ),
    optional("duration_ms", Whole, "how long the call took"),
]);

/// The end of a path.
pub(super) struct End {
    /// True if it is a field of the trace format.
    pub(super) is_own: bool,
    pub(super) holds: Type,
}

impl End {
    /// The end of a path into values of any shape.
    const ANYWHERE: Self = Self {
        is_own: false,
        holds: Type::Any,
    };
}

/// Refuses a path that can never lead to a value; returns the type of its end.
pub(super) fn check(steps: &[PathStep], roots: Roots) -> Result<End, Box<Problem>> {
    if roots == Roots::Trace && starts_with_scorers(steps) {
        return check_scorer(steps);
    }
    check_filters(steps)?;
    let root = match roots {
        Roots::Trace => &TRACE,
        Roots::ToolTest => &TOOL_TEST,
    };
    let Some(shape) = follow_all(root, steps)? else {
        return Ok(End::ANYWHERE);
    };
    let is_argument = matches!(steps.last(), Some(PathStep::Key { name, .. }) if name == "args");
    let item = type_of(shape);
    let holds = if steps.iter().any(PathStep::is_each) {
        Type::List(Box::new(item))
    } else {
        item
    };
    Ok(End {
        is_own: !is_argument,
        holds,
    })
}

fn check_scorer(steps: &[PathStep]) -> Result<End, Box<Problem>> {
    if of_scorer(steps).is_some() {
        return Ok(End::ANYWHERE);
    }
    let problem = Problem::error("a number of a scorer is `scorers.NAME.KEY`");
    Err(problem
        .help("NAME is the name of a scorer, KEY a key that it prints")
        .into())
}

/// The shape at the end of a path; `None` if any value is allowed.
fn follow_all(
    root: &'static Shape,
    steps: &[PathStep],
) -> Result<Option<&'static Shape>, Box<Problem>> {
    let mut shape = root;
    let mut before = String::new();
    for step in steps {
        let Some(next) = follow(shape, step, &before)? else {
            return Ok(None);
        };
        shape = next;
        push_step(&mut before, step);
    }
    Ok(Some(shape))
}

/// The roles of turns.
const ROLES: [&str; 4] = ["assistant", "user", "tool", "system"];

/// Refuses a filter that selects nothing in any trace. Only turns have a role.
fn check_filters(steps: &[PathStep]) -> Result<(), Box<Problem>> {
    let mut before = String::new();
    for step in steps {
        if let PathStep::EachWith { key, value } = step {
            if before != "conversation.turns" {
                let problem = Problem::error(format!(
                    "only the turns of a conversation can be filtered, not `{before}`"
                ));
                return Err(problem
                    .help("write `conversation.turns[role=assistant].content`")
                    .into());
            }
            let is_role = ROLES.contains(&value.as_str());
            if key != "role" || !is_role {
                let near = nearest(value, ROLES).unwrap_or("assistant");
                let problem = if is_role {
                    Problem::error(format!(
                        "turns are filtered by their `role`, not by `{key}`"
                    ))
                } else {
                    Problem::error(format!("`{value}` is not a role of a turn"))
                };
                return Err(problem
                    .help(format!("did you mean `conversation.turns[role={near}]`?"))
                    .into());
            }
        }
        push_step(&mut before, step);
    }
    Ok(())
}

fn starts_with_scorers(steps: &[PathStep]) -> bool {
    matches!(steps.first(), Some(PathStep::Key { name, quoted: false }) if name == SCORERS)
}

/// The scorer of the number at this path.
pub(super) fn of_scorer(steps: &[PathStep]) -> Option<&str> {
    match steps {
        [_, PathStep::Key { name, .. }, PathStep::Key { .. }] if starts_with_scorers(steps) => {
            Some(name)
        }
        _ => None,
    }
}

fn type_of(shape: &Shape) -> Type {
    match shape {
        Text => Type::Text,
        Whole | Number => Type::Number,
        Flag => Type::Flag,
        Any => Type::Any,
        List(item) => Type::List(Box::new(type_of(item))),
        Record(_) => Type::Object,
    }
}

/// The shape after one more step; `None` if any step is allowed.
fn follow(
    shape: &'static Shape,
    step: &PathStep,
    before: &str,
) -> Result<Option<&'static Shape>, Box<Problem>> {
    match (shape, step) {
        (Any, _) | (_, PathStep::Key { quoted: true, .. }) => Ok(None),
        (List(_) | Text, PathStep::Key { name, .. }) if name == "length" => Ok(Some(&Number)),
        (List(item), PathStep::Index(_) | PathStep::Each | PathStep::EachWith { .. }) => {
            Ok(Some(item))
        }
        (Record(fields), PathStep::Key { name, .. }) => field(fields, name, before).map(Some),
        (List(_), PathStep::Key { name, .. }) => {
            let help =
                format!("write `{before}[0].{name}` for one item or `{before}[*].{name}` for all");
            Err(
                Problem::error(format!("`{before}` is a list and has no `{name}`"))
                    .help(help)
                    .into(),
            )
        }
        (_, PathStep::Index(_) | PathStep::Each | PathStep::EachWith { .. }) => {
            Err(Problem::error(format!("`{before}` is not a list")).into())
        }
        (Text | Whole | Number | Flag, PathStep::Key { name, .. }) => {
            let kind = type_of(shape).in_words();
            Err(Problem::error(format!("`{before}` is {kind} and has no `{name}`")).into())
        }
    }
}

fn field(
    fields: &'static [Field],
    name: &str,
    before: &str,
) -> Result<&'static Shape, Box<Problem>> {
    if let Some(field) = fields.iter().find(|field| field.name == name) {
        return Ok(&field.shape);
    }
    let place = if before.is_empty() {
        "a target".to_owned()
    } else {
        format!("`{before}`")
    };
    let near = crate::problem::nearest(name, fields.iter().map(|field| field.name));
    let known = fields
        .iter()
        .map(|field| field.name)
        .collect::<Vec<_>>()
        .join(", ");
    let help = match near {
        Some(near) if before.is_empty() => format!("did you mean `{near}`?"),
        Some(near) => format!("did you mean `{before}.{near}`?"),
        None if before.is_empty() => format!("targets start with one of: {known}"),
        None => {
            format!(
                "it has: {known}; a quoted key, `{before}[\"{name}\"]`, reaches other recorded fields"
            )
        }
    };
    let verb = if before.is_empty() {
        "cannot start with"
    } else {
        "has no"
    };
    Err(Problem::error(format!("{place} {verb} `{name}`"))
        .help(help)
        .into())
}

pub(super) fn push_step(path: &mut String, step: &PathStep) {
    match step {
        PathStep::Key { name, .. } if path.is_empty() => path.push_str(name),
        PathStep::Key { name, .. } => {
            path.push('.');
            path.push_str(name);
        }
        PathStep::Index(index) => path.push_str(&format!("[{index}]")),
        PathStep::Each => path.push_str("[*]"),
        PathStep::EachWith { key, value } => path.push_str(&format!("[{key}={value}]")),
    }
}
