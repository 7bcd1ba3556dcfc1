//! JSON with holes, built when the manifest is read, so that an answer is only copied.

use super::path::{Fault, Path, Values};
use super::template::{Hole, Missing, Template};
use mcptest_core::problem::Span;
use mcptest_core::suite::read::{Block, Field};
use mcptest_core::yaml::{Kind, Node, Scalar, resolve};
pub(super) use mcptest_mcp::jsonrpc::write_text as quote;
use std::borrow::Cow;

/// JSON text in pieces; one piece without holes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Json {
    segments: Vec<Segment>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Segment {
    Raw(String),
    /// A string, written as a JSON string.
    Text(Template),
    /// A value of the call, or the default, as JSON.
    Hole {
        hole: Hole,
        default: String,
    },
    /// JSON, written as a JSON string.
    Quoted(Json),
}

/// A fault, the text it is in, and that text's place.
pub(super) struct PlacedFault<'n> {
    pub(super) fault: Fault,
    pub(super) text: &'n str,
    pub(super) span: Span,
}

impl Json {
    pub(super) fn raw(text: impl Into<String>) -> Self {
        Self {
            segments: vec![Segment::Raw(text.into())],
        }
    }

    /// A string without holes.
    pub(super) fn string(text: &str) -> Self {
        Self::raw(quote(text))
    }

