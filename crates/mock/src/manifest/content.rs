//! Content blocks: text, image, audio, an embedded resource or a link to one.

use super::context::Context;
use super::fields::{any_json, base64, either, literal_object, object_json, size, text, uri};
use super::json::{Json, Object, list};
use super::scope::Scope;
use mcptest_core::problem::Problem;
use mcptest_core::suite::read::{Block, Field};
use std::collections::BTreeSet;

/// A kind of content: its name in MCP, the required keys (one of each group), and the optional
/// keys.
struct ContentKind {
    name: &'static str,
    needed: &'static [&'static [&'static str]],
    allowed: &'static [&'static str],
}

const BYTES: &[&[&str]] = &[&["data", "file"], &["mime_type", "mimeType"]];
const OF_LINK: &[&str] = &[
    "title",
    "description",
    "mime_type",
    "mimeType",
    "size",
    "icons",
];

static KINDS: [ContentKind; 5] = [
    ContentKind {
        name: "text",
        needed: &[&["text"]],
        allowed: &[],
    },
    ContentKind {
        name: "image",
        needed: BYTES,
        allowed: &[],
    },
    ContentKind {
        name: "audio",
        needed: BYTES,
        allowed: &[],
    },
    ContentKind {
        name: "resource",
        needed: &[&["resource"]],
        allowed: &[],
    },
    ContentKind {
        name: "resource_link",
        needed: &[&["uri"], &["name"]],
        allowed: OF_LINK,
    },
];

/// Reads a list of content blocks, or one block.
pub(super) fn read_list(
    field: &mut Field<'_>,
    context: &Context<'_>,
    scope: &Scope,
) -> Option<Json> {
    let blocks = field.list(|field| read(field, context, scope))?;
    Some(list(blocks))
}

/// One content block; a string is a block of that text.
pub(super) fn read(field: &mut Field<'_>, context: &Context<'_>, scope: &Scope) -> Option<Json> {
    field.define("content", |field| {
        field.shapes("a string or a content block", |shapes| {
            shapes.scalar(|field| text(field, scope).map(text_block));
            shapes.block(|block| read_block(block, context, scope));
        })
    })
}

/// The block of a string.
pub(super) fn text_block(text: Json) -> Json {
    Json::object([("type", Some(Json::string("text"))), ("text", Some(text))])
}

/// Content of one text.
pub(super) fn one_text(text: Json) -> Json {
    list([text_block(text)])
}

/// Reads one message: its role and its content, which may be a list.
pub(super) fn read_message(
    field: &mut Field<'_>,
    context: &Context<'_>,
    scope: &Scope,
) -> Option<Json> {
    field.try_block(|block| {
        let role = block.optional("role", "`user` (default) or `assistant`", |f| {
            f.choice("a role", &[("user", "user"), ("assistant", "assistant")])
        });
        let content = block.required(
            "content",
            "A string, a content block or a list of them",
            |f| {
                f.shapes("a string, a content block or a list of them", |shapes| {
                    shapes.list(|field| read_list(field, context, scope));
                    shapes.scalar(|field| read(field, context, scope));
                    shapes.map(|field| read(field, context, scope));
                })
            },
        );
        Some(message(role.unwrap_or("user"), content?))
    })
}

pub(super) fn message(role: &str, content: Json) -> Json {
    Json::object([
        ("role", Some(Json::string(role))),
        ("content", Some(content)),
    ])
}

fn read_block(block: &mut Block<'_>, context: &Context<'_>, scope: &Scope) -> Option<Json> {
    let kinds = KINDS.each_ref().map(|kind| (kind.name, kind));
    let written = block.optional(
        "type",
        "text, image, audio, resource or resource_link",
        |f| f.choice("a type of content", &kinds),
    );
    let members = read_members(block, context, scope);
    block.at_most_one_of(&["data", "file"]);
    let kind = if block.has("type") {
        written?
    } else {
        ContentKind::guess(block)?
    };
    kind.check(block);
    let mut whole = Object::default();
    whole.member("type", Some(Json::string(kind.name)));
    whole.extend(members);
    Some(whole.finish())
}

