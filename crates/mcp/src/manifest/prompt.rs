//! `prompts:` which messages does a prompt become?

use super::Manifest;
use super::answer::{Answer, Inputs};
use super::ask::{Ask, AskKind, Request};
use super::content;
use super::context::Context;
use super::fields::{literal_json, literal_object};
use super::json::{Json, Object, list, quote};
use super::scope::Scope;
use super::tool::values;
use crate::jsonrpc::{RpcError, code};
use mcptest_core::suite::read::{Block, Field};
use serde_json::Value;

/// A prompt.
#[derive(Debug)]
pub struct Prompt {
    /// Its name.
    pub name: String,
    /// Its entry of `prompts/list`, as JSON text.
    pub listing: String,
    /// What is asked of the client before it is given.
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
    /// The prompt of this name, or the error that there is none.
    pub fn prompt(&self, name: &str) -> Result<&Prompt, RpcError> {
        self.prompts.iter().find(|prompt| prompt.name == name).ok_or_else(|| {
            let near =
                mcptest_core::problem::nearest(name, self.prompts.iter().map(|prompt| prompt.name.as_str()));
            let near = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
            RpcError::new(code::INVALID_PARAMS, format!("Unknown prompt: {}{near}", super::answer::cut(name)))
        })
    }
}

impl Prompt {
    /// Refuses arguments of which a required one is missing, or one is no text.
    pub fn check(&self, arguments: &Value) -> Result<(), RpcError> {
        let missing = self
            .arguments
            .iter()
            .filter(|argument| argument.required && arguments.get(&argument.name).is_none_or(Value::is_null));
        let mut reasons: Vec<(String, String)> = missing
            .map(|argument| (String::new(), format!("\"{}\" is a required argument", argument.name)))
            .collect();
        let odd = arguments.as_object().into_iter().flatten().filter(|(_, value)| !value.is_string());
        reasons.extend(odd.map(|(name, value)| (format!("/{name}"), format!("{value} is not a text"))));
        if reasons.is_empty() { Ok(()) } else { Err(RpcError::invalid(&self.who, &reasons)) }
    }

    /// The requests to make now; empty when [`Prompt::answer`] can be called.
    pub fn requests(
        &self,
        arguments: &Value,
        inputs: &Inputs,
        declared: &dyn Fn(AskKind) -> bool,
    ) -> Result<Vec<Request>, RpcError> {
        self.ask.next(&self.who, &values(arguments, inputs), inputs, declared)
    }

    /// The `prompts/get` result, as JSON text.
    pub fn answer(&self, arguments: &Value, inputs: &Inputs) -> Answer<'_> {
        let rendered = self.result.render(&values(arguments, inputs));
        rendered.map_err(|missing| RpcError::missing(&self.who, &missing))
    }

    /// Whether the prompt has an argument of this name.
    pub(super) fn has_argument(&self, name: &str) -> bool {
        self.arguments.iter().any(|argument| argument.name == name)
    }

    pub(super) fn read(field: &mut Field<'_>, context: &Context<'_>) -> Option<Self> {
        field.block(|block| Self::read_block(block, context)).flatten()
    }

    fn read_block(block: &mut Block<'_>, context: &Context<'_>) -> Option<Self> {
        let name = block
            .required("name", "The prompt's name, unique in the manifest", |f| context.own_name("prompt", f));
        let title = block.optional("title", "Its name for people", |f| f.string());
        let description = block.optional("description", "What it is for", |f| f.string());
        let arguments = block.optional("arguments", "What it takes", |f| f.list(Argument::read));
        let icons = block.optional("icons", "Its icons", literal_json);
        let meta = block.optional("_meta", "Metadata", literal_object);
        let declared = arguments.iter().flatten().map(|argument: &Argument| argument.name.clone());
        let scope = Scope::of_arguments(declared);
        let ask = Ask::read(block, context, &scope);
        let scope = scope.with(ask.names());
        let messages = block.required("messages", "What it becomes", |f| {
            f.list(|f| content::read_message(f, context, &scope)).map(list)
        });
        let (name, arguments) = (name?, arguments.unwrap_or_default());
        let text = |text: &String| Json::raw(quote(text));
        let mut listing = Object::default();
        listing.member("name", Some(text(&name)));
        listing.member("title", title.as_ref().map(text));
        listing.member("description", description.as_ref().map(text));
        let entries = arguments.iter().map(|argument| argument.json.clone());
        listing.member("arguments", (!arguments.is_empty()).then(|| list(entries)));
        listing.member("icons", icons);
        listing.member("_meta", meta);
        let mut result = Object::default();
        result.member("description", description.as_ref().map(text));
        result.member("messages", Some(messages?));
        Some(Self {
            listing: listing.finish().as_static().unwrap_or_default().to_owned(),
            ask,
            arguments,
            who: format!("the prompt `{name}`"),
            result: result.finish(),
            name,
        })
    }
}

impl Argument {
    fn read(field: &mut Field<'_>) -> Option<Self> {
        field
            .block(|block| {
                let name = block.required("name", "The argument's name", |f| f.name());
                let title = block.optional("title", "Its name for people", |f| f.string());
                let description = block.optional("description", "What it is", |f| f.string());
                let required = block.optional("required", "Whether it must be given", |f| f.flag());
                let name = name?;
                let text = |text: &String| Json::raw(quote(text));
                let mut json = Object::default();
                json.member("name", Some(text(&name)));
                json.member("title", title.as_ref().map(text));
                json.member("description", description.as_ref().map(text));
                json.member("required", required.map(|required| Json::raw(required.to_string())));
                Some(Self { name, required: required.unwrap_or_default(), json: json.finish() })
            })
            .flatten()
    }
}