    /// An object with the existing members.
    pub(super) fn object<'k>(members: impl IntoIterator<Item = (&'k str, Option<Self>)>) -> Self {
        let mut object = Object::default();
        members
            .into_iter()
            .for_each(|(key, value)| object.member(key, value));
        object.finish()
    }

    pub(super) fn text(template: Template) -> Self {
        match template.as_literal() {
            Some(literal) => Self::string(literal),
            None => Self {
                segments: vec![Segment::Text(template)],
            },
        }
    }

    /// The value that a path leads to.
    pub(super) fn value_of(path: &str, known: &[&str]) -> Self {
        let template = Template::read(&format!("${{{path}}}"), known).unwrap_or_default();
        match template.as_hole() {
            Some(hole) => Self {
                segments: vec![Segment::Hole {
                    hole: hole.clone(),
                    default: "null".to_owned(),
                }],
            },
            None => Self::raw("null"),
        }
    }

    pub(super) fn quoted(json: Self) -> Self {
        match json.as_static() {
            Some(text) => Self::string(text),
            None => Self {
                segments: vec![Segment::Quoted(json)],
            },
        }
    }

    /// A value of the manifest, or all of its problems. A string that is only one `${…}` becomes
    /// that value. `known` are the names of values.
    pub(super) fn of_node<'n>(
        node: &'n Node,
        known: &[&str],
    ) -> Result<Self, Vec<PlacedFault<'n>>> {
        Self::read(node, Some(known))
    }

    /// A value of the manifest in which `${…}` has no meaning.
    pub(super) fn literal(node: &Node) -> Result<Self, Vec<PlacedFault<'_>>> {
        Self::read(node, None)
    }

    fn read<'n>(node: &'n Node, known: Option<&[&str]>) -> Result<Self, Vec<PlacedFault<'n>>> {
        let (mut json, mut faults) = (Self::default(), Vec::new());
        json.push_node(node, known, &mut faults);
        if faults.is_empty() {
            Ok(json)
        } else {
            Err(faults)
        }
    }

    fn push_node<'n>(
        &mut self,
        node: &'n Node,
        known: Option<&[&str]>,
        faults: &mut Vec<PlacedFault<'n>>,
    ) {
        let placed = |fault, text| PlacedFault {
            fault,
            text,
            span: node.span,
        };
        match &node.kind {
            Kind::Scalar(Scalar::Text { text, .. }) => match Self::from_text(text, known) {
                Ok(json) => self.push(json),
                Err(fault) => faults.push(placed(fault, text)),
            },
            Kind::Scalar(Scalar::NotFinite(text)) => {
                let message = format!("`{text}` is not a valid JSON number");
                faults.push(placed(Fault::new(0..text.len(), message), text));
            }
            Kind::Scalar(other) => self.push_raw(&scalar(other)),
            Kind::List(items) => {
                self.push_raw("[");
                for (at, item) in items.iter().enumerate() {
                    self.push_raw(if at > 0 { "," } else { "" });
                    self.push_node(item, known, faults);
                }
                self.push_raw("]");
            }
            Kind::Map(entries) => {
                self.push_raw("{");
                for (at, entry) in entries.iter().enumerate() {
                    self.push_raw(if at > 0 { "," } else { "" });
                    self.push_raw(&quote(&entry.key));
                    self.push_raw(":");
                    self.push_node(&entry.value, known, faults);
                }
                self.push_raw("}");
            }
        }
    }

    /// A text, with holes for known values if it may contain any.
    fn from_text(text: &str, known: Option<&[&str]>) -> Result<Self, Fault> {
        match known {
            None => Ok(Self::string(text)),
            Some(known) => Template::read(text, known).map(Self::from_template),
        }
    }

    fn from_template(template: Template) -> Self {
        let Some(hole) = template.as_hole() else {
            return Self::text(template);
        };
        let default = scalar(&resolve(hole.default()));
        Self {
            segments: vec![Segment::Hole {
                hole: hole.clone(),
                default,
            }],
        }
    }

    /// Returns true if both are only the value at one path.
    pub(super) fn is_same_hole(&self, other: &Self) -> bool {
        match (self.segments.as_slice(), other.segments.as_slice()) {
            ([Segment::Hole { hole: own, .. }], [Segment::Hole { hole: theirs, .. }]) => {
                own.path() == theirs.path()
            }
            _ => false,
        }
    }

    /// The paths of its holes.
    pub(super) fn paths(&self) -> Vec<&Path> {
        let of_segment = |segment| match segment {
            &Segment::Raw(_) => Vec::new(),
            Segment::Text(template) => template.paths().collect(),
            Segment::Hole { hole, .. } => vec![hole.path()],
            Segment::Quoted(json) => json.paths(),
        };
        self.segments.iter().flat_map(of_segment).collect()
    }

    pub(super) fn push(&mut self, other: Self) {
        for segment in other.segments {
            match segment {
                Segment::Raw(text) => self.push_raw(&text),
                other => self.segments.push(other),
            }
        }
    }

    pub(super) fn push_raw(&mut self, text: &str) {
        match self.segments.last_mut() {
            _ if text.is_empty() => {}
            Some(Segment::Raw(last)) => last.push_str(text),
            _ => self.segments.push(Segment::Raw(text.to_owned())),
        }
    }

    /// The JSON text, if it has no holes.
    pub(super) fn as_static(&self) -> Option<&str> {
        match self.segments.as_slice() {
            [] => Some(""),
            [Segment::Raw(text)] => Some(text),
            _ => None,
        }
    }

    /// The JSON text with everything filled in.
    pub(super) fn render(&self, values: &Values<'_>) -> Result<Cow<'_, str>, Missing> {
        if let Some(text) = self.as_static() {
            return Ok(Cow::Borrowed(text));
        }
        let mut text = String::new();
        self.render_into(values, &mut text)?;
        Ok(Cow::Owned(text))
    }

    fn render_into(&self, values: &Values<'_>, into: &mut String) -> Result<(), Missing> {
        for segment in &self.segments {
            match segment {
                Segment::Raw(text) => into.push_str(text),
                Segment::Text(template) => into.push_str(&quote(&template.render(values)?)),
                Segment::Hole { hole, default } => match hole.find(values)? {
                    Some(value) => into.push_str(&value.to_string()),
                    None => into.push_str(default),
                },
                Segment::Quoted(json) => into.push_str(&quote(&json.render(values)?)),
            }
        }
        Ok(())
    }
}

/// An object built member by member.
#[derive(Debug, Default)]
pub(super) struct Object(Json);

