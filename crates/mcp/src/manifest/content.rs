//! Content blocks: text, image, audio, an embedded resource or a link to one.

use super::context::Context;
use super::fields::{any_json, base64, either, literal_object, object_json, template};
use super::json::Json;
use super::scope::Scope;
use mcptest_core::problem::Problem;
use mcptest_core::suite::read::{Block, Field};

/// The kinds of content, as MCP calls them.
const KINDS: &[(&str, ContentKind)] = &[
    ("text", ContentKind::Text),
    ("image", ContentKind::Image),
    ("audio", ContentKind::Audio),
    ("resource", ContentKind::Resource),
    ("resource_link", ContentKind::ResourceLink),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ContentKind {
    Text,
    Image,
    Audio,
    Resource,
    ResourceLink,
}

impl ContentKind {
    fn name(self) -> &'static str {
        KINDS.iter().find(|(_, kind)| *kind == self).map_or("", |(name, _)| name)
    }

    /// The keys that a kind must have, one of each group.
    fn needed(self) -> &'static [&'static [&'static str]] {
        match self {
            Self::Text => &[&["text"]],
            Self::Image | Self::Audio => &[&["data", "file"], &["mime_type", "mimeType"]],
            Self::Resource => &[&["resource"]],
            Self::ResourceLink => &[&["uri"], &["name"]],
        }
    }

    fn allowed(self) -> &'static [&'static str] {
        match self {
            Self::ResourceLink => &["title", "description", "mime_type", "mimeType", "size", "icons"],
            _ => &[],
        }
    }
}

/// The keys that only some kinds have.
const OWN_KEYS: &[&str] = &[
    "text",
    "data",
    "file",
    "mime_type",
    "mimeType",
    "resource",
    "uri",
    "name",
    "title",
    "description",
    "size",
    "icons",
];

/// A list of content blocks, or one.
pub(super) fn read_list(field: &mut Field<'_>, context: &Context<'_>, scope: &Scope) -> Option<Json> {
    let blocks = field.list(|field| read(field, context, scope))?;
    Some(super::json::list(blocks))
}

/// One content block; a string is a block of that text.
pub(super) fn read(field: &mut Field<'_>, context: &Context<'_>, scope: &Scope) -> Option<Json> {
    field.define("content", |field| {
        field.shapes("a string or a content block", |shapes| {
            shapes.scalar(|field| template(field, scope).map(|text| text_block(Json::text(text))));
            shapes.block(|block| read_block(block, context, scope));
        })
    })
}

/// The block of a string.
pub(super) fn text_block(text: Json) -> Json {
    Json::object([("type", Some(Json::string("text"))), ("text", Some(text))])
}

/// One message: who says it, and its content, which may be a list.
pub(super) fn read_message(field: &mut Field<'_>, context: &Context<'_>, scope: &Scope) -> Option<Json> {
    field.try_block(|block| {
        let role = block.optional("role", "`user` (when left out) or `assistant`", |f| {
            f.choice("a role", &[("user", "user"), ("assistant", "assistant")])
        });
        let content = block.required("content", "A string, a content block or a list of them", |f| {
            f.shapes("a string, a content block or a list of them", |shapes| {
                shapes.list(|field| read_list(field, context, scope));
                shapes.scalar(|field| read(field, context, scope));
                shapes.map(|field| read(field, context, scope));
            })
        });
        Some(message(role.unwrap_or("user"), content?))
    })
}

pub(super) fn message(role: &str, content: Json) -> Json {
    Json::object([("role", Some(Json::string(role))), ("content", Some(content))])
}