/// Everything but the type.
fn read_members(block: &mut Block<'_>, context: &Context<'_>, scope: &Scope) -> Object {
    let mut members = Object::default();
    members.filled(block, "text", "The text, with `${args.x}` filled in", |f| {
        text(f, scope)
    });
    members.member("data", read_data(block, context, scope));
    members.filled(
        block,
        "resource",
        "An embedded resource: `uri`, `mimeType`, `text` or `blob`",
        |f| f.try_block(|block| read_contents(block, context, scope)),
    );
    members.filled(block, "uri", "The address of the link", |f| {
        uri(f, scope).map(Json::text)
    });
    members.filled(block, "name", "The name of the linked resource", |f| {
        text(f, scope)
    });
    members.filled(block, "title", "The display name", |f| text(f, scope));
    members.filled(block, "description", "The description", |f| text(f, scope));
    members.member(
        "mimeType",
        either(block, ("mimeType", "mime_type"), "The media type", |f| {
            text(f, scope)
        }),
    );
    members.filled(block, "size", "Its size in bytes", size);
    members.filled(block, "icons", "Its icons", |f| any_json(f, scope));
    members.filled(
        block,
        "annotations",
        "`audience`, `priority`, `lastModified`",
        literal_object,
    );
    members.filled(block, "_meta", "Metadata", |f| object_json(f, scope));
    members
}

/// The bytes of an image or audio, written down or in a file.
fn read_data(block: &mut Block<'_>, context: &Context<'_>, scope: &Scope) -> Option<Json> {
    let data = block.optional("data", "The bytes of an image or audio, in base64", |f| {
        base64(f, scope)
    });
    let file = block.optional(
        "file",
        "A file with the bytes of `data`, relative to the manifest",
        |f| f.name().and_then(|name| context.base64_of(&name, f)),
    );
    data.map(Json::text).or(file)
}

impl ContentKind {
    /// The kind of a block without `type:`, from its keys.
    fn guess(block: &Block<'_>) -> Option<&'static Self> {
        let found = ["text", "resource"].into_iter().find(|key| block.has(key));
        if found.is_none()
            && !block.is_describing()
            && !block.has_slip_of(&["type", "text", "resource"])
        {
            let names = KINDS.each_ref().map(|kind| kind.name).join(", ");
            block.report(
                Problem::error("a content block needs a `type`").help(format!("one of {names}")),
            );
        }
        KINDS.iter().find(|kind| Some(kind.name) == found)
    }

    fn keys(&self) -> impl Iterator<Item = &'static str> {
        self.needed
            .iter()
            .copied()
            .flatten()
            .chain(self.allowed)
            .copied()
    }

    fn check(&self, block: &Block<'_>) {
        let name = self.name;
        for keys in self.needed {
            if !keys.iter().any(|key| block.has(key)) && !block.has_slip_of(keys) {
                let message = format!("`{}` is missing in this content of type `{name}`", keys[0]);
                block.report(Problem::error(message));
            }
        }
        let others: BTreeSet<&str> = KINDS.iter().flat_map(Self::keys).collect();
        for key in others
            .into_iter()
            .filter(|key| !self.keys().any(|own| own == *key))
        {
            if let Some(span) = block.key_span(key) {
                let message = format!("content of type `{name}` has no `{key}`");
                block.report(Problem::error(message).at(span));
            }
        }
    }
}

/// The contents of a resource: its address, and its text or bytes.
pub(super) fn read_contents(
    block: &mut Block<'_>,
    context: &Context<'_>,
    scope: &Scope,
) -> Option<Json> {
    let uri = block.required("uri", "The resource's address", |f| uri(f, scope));
    let mime_type = either(block, ("mimeType", "mime_type"), "The media type", |f| {
        text(f, scope)
    });
    let body = read_body(block, context, scope);
    let meta = block.optional("_meta", "Metadata", |f| object_json(f, scope));
    Some(contents(Json::text(uri?), mime_type, body?, meta))
}

pub(super) fn contents(uri: Json, mime_type: Option<Json>, body: Body, meta: Option<Json>) -> Json {
    let (key, body) = match body {
        Body::Text(text) => ("text", text),
        Body::Blob(blob) => ("blob", blob),
    };
    Json::object([
        ("uri", Some(uri)),
        ("mimeType", mime_type),
        (key, Some(body)),
        ("_meta", meta),
    ])
}

/// The contents of a resource.
pub(super) enum Body {
    Text(Json),
    /// Bytes, as a string of base64.
    Blob(Json),
}

pub(super) fn read_body(
    block: &mut Block<'_>,
    context: &Context<'_>,
    scope: &Scope,
) -> Option<Body> {
    let text = block.optional("text", "Its text, with `${…}` filled in", |f| {
        text(f, scope)
    });
    let blob = block.optional("blob", "Its bytes, in base64", |f| base64(f, scope));
    let file = block.optional(
        "file",
        "A file with the text or the bytes, relative to the manifest",
        |f| f.name().and_then(|name| context.body_of(&name, f)),
    );
    let keys = ["text", "blob", "file"];
    block.at_most_one_of(&keys);
    if !keys.iter().any(|key| block.has(key)) && !block.has_slip_of(&keys) {
        block.report(Problem::error("a resource needs `text`, `blob` or `file`"));
    }
    text.map(Body::Text)
        .or(blob.map(|blob| Body::Blob(Json::text(blob))))
        .or(file)
}
