//! `resources:` and `resource_templates:` what can be read, and what does it say?

use super::Manifest;
use super::answer::{Answer, Inputs, error_of_missing};
use super::ask::{Ask, Asks, Declared};
use super::content::{contents, read_body};
use super::context::Context;
use super::fields::{either, has_scheme, literal_json, literal_object};
use super::json::{Json, Object, list};
use super::path::Values;
use super::scope::Scope;
use super::uri_template::UriTemplate;
use mcptest_core::suite::read::{Block, Field};
use mcptest_mcp::jsonrpc::{RpcError, RpcResult, code};
use serde_json::{Value, json};

/// A resource, or a template of resources.
#[derive(Debug)]
pub struct Resource {
    /// Its address, or the template of its addresses.
    pub uri: String,
    /// Its entry of `resources/list` or `resources/templates/list`, as JSON text.
    pub listing: String,
    /// The requests to the client before the resource is read.
    pub ask: Ask,
    template: Option<UriTemplate>,
    result: Json,
}

/// A resource, with the values of its template's variables.
#[derive(Debug)]
pub struct FoundResource<'m> {
    /// The resource.
    pub resource: &'m Resource,
    who: String,
    variables: Vec<(&'m str, Value)>,
}

impl Manifest {
    /// The resource at this address, or the error for an unknown address.
    pub fn resource(&self, uri: &str) -> RpcResult<FoundResource<'_>> {
        let written = self
            .resources
            .iter()
            .find(|resource| resource.uri == uri)
            .map(|found| (found, Vec::new()));
        let found = written.or_else(|| {
            self.resource_templates.iter().find_map(|resource| {
                resource
                    .template
                    .as_ref()?
                    .variables_of(uri)
                    .map(|variables| (resource, variables))
            })
        });
        let Some((resource, variables)) = found else {
            let message = format!("Resource not found: {}", super::answer::cut(uri));
            let error = RpcError::new(code::INVALID_PARAMS, message);
            return Err(error.with_data(&json!({ "uri": uri })));
        };
        let uri_entry = ("uri", Value::from(uri));
        let variables = variables
            .into_iter()
            .map(|(name, value)| (name, Value::from(value)));
        let who = format!("the resource `{}`", super::answer::cut(uri));
        Ok(FoundResource {
            resource,
            who,
            variables: variables.chain([uri_entry]).collect(),
        })
    }
}

impl<'m> FoundResource<'m> {
    fn values<'v>(&'v self, inputs: &'v Inputs) -> Values<'v> {
        let inputs = inputs.iter().map(|(name, value)| (name.as_str(), value));
        Values::new(inputs.chain(self.variables.iter().map(|(name, value)| (*name, value))))
    }

    /// The requests to make now; empty if [`FoundResource::answer`] can be called.
    pub fn requests(&self, inputs: &Inputs, declared: Declared<'_>) -> Asks {
        self.resource
            .ask
            .next(&self.who, &self.values(inputs), inputs, declared)
    }

    /// The `resources/read` result, as JSON text.
    pub fn answer(&self, inputs: &Inputs) -> Answer<'m> {
        let rendered = self.resource.result.render(&self.values(inputs));
        rendered.map_err(|missing| error_of_missing(&self.who, &missing))
    }
}

/// A resource as a list shows it.
struct Listed {
    listing: Object,
    mime_type: Option<Json>,
}

impl Listed {
    fn read(block: &mut Block<'_>, (key, uri): (&str, Option<&str>), size: Option<u64>) -> Self {
        let mut listing = Object::default();
        listing.member(key, uri.map(Json::string));
        let name = block.optional("name", "The name [default: the address]", |f| f.name());
        listing.member("name", name.as_deref().or(uri).map(Json::string));
        listing.text(block, "title", "The display name");
        listing.text(block, "description", "The description");
        let mime_type = either(block, ("mimeType", "mime_type"), "Its media type", |f| {
            f.name()
        })
        .map(|mime_type| Json::string(&mime_type));
        listing.member("mimeType", mime_type.clone());
        listing.member("size", size.map(|size| Json::raw(size.to_string())));
        listing.filled(
            block,
            "annotations",
            "`audience`, `priority`, `lastModified`",
            literal_object,
        );
        listing.filled(block, "icons", "Its icons", literal_json);
        listing.filled(block, "_meta", "Metadata", literal_object);
        Self { listing, mime_type }
    }
}

impl Resource {
    pub(super) fn read(field: &mut Field<'_>, context: &Context<'_>) -> Option<Self> {
        field.try_block(|block| {
            let uri = block.required("uri", "Its address, unique in the manifest", |f| {
                context
                    .own_name("resource", f)
                    .filter(|uri| has_scheme(uri, f))
            });
            let size = block.optional("size", "Its size in bytes", |f| f.whole(0..=u64::MAX));
            let scope = Scope::new(&["uri"]);
            Self::read_rest(block, context, &scope, ("uri", uri), size)
        })
    }

    pub(super) fn read_template(field: &mut Field<'_>, context: &Context<'_>) -> Option<Self> {
        field.try_block(|block| {
            let template = either(
                block,
                ("uriTemplate", "uri_template"),
                "The template of its addresses, such as `file:///{name}`",
                |f| {
                    let written = context.own_name("resource template", f)?;
                    UriTemplate::read(&written, f)
                },
            );
            if !block.has("uriTemplate") && !block.has_slip_of(&["uriTemplate"]) {
                block.need(
                    "uri_template",
                    "The template of its addresses, such as `file:///{name}`",
                );
            }
            let mut scope = Scope::new(&["uri"]);
            template
                .iter()
                .flat_map(UriTemplate::names)
                .for_each(|name| scope.add(name));
            let uri = template.as_ref().map(|template| template.written.clone());
            let resource = Self::read_rest(block, context, &scope, ("uriTemplate", uri), None)?;
            Some(Self {
                template,
                ..resource
            })
        })
    }

    /// The shared keys of resources and templates, after the key with their address.
    fn read_rest(
        block: &mut Block<'_>,
        context: &Context<'_>,
        scope: &Scope,
        (key, uri): (&str, Option<String>),
        size: Option<u64>,
    ) -> Option<Self> {
        let Listed { listing, mime_type } = Listed::read(block, (key, uri.as_deref()), size);
        let ask = Ask::read(block, context, scope);
        let body = read_body(block, context, &scope.with(ask.names()))?;
        let uri = uri?;
        let address = if key == "uri" {
            Json::string(&uri)
        } else {
            Json::value_of("uri", &["uri"])
        };
        let contents = list([contents(address, mime_type, body, None)]);
        let result = Json::object([("contents", Some(contents))]);
        Some(Self {
            uri,
            listing: listing.into_static(),
            ask,
            template: None,
            result,
        })
    }
}