impl Object {
    /// Adds a member, if any.
    pub(super) fn member(&mut self, key: &str, value: Option<Json>) {
        let Some(value) = value else { return };
        self.0.push_raw(if self.is_empty() { "{" } else { "," });
        self.0.push_raw(&quote(key));
        self.0.push_raw(":");
        self.0.push(value);
    }

    /// Reads a string, and adds it as a member.
    pub(super) fn text(
        &mut self,
        block: &mut Block<'_>,
        key: &'static str,
        doc: &str,
    ) -> Option<String> {
        let text = block.optional(key, doc, |f| f.string());
        self.member(key, text.as_deref().map(Json::string));
        text
    }

    /// Reads any JSON, and adds it as a member.
    pub(super) fn filled(
        &mut self,
        block: &mut Block<'_>,
        key: &'static str,
        doc: &str,
        read: impl FnOnce(&mut Field<'_>) -> Option<Json>,
    ) {
        self.member(key, block.optional(key, doc, read));
    }

    /// The object as JSON text; an empty string if the object has holes.
    pub(super) fn into_static(self) -> String {
        self.finish().as_static().unwrap_or_default().to_owned()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.segments.is_empty()
    }

    /// Adds the members of another object.
    pub(super) fn extend(&mut self, other: Self) {
        let mut other = other.0;
        if let Some(Segment::Raw(first)) = other.segments.first_mut() {
            first.replace_range(..1, if self.is_empty() { "{" } else { "," });
        }
        self.0.push(other);
    }

    pub(super) fn finish(mut self) -> Json {
        self.0.push_raw(if self.is_empty() { "{}" } else { "}" });
        self.0
    }
}

/// A list of these.
pub(super) fn list(items: impl IntoIterator<Item = Json>) -> Json {
    let mut json = Json::raw("[");
    for (at, item) in items.into_iter().enumerate() {
        json.push_raw(if at > 0 { "," } else { "" });
        json.push(item);
    }
    json.push_raw("]");
    json
}

fn scalar(scalar: &Scalar) -> String {
    match scalar {
        Scalar::Null => "null".to_owned(),
        Scalar::Bool(flag) => flag.to_string(),
        Scalar::Number(number) => number.to_string(),
        Scalar::Text { text, .. } | Scalar::NotFinite(text) => quote(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn json_of(yaml: &str) -> Json {
        let root = mcptest_core::yaml::parse(yaml, 0, &mut Vec::new()).unwrap();
        Json::of_node(&root, &["args"]).ok().unwrap()
    }

    fn render(yaml: &str) -> String {
        let args = json!({"city": "\"Oslo\"", "days": 3, "tags": ["a"]});
        json_of(yaml)
            .render(&Values::new([("args", &args)]))
            .unwrap()
            .into_owned()
    }

    #[test]
    fn a_text_that_is_one_hole_keeps_the_type_of_its_value_and_others_are_texts() {
        assert_eq!(
            render(
                "{z: \"${args.days}\", a: \"${args.days} days\", tags: \"${args.tags}\", city: \"${args.city}\"}"
            ),
            r#"{"z":3,"a":"3 days","tags":["a"],"city":"\"Oslo\""}"#
        );
        assert_eq!(
            render("[\"${args.x:-3}\", \"${args.x:-a b}\", \"${args.x:-}\", 1.5, null]"),
            r#"[3,"a b",null,1.5,null]"#
        );
    }

    #[test]
    fn what_has_no_holes_is_one_text_in_the_order_it_was_written() {
        assert_eq!(
            json_of("{b: [1, {c: \"$${x}\"}], a: é}").as_static(),
            Some(r#"{"b":[1,{"c":"${x}"}],"a":"é"}"#)
        );
    }

    #[test]
    fn json_in_a_text_is_escaped_after_it_is_filled_in() {
        let mut object = Object::default();
        object.member(
            "text",
            Some(Json::quoted(json_of("{city: \"${args.city}\"}"))),
        );
        let args = json!({"city": "\""});
        let text = object
            .finish()
            .render(&Values::new([("args", &args)]))
            .unwrap()
            .into_owned();
        let value: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["text"], json!(r#"{"city":"\""}"#));
    }
}