fn read_block(block: &mut Block<'_>, context: &Context<'_>, scope: &Scope) -> Option<Json> {
    let kind = block.optional("type", "text, image, audio, resource or resource_link", |f| {
        f.choice("a type of content", KINDS)
    });
    let text = block.optional("text", "The text, with `${args.x}` filled in", |f| template(f, scope));
    let data = block.optional("data", "The bytes of an image or audio, in base64", |f| base64(f, scope));
    let file = block.optional("file", "A file with the bytes of `data`, relative to the manifest", |f| {
        f.name().and_then(|name| context.base64_of(&name, f))
    });
    let mime_type = either(block, ("mimeType", "mime_type"), "The media type", |f| template(f, scope));
    let resource =
        block.optional("resource", "An embedded resource: `uri`, `mimeType`, `text` or `blob`", |f| {
            f.try_block(|block| read_contents(block, context, scope))
        });
    let uri = block.optional("uri", "The address that a link leads to", |f| super::fields::uri(f, scope));
    let name = block.optional("name", "The name of the linked resource", |f| template(f, scope));
    let title = block.optional("title", "Its name for people", |f| template(f, scope));
    let description = block.optional("description", "What it is", |f| template(f, scope));
    let size = block.optional("size", "Its size in bytes", |f| f.whole(0..=u64::MAX));
    let icons = block.optional("icons", "Its icons", |f| any_json(f, scope));
    let annotations = block.optional("annotations", "`audience`, `priority`, `lastModified`", literal_object);
    let meta = block.optional("_meta", "Metadata", |f| object_json(f, scope));
    block.at_most_one_of(&["data", "file"]);
    let kind = if block.has("type") { kind? } else { ContentKind::guess(block)? };
    kind.check(block);
    Some(Json::object([
        ("type", Some(Json::string(kind.name()))),
        ("text", text.map(Json::text)),
        ("data", data.map(Json::text).or(file)),
        ("resource", resource),
        ("uri", uri.map(Json::text)),
        ("name", name.map(Json::text)),
        ("title", title.map(Json::text)),
        ("description", description.map(Json::text)),
        ("mimeType", mime_type.map(Json::text)),
        ("size", size.map(|size| Json::raw(size.to_string()))),
        ("icons", icons),
        ("annotations", annotations),
        ("_meta", meta),
    ]))
}

impl ContentKind {
    /// The kind that needs no `type:`, since its keys say it.
    fn guess(block: &Block<'_>) -> Option<Self> {
        let guessed = [("text", Self::Text), ("resource", Self::Resource)];
        let found = guessed.iter().find(|(key, _)| block.has(key));
        if found.is_none() && !block.is_describing() && !block.has_slip_of(&["type", "text", "resource"]) {
            let names: Vec<&str> = KINDS.iter().map(|(name, _)| *name).collect();
            block.report(
                Problem::error("a content block needs a `type`").help(format!("one of {}", names.join(", "))),
            );
        }
        found.map(|(_, kind)| *kind)
    }

    fn check(self, block: &Block<'_>) {
        let name = self.name();
        for keys in self.needed() {
            if !keys.iter().any(|key| block.has(key)) && !block.has_slip_of(keys) {
                let message = format!("`{}` is missing in this content of type `{name}`", keys[0]);
                block.report(Problem::error(message));
            }
        }
        let is_its_own = |key: &&&str| {
            self.allowed().contains(*key) || self.needed().iter().any(|keys| keys.contains(*key))
        };
        for key in OWN_KEYS.iter().filter(|key| !is_its_own(key)) {
            if let Some(span) = block.key_span(key) {
                let message = format!("`{key}` does not go with content of type `{name}`");
                block.report(Problem::error(message).at(span));
            }
        }
    }
}

/// The contents of a resource: its address, and its text or bytes.
pub(super) fn read_contents(block: &mut Block<'_>, context: &Context<'_>, scope: &Scope) -> Option<Json> {
    let uri = block.required("uri", "The resource's address", |f| super::fields::uri(f, scope));
    let mime_type = either(block, ("mimeType", "mime_type"), "The media type", |f| template(f, scope));
    let body = Body::read(block, context, scope);
    let meta = block.optional("_meta", "Metadata", |f| object_json(f, scope));
    Some(contents(Json::text(uri?), mime_type.map(Json::text), body?, meta))
}

pub(super) fn contents(uri: Json, mime_type: Option<Json>, body: Body, meta: Option<Json>) -> Json {
    let (key, body) = match body {
        Body::Text(text) => ("text", text),
        Body::Blob(blob) => ("blob", blob),
    };
    Json::object([("uri", Some(uri)), ("mimeType", mime_type), (key, Some(body)), ("_meta", meta)])
}

/// The text or bytes of a resource.
#[derive(Debug)]
pub(super) enum Body {
    Text(Json),
    Blob(Json),
}

impl Body {
    pub(super) fn read(block: &mut Block<'_>, context: &Context<'_>, scope: &Scope) -> Option<Self> {
        let text = block.optional("text", "Its text, with `${…}` filled in", |f| template(f, scope));
        let blob = block.optional("blob", "Its bytes, in base64", |f| base64(f, scope));
        let file = block.optional(
            "file",
            "A file with its text, or its bytes when they are no text, relative to the manifest",
            |f| f.name().and_then(|name| context.body_of(&name, f)),
        );
        let keys = ["text", "blob", "file"];
        block.at_most_one_of(&keys);
        if !keys.iter().any(|key| block.has(key)) && !block.has_slip_of(&keys) {
            block.report(Problem::error("a resource needs `text`, `blob` or `file`"));
        }
        text.map(|text| Self::Text(Json::text(text)))
            .or(blob.map(|blob| Self::Blob(Json::text(blob))))
            .or(file)
    }
}
