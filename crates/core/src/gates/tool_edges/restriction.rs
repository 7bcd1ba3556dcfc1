//! `restricted:` which calls must not be made?

use crate::engine::success::{Counted, Success};
use crate::gates::ArgumentShape;
use crate::json::doubtful_number;
use crate::problem::Span;
use crate::suite::read::{Block, Field};
use crate::trace::{Call, CallResult, full_name};
use serde_json::Value;

/// An entry of the list: a tool, and the calls that are restricted.
#[derive(Debug)]
pub(super) struct Restriction {
    pub(super) tool: String,
    pub(super) span: Span,
    /// The shape of the arguments of a forbidden call.
    args: Option<ArgumentShape>,
    /// The success condition, if unsuccessful attempts are allowed.
    successful: Option<Counted>,
}

impl Restriction {
    /// Reads a tool's name, or a map that restricts some of its calls.
    pub(super) fn read(field: &mut Field<'_>) -> Option<Self> {
        let span = field.span();
        field.shapes("a tool's name, or a map with `name`", |shapes| {
            shapes.text(|field| {
                let tool = field.tool();
                // One whose problem is reported stands there, so that the block is not taken for an empty one.
                (!field.is_describing()).then(|| Self::every_call(tool.unwrap_or_default(), span))
            });
            shapes.block(|block| Self::read_block(block, span));
        })
    }

    fn every_call(tool: String, span: Span) -> Self {
        Self {
            tool,
            span,
            args: None,
            successful: None,
        }
    }

    fn read_block(block: &mut Block<'_>, span: Span) -> Option<Self> {
        let name = block.required("name", "The tool", |field| field.tool());
        let server = block.optional("server", "The server of the tool [default: any]", |field| {
            field.name()
        });
        let args = block.optional(
            "args",
            "The arguments of a forbidden call [default: any]",
            ArgumentShape::read,
        );
        let successful = block.optional(
            "successful",
            "`true` counts a call only if it succeeded; a matcher checks the text of its result \
             [default: an attempt counts]",
            Counted::read,
        );
        let tool = full_name(server.as_deref(), &name?);
        Some(Self {
            tool,
            span,
            args,
            successful,
        })
    }

    /// Returns true if every call to the tool is forbidden.
    pub(super) fn is_of_every_call(&self) -> bool {
        self.args.is_none() && !matches!(self.successful, Some(Counted::Successful(_)))
    }

    /// Returns true if a call to the tool is forbidden. In doubt, it is forbidden.
    pub(super) fn forbids(
        &self,
        call: &Call<'_>,
        result: Option<&CallResult<'_>>,
        of_agent: Option<&Success>,
    ) -> bool {
        self.forbids_arguments(call) && self.forbids_outcome(result, of_agent)
    }

    fn forbids_arguments(&self, call: &Call<'_>) -> bool {
        let Some(shape) = &self.args else { return true };
        if call.args_text.is_some() {
            // Nobody knows what the server made of arguments that are not JSON.
            return true;
        }
        let args = call
            .decoded_args()
            .unwrap_or_else(|| Value::Object(serde_json::Map::new()));
        shape.fits_value(&args) || shape.fits_value(&with_doubtful_numbers(&args))
    }

    fn forbids_outcome(&self, result: Option<&CallResult<'_>>, of_agent: Option<&Success>) -> bool {
        let success = match &self.successful {
            None | Some(Counted::EveryCall) => return true,
            Some(Counted::Successful(success)) => success,
        };
        let success = of_agent
            .filter(|_| !success.has_matcher())
            .unwrap_or(success);
        result.is_some_and(|result| success.holds(result))
    }
}

/// The value with every text that may be a number as that number.
fn with_doubtful_numbers(value: &Value) -> Value {
    match value {
        Value::String(_) => doubtful_number(value).map_or_else(|| value.clone(), Value::Number),
        Value::Array(items) => items.iter().map(with_doubtful_numbers).collect(),
        Value::Object(members) => {
            let member =
                |(key, value): (&String, &Value)| (key.clone(), with_doubtful_numbers(value));
            Value::Object(members.iter().map(member).collect())
        }
        other => other.clone(),
    }
}
