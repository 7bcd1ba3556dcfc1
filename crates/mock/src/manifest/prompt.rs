//! `prompts:` which messages does a prompt become?

use super::answer::{Answer, Inputs, error_of_arguments, error_of_missing, unknown};
use super::ask::{Ask, Asks, Declared};
use super::context::Context;
use super::fields::{literal_json, literal_object};
use super::json::{Json, Object, list};
use super::scope::Scope;
use super::tool::values;
use super::{Manifest, content};
use mcptest_core::suite::read::{Block, Field};
use mcptest_mcp::jsonrpc::RpcResult;
use serde_json::Value;

/// A prompt.
#[derive(Debug)]
pub struct Prompt {
    /// Its name.
    pub name: String,
    /// Its entry of `prompts/list`, as JSON text.
    pub listing: String,
    /// The requests to the client before the prompt is sent.
    pub ask: Ask,
    arguments: Vec<Argument>,
    who: String,
    result: Json,
}

#[derive(Debug)]
struct Argument {
    name: String,
    required: bool,
    json: Json,
}

impl Manifest {
    /// The prompt of this name, or the error for an unknown prompt.
    pub fn prompt(&self, name: &str) -> RpcResult<&Prompt> {
        self.prompts
            .iter()
            .find(|prompt| prompt.name == name)
            .ok_or_else(|| {
                unknown(
                    "prompt",
                    name,
                    self.prompts.iter().map(|prompt| prompt.name.as_str()),
                )
            })
    }
}

impl Prompt {
    /// Refuses arguments if a required one is missing, or one is not a string.
    pub fn check(&self, arguments: &Value) -> RpcResult {
        let missing = self.arguments.iter().filter(|argument| {
            argument.required && arguments.get(&argument.name).is_none_or(Value::is_null)
        });
        let mut reasons: Vec<(String, String)> = missing
            .map(|argument| {
                (
                    String::new(),
                    format!("\"{}\" is a required argument", argument.name),
                )
            })
            .collect();
        let odd = arguments
            .as_object()
            .into_iter()
            .flatten()
            .filter(|(_, value)| !value.is_string());
        reasons.extend(
            odd.map(|(name, value)| (format!("/{name}"), format!("{value} is not a string"))),
        );
        if reasons.is_empty() {
            Ok(())
        } else {
            Err(error_of_arguments(&self.who, &reasons))
        }
    }

    /// The requests to make now; empty if [`Prompt::answer`] can be called.
    pub fn requests(&self, arguments: &Value, inputs: &Inputs, declared: Declared<'_>) -> Asks {
        self.ask
            .next(&self.who, &values(arguments, inputs), inputs, declared)
    }

    /// The `prompts/get` result, as JSON text.
    pub fn answer(&self, arguments: &Value, inputs: &Inputs) -> Answer<'_> {
        let rendered = self.result.render(&values(arguments, inputs));
        rendered.map_err(|missing| error_of_missing(&self.who, &missing))
    }

    /// Returns true if the prompt has an argument of this name.
    pub(super) fn has_argument(&self, name: &str) -> bool {
        self.arguments.iter().any(|argument| argument.name == name)
    }

    pub(super) fn read(field: &mut Field<'_>, context: &Context<'_>) -> Option<Self> {
        field.try_block(|block| Self::read_block(block, context))
    }

    fn read_block(block: &mut Block<'_>, context: &Context<'_>) -> Option<Self> {
        let name = block.required("name", "The prompt's name, unique in the manifest", |f| {
            context.own_name("prompt", f)
        });
        let mut listing = Object::default();
        listing.member("name", name.as_deref().map(Json::string));
        listing.text(block, "title", "The display name");
        let description = listing.text(block, "description", "The purpose");
        let arguments = block.list("arguments", "The arguments", Argument::read);
        let entries = || list(arguments.iter().map(|argument| argument.json.clone()));
        listing.member("arguments", (!arguments.is_empty()).then(entries));
        listing.filled(block, "icons", "Its icons", literal_json);
        listing.filled(block, "_meta", "Metadata", literal_object);
        let declared = arguments.iter().map(|argument| argument.name.clone());
        let scope = Scope::of_arguments(declared);
        let ask = Ask::read(block, context, &scope);
        let scope = scope.with(ask.names());
        let messages = block.required("messages", "The messages", |f| {
            f.list(|f| content::read_message(f, context, &scope))
                .map(list)
        });
        let name = name?;
        let result = Json::object([
            ("description", description.as_deref().map(Json::string)),
            ("messages", Some(messages?)),
        ]);
        Some(Self {
            listing: listing.into_static(),
            ask,
            arguments,
            who: format!("the prompt `{name}`"),
            result,
            name,
        })
    }
}

impl Argument {
    fn read(field: &mut Field<'_>) -> Option<Self> {
        field.try_block(|block| {
            let mut json = Object::default();
            let name = block.required("name", "The argument's name", |f| f.name());
            json.member("name", name.as_deref().map(Json::string));
            json.text(block, "title", "The display name");
            json.text(block, "description", "The description");
            let required =
                block.optional("required", "True if the argument is required", |f| f.flag());
            json.member(
                "required",
                required.map(|required| Json::raw(required.to_string())),
            );
            Some(Self {
                name: name?,
                required: required.unwrap_or_default(),
                json: json.finish(),
            })
        })
    }
}
