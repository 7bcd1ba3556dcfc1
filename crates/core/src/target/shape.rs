//! What a trace can have: a path outside of it is a slip, not an absent value.

use super::{PathProblem, Step};

/// Which tree a path starts in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Roots {
    /// The trace of an agent's run.
    Trace,
    /// The result of one direct tool call.
    ToolTest,
}

enum Shape {
    Text,
    Number,
    Flag,
    Any,
    List(&'static Shape),
    Record(&'static [(&'static str, Shape)]),
}

use Shape::{Any, Flag, List, Number, Record, Text};

static ERROR: &[(&str, Shape)] = &[("code", Number), ("message", Text), ("data", Any)];

static CALL: Shape = Record(&[
    ("name", Text),
    ("server", Text),
    ("args", Any),
    ("args_text", Text),
    ("id", Text),
    ("turn", Number),
    ("caller", Any),
    ("distractor", Flag),
]);

static RESULT: Shape = Record(&[
    ("call_index", Number),
    ("is_error", Flag),
    ("content", Any),
    ("structured", Any),
    ("error", Record(ERROR)),
]);

static TURN: Shape = Record(&[("role", Text), ("content", Any)]);
static DELEGATION: Shape = Record(&[("from", Text), ("to", Text)]);
static FAULT: Shape = Record(&[
    ("name", Text),
    ("kind", Text),
    ("call_index", Number),
    ("virtual_ms", Number),
    ("detected", Flag),
]);

static TRACE: Shape = Record(&[
    ("tool_calls", List(&CALL)),
    ("tool_results", List(&RESULT)),
    ("tool_names", List(&Text)),
    ("final_response", Text),
    ("stop_reason", Text),
    ("errors", List(&Any)),
    ("delegations", List(&DELEGATION)),
    ("faults", List(&FAULT)),
    (
        "conversation",
        Record(&[
            ("tokens", Record(&[("prompt", Number), ("completion", Number), ("total", Number)])),
            ("turns", List(&TURN)),
            ("duration_ms", Number),
            ("message_count", Number),
            ("cost_usd", Number),
        ]),
    ),
]);

static TOOL_TEST: Shape = Record(&[
    (
        "result",
        Record(&[("content", List(&Any)), ("structuredContent", Any), ("isError", Flag), ("_meta", Any)]),
    ),
    ("error", Record(ERROR)),
    ("duration_ms", Number),
]);

/// Refuses a path that leads where nothing can ever be; says whether it ends in a field of the trace's own.
pub(super) fn check(steps: &[Step], roots: Roots) -> Result<bool, PathProblem> {
    let mut shape = match roots {
        Roots::Trace => &TRACE,
        Roots::ToolTest => &TOOL_TEST,
    };
    let mut before = String::new();
    for step in steps {
        let Some(next) = follow(shape, step, &before)? else { return Ok(false) };
        shape = next;
        push_step(&mut before, step);
    }
    let is_argument = matches!(steps.last(), Some(Step::Key { name, .. }) if name == "args");
    Ok(!is_argument)
}

/// The shape one step further; `None` where anything goes.
fn follow(shape: &'static Shape, step: &Step, before: &str) -> Result<Option<&'static Shape>, PathProblem> {
    match (shape, step) {
        (Any, _) | (_, Step::Key { quoted: true, .. }) => Ok(None),
        (List(_) | Text, Step::Key { name, .. }) if name == "length" => Ok(Some(&Number)),
        (List(item), Step::Index(_) | Step::Each) => Ok(Some(item)),
        (Record(fields), Step::Key { name, .. }) => field(fields, name, before).map(Some),
        (List(_), Step::Key { name, .. }) => Err(PathProblem {
            message: format!("`{before}` is a list and has no `{name}`"),
            help: Some(format!("write `{before}[0].{name}` for one item or `{before}[*].{name}` for all")),
        }),
        (_, Step::Index(_) | Step::Each) => {
            Err(PathProblem { message: format!("`{before}` is not a list"), help: None })
        }
        (Text | Number | Flag, Step::Key { name, .. }) => {
            let kind = match shape {
                Text => "a text",
                Number => "a number",
                _ => "`true` or `false`",
            };
            Err(PathProblem { message: format!("`{before}` is {kind} and has no `{name}`"), help: None })
        }
    }
}

fn field(
    fields: &'static [(&'static str, Shape)],
    name: &str,
    before: &str,
) -> Result<&'static Shape, PathProblem> {
    if let Some((_, shape)) = fields.iter().find(|(known, _)| *known == name) {
        return Ok(shape);
    }
    let place = if before.is_empty() { "a target".to_owned() } else { format!("`{before}`") };
    let near = crate::problem::nearest(name, fields.iter().map(|(known, _)| *known));
    let known = fields.iter().map(|(known, _)| *known).collect::<Vec<_>>().join(", ");
    let help = match near {
        Some(near) if before.is_empty() => format!("did you mean `{near}`?"),
        Some(near) => format!("did you mean `{before}.{near}`?"),
        None if before.is_empty() => format!("targets start with one of: {known}"),
        None => {
            format!("it has: {known}; a quoted key, `{before}[\"{name}\"]`, reaches other recorded fields")
        }
    };
    let verb = if before.is_empty() { "cannot start with" } else { "has no" };
    Err(PathProblem { message: format!("{place} {verb} `{name}`"), help: Some(help) })
}

fn push_step(path: &mut String, step: &Step) {
    match step {
        Step::Key { name, .. } if path.is_empty() => path.push_str(name),
        Step::Key { name, .. } => {
            path.push('.');
            path.push_str(name);
        }
        Step::Index(index) => path.push_str(&format!("[{index}]")),
        Step::Each => path.push_str("[*]"),
    }
}
