//! `response:` and `responses:`: which answers does a tool have?

use super::answer::{Plan, Sequence, Then, output_fault};
use super::condition::Condition;
use super::content;
use super::context::Context;
use super::fields::{any_json, either, object_json, report, template, text};
use super::json::{Json, PlacedFault};
use super::operation::{Operation, Verb};
use super::path::Path;
use super::scope::Scope;
use super::tool::Case;
use mcptest_core::problem::{Problem, Span};
use mcptest_core::schema::JsonSchema;
use mcptest_core::suite::read::{Block, Field};

/// The inputs for reading answers.
#[derive(Clone, Copy)]
pub(super) struct Answers<'r> {
    pub(super) context: &'r Context<'r>,
    pub(super) scope: &'r Scope,
    /// The schema of a result's structured content.
    pub(super) output: Option<&'r JsonSchema>,
}

/// The keys for the kinds of answers, of which an answer has one. Only the last five allow parts of
/// a result beside them.
const KINDS: &[&str] = &[
    "result", "error", "sequence", "raw", "create", "read", "update", "delete", "list",
];
const WHOLE: &[&str] = &["result", "error", "sequence", "raw"];
/// The keys of a result, which may be written without `result:`.
const RESULT: &[&str] = &[
    "text",
    "content",
    "structured_content",
    "structuredContent",
    "is_error",
    "isError",
    "_meta",
];

/// The complete answers of a block, as far as they could be read.
struct WholeAnswer {
    result: Option<Json>,
    error: Option<Plan>,
    sequence: Option<Vec<Plan>>,
    then: Option<Then>,
    raw: Option<Json>,
}

/// The keys of a result.
struct ResultParts {
    text: Option<Json>,
    content: Option<Json>,
    structured: Option<Json>,
    is_error: Option<bool>,
    meta: Option<Json>,
}

impl ResultParts {
    fn into_result(self, shown: Option<Json>) -> Json {
        let structured = self.structured.or(shown);
        // MCP asks for the same JSON as a string, for clients that know no structured content.
        let same = || {
            structured
                .clone()
                .map(|structured| content::one_text(Json::quoted(structured)))
        };
        let content = self
            .content
            .or(self.text.map(content::one_text))
            .or_else(same)
            .unwrap_or_else(|| Json::raw("[]"));
        let is_error = self.is_error.unwrap_or_default();
        Json::object([
            ("content", Some(content)),
            ("structuredContent", structured),
            ("isError", is_error.then(|| Json::raw("true"))),
            ("_meta", self.meta),
        ])
    }
}

impl Answers<'_> {
    /// An answer: a string, or a map.
    pub(super) fn read(self, field: &mut Field<'_>) -> Option<Plan> {
        field.define("answer", |field| {
            field.shapes("a string or an answer", |shapes| {
                shapes.scalar(|field| self.text(field).map(Plan::Result));
                shapes.block(|block| self.read_block(block));
            })
        })
    }

    /// A list of answers with their conditions.
    pub(super) fn read_cases(self, field: &mut Field<'_>) -> Option<Vec<Case>> {
        let mut always: Option<Span> = None;
        let cases = field.list(|field| {
            if let (Some(before), false) = (always, field.is_describing()) {
                let problem = Problem::warning("this answer is never used")
                    .also(before, "this one is always used");
                field.report(problem.help("put the answer without `when` last"));
            }
            let span = field.span();
            field.try_block(|block| {
                let case = self.read_case(block);
                if !block.has("when") {
                    always = always.or(Some(span));
                }
                case
            })
        })?;
        if cases.is_empty() {
            field.report(Problem::error("`responses` without an answer"));
            return None;
        }
        Some(cases)
    }

    fn read_case(self, block: &mut Block<'_>) -> Option<Case> {
        let when = block.optional(
            "when",
            "The condition, such as `args.city == \"Paris\"`",
            |f| self.condition(f),
        );
        let plan = self.read_block(block);
        if block.has("when") {
            return Some(Case {
                when: Some(when?),
                plan: plan?,
            });
        }
        plan.map(Case::always)
    }

    fn condition(self, field: &mut Field<'_>) -> Option<Condition> {
        let text = field.scalar_text()?.value;
        let read = Condition::read(&text, &self.scope.names());
        let placed = |fault| PlacedFault {
            fault,
            text: &text,
            span: field.span(),
        };
        let condition = read.map_err(|fault| report(field, placed(fault))).ok()?;
        condition
            .paths()
            .into_iter()
            .filter_map(Path::argument)
            .for_each(|name| self.scope.check_argument(name, field));
        Some(condition)
    }

    /// The answer that the keys of this block make.
    pub(super) fn read_block(self, block: &mut Block<'_>) -> Option<Plan> {
        let whole = self.read_whole(block);
        let stored = Operation::read(block, self);
        let parts = self.read_parts(block, stored.as_ref());
        block.at_most_one_of(KINDS);
        check_kinds(block);
        if let Some(span) = block.key_span("then").filter(|_| !block.has("sequence")) {
            block.report(Problem::error("`then` belongs to a `sequence`").at(span));
        }
        if block.has("result") {
            return whole.result.map(Plan::Result);
        }
        if block.has("error") {
            return whole.error;
        }
        if block.has("sequence") {
            return self.sequence(block, whole.sequence?, whole.then.unwrap_or_default());
        }
        if block.has("raw") {
            return whole.raw.map(Plan::Raw);
        }
        if Verb::ALL.iter().any(|verb| block.has(verb.key())) {
            let operation = Operation {
                reply: parts?,
                ..stored?
            };
            return Some(Plan::Store(Box::new(operation)));
        }
        parts.map(Plan::Result)
    }

    fn read_whole(self, block: &mut Block<'_>) -> WholeAnswer {
        WholeAnswer {
            result: block.optional("result", "A result: a string, or its parts", |f| {
                self.result(f)
            }),
            error: block.optional("error", "A JSON-RPC error", |f| self.error(f)),
            sequence: block.optional(
                "sequence",
                "Answers in order, one per call",
                |f| f.list(|f| self.read(f)),
            ),
            then: block.optional(
                "then",
                "The answer after the last of a `sequence`: `repeat` (the last one, default), `cycle` or `error`",
                read_then,
            ),
            raw: block.optional("raw", "The verbatim result, even if MCP forbids it", |f| {
                any_json(f, self.scope)
            }),
        }
    }

    /// The parts of a result in the block itself. They may use the outcome of an operation on the
    /// store. Without parts, the result shows the outcome.
    fn read_parts(self, block: &mut Block<'_>, stored: Option<&Operation>) -> Option<Json> {
        let Some(stored) = stored else {
            return self.result_parts(block, None);
        };
        let scope = self.scope.with([stored.verb.outcome(), "count"]);
        let answers = Answers {
            scope: &scope,
            ..self
        };
        answers.result_parts(block, Some(stored.shown()))
    }

    fn sequence(self, block: &Block<'_>, answers: Vec<Plan>, then: Then) -> Option<Plan> {
        let problem = if answers.is_empty() {
            Problem::error("a sequence without answers")
        } else if answers.iter().any(|plan| matches!(plan, Plan::Sequence(_))) {
            Problem::error("a sequence within a sequence")
                .help("write its answers into the outer one")
        } else {
            return Some(Plan::Sequence(Sequence {
                slot: self.context.next_sequence(),
                answers,
                then,
            }));
        };
        block.report(problem.at(block.key_span("sequence").unwrap_or_default()));
        None
    }

    fn text(self, field: &mut Field<'_>) -> Option<Json> {
        let content = content::one_text(text(field, self.scope)?);
        let result = Json::object([("content", Some(content))]);
        self.check_output(&result, |problem| field.report(problem));
        Some(result)
    }

    fn result(self, field: &mut Field<'_>) -> Option<Json> {
        field.shapes("a string or a result", |shapes| {
            shapes.scalar(|field| self.text(field));
            shapes.block(|block| {
                let parts = self.result_parts(block, None);
                if !RESULT.iter().any(|key| block.has(key)) && !block.has_unknown() {
                    let help = "write `text:`, `content:` or `structured_content:`";
                    block.report(Problem::error("this result is empty").help(help));
                }
                parts
            });
        })
    }

    /// The result that these keys make; `shown` replaces omitted keys, if it has a value.
    fn result_parts(self, block: &mut Block<'_>, shown: Option<Json>) -> Option<Json> {
        let parts = self.read_result_parts(block);
        if shown.is_none() && !RESULT.iter().any(|key| block.has(key)) {
            return None;
        }
        let unread = |key: &str, read: bool| block.has(key) && !read;
        if unread("text", parts.text.is_some()) || unread("content", parts.content.is_some()) {
            return None;
        }
        let result = parts.into_result(shown);
        self.check_output(&result, |problem| block.report(problem));
        Some(result)
    }

    fn read_result_parts(self, block: &mut Block<'_>) -> ResultParts {
        let parts = ResultParts {
            text: block.optional("text", "One text, with `${args.x}` filled in", |f| {
                text(f, self.scope)
            }),
            content: block.optional(
                "content",
                "Content blocks; a string is a block of that text",
                |f| content::read_list(f, self.context, self.scope),
            ),
            structured: either(
                block,
                ("structuredContent", "structured_content"),
                "Structured content; a string that is only one `${…}` becomes that value",
                |f| any_json(f, self.scope),
            ),
            is_error: either(
                block,
                ("isError", "is_error"),
                "The tool reports a failure",
                |f| f.flag(),
            ),
            meta: block.optional("_meta", "Metadata", |f| object_json(f, self.scope)),
        };
        block.at_most_one_of(&["text", "content"]);
        parts
    }

    fn check_output(self, result: &Json, report: impl FnOnce(Problem)) {
        let (Some(schema), Some(text)) = (self.output, result.as_static()) else {
            return;
        };
        if let Some(fault) = output_fault(text, schema) {
            let message = format!("this result does not match the tool's `output_schema`: {fault}");
            report(
                Problem::warning(message)
                    .help("if you mean this, set `validate_output: false` on the tool"),
            );
        }
    }

    fn error(self, field: &mut Field<'_>) -> Option<Plan> {
        field.try_block(|block| {
            let code = block.required("code", "The error's code, such as -32603", read_code);
            let message = block.required("message", "The error's message", |f| {
                template(f, self.scope)
            });
            let data = block.optional("data", "Additional data of the error", |f| {
                any_json(f, self.scope)
            });
            Some(Plan::Error {
                code: code?,
                message: message?,
                data,
            })
        })
    }
}

fn check_kinds(block: &Block<'_>) {
    let part = RESULT.iter().find(|key| block.has(key));
    let whole = WHOLE.iter().find(|key| block.has(key));
    if let (Some(kind), Some(span)) = (whole, part.and_then(|part| block.key_span(part))) {
        let message = format!("`{}` cannot be used with `{kind}`", part.unwrap_or(&""));
        block.report(Problem::error(message).at(span));
    }
    if !KINDS.iter().any(|key| block.has(key)) && part.is_none() && !block.has_unknown() {
        let help = "write `text:`, `structured_content:`, `error:` or `sequence:`";
        block.report(Problem::error("this answer is empty").help(help));
    }
}

fn read_then(field: &mut Field<'_>) -> Option<Then> {
    let words = [
        ("repeat", Then::Repeat),
        ("cycle", Then::Cycle),
        ("error", Then::Error),
    ];
    field.choice("the answer after a sequence", &words)
}

fn read_code(field: &mut Field<'_>) -> Option<i64> {
    let number = field.number(-9e15..=9e15);
    field.amend_schema("type", serde_json::json!("integer"));
    let number = number?;
    if number.fract() != 0.0 {
        field.report(Problem::error("a code is a whole number"));
        return None;
    }
    Some(number as i64)
}
