//! `${args.city}`, `${args.days:-3}` and `$${literal}` in the texts of a manifest.

use super::path::{Fault, Path, Values, moved};
use serde_json::Value;

/// A string with places to fill in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Template {
    pieces: Vec<Piece>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Literal(String),
    Hole(Hole),
}

/// One `${…}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hole {
    path: Path,
    written: String,
    default: Option<String>,
}

/// A `${…}` without a value in this call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Missing(pub(super) String);

impl Hole {
    /// The value for the hole. `None` if the default applies.
    pub(super) fn find<'v>(&self, values: &Values<'v>) -> Result<Option<&'v Value>, Missing> {
        let found = self.path.find(values);
        match (&self.default, found) {
            (None, None) => Err(Missing(self.written.clone())),
            (Some(_), found) => {
                Ok(found.filter(|value| !value.is_null() && value.as_str() != Some("")))
            }
            (None, found) => Ok(found),
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn default(&self) -> &str {
        self.default.as_deref().unwrap_or_default()
    }
}

impl Template {
    /// Reads a text. `known` are the names of values.
    pub(super) fn read(text: &str, known: &[&str]) -> Result<Self, Fault> {
        let mut template = Self::default();
        let mut at = 0;
        while let Some(next) = text[at..].find("${").map(|next| at + next) {
            if text[at..next].ends_with('$') {
                template.push_literal(&text[at..next - 1]);
                template.push_literal("${");
                at = next + 2;
                continue;
            }
            template.push_literal(&text[at..next]);
            let (hole, length) =
                read_hole(&text[next..], known).map_err(|fault| moved(fault, next))?;
            template.pieces.push(Piece::Hole(hole));
            at = next + length;
        }
        template.push_literal(&text[at..]);
        Ok(template)
    }

    pub(super) fn literal(text: &str) -> Self {
        let mut template = Self::default();
        template.push_literal(text);
        template
    }

    fn push_literal(&mut self, text: &str) {
        match self.pieces.last_mut() {
            _ if text.is_empty() => {}
            Some(Piece::Literal(last)) => last.push_str(text),
            _ => self.pieces.push(Piece::Literal(text.to_owned())),
        }
    }

    /// The paths of its holes.
    pub(super) fn paths(&self) -> impl Iterator<Item = &Path> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Hole(hole) => Some(&hole.path),
            Piece::Literal(_) => None,
        })
    }

    /// The text, if it has no holes.
    pub(super) fn as_literal(&self) -> Option<&str> {
        match self.pieces.as_slice() {
            [] => Some(""),
            [Piece::Literal(text)] => Some(text),
            _ => None,
        }
    }

    /// The hole, if the text is only a hole.
    pub(super) fn as_hole(&self) -> Option<&Hole> {
        match self.pieces.as_slice() {
            [Piece::Hole(hole)] => Some(hole),
            _ => None,
        }
    }

    /// The text with its holes filled: texts verbatim, everything else as JSON.
    pub(super) fn render(&self, values: &Values<'_>) -> Result<String, Missing> {
        let mut text = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Literal(literal) => text.push_str(literal),
                Piece::Hole(hole) => match hole.find(values)? {
                    Some(Value::String(value)) => text.push_str(value),
                    Some(value) => text.push_str(&value.to_string()),
                    None => text.push_str(hole.default()),
                },
            }
        }
        Ok(text)
    }
}

fn read_hole(text: &str, known: &[&str]) -> Result<(Hole, usize), Fault> {
    let literal_help = "write `$${` for a literal `${`";
    let (path, length) = Path::read(&text[2..], known).map_err(|fault| {
        let help = match &fault.help {
            Some(help) if help.ends_with('?') => help.clone(),
            Some(help) => format!("{help}; {literal_help}"),
            None => literal_help.to_owned(),
        };
        moved(fault, 2).help(help)
    })?;
    let rest = &text[2 + length..];
    let written = text[..2 + length].to_owned() + "}";
    if rest.starts_with('}') {
        return Ok((
            Hole {
                path,
                written,
                default: None,
            },
            length + 3,
        ));
    }
    if let Some(default) = rest.strip_prefix(":-")
        && let Some(close) = default.find('}')
    {
        let hole = Hole {
            path,
            written,
            default: Some(default[..close].to_owned()),
        };
        return Ok((hole, length + close + 5));
    }
    if rest.is_empty() || rest.starts_with(":-") {
        return Err(Fault::new(0..2, "`${` is never closed with `}`").help(literal_help));
    }
    let odd = 2 + length..2 + length + super::path::first_character(rest);
    let fault = Fault::new(
        odd,
        "a path continues with `.name` or `[…]`, or ends with `}` or `:-default}`",
    );
    Err(fault.help("write an unusual name as `[\"odd name\"]`"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn render(text: &str) -> Result<String, Missing> {
        let args = json!({"city": "Oslo", "days": 3, "empty": "", "none": null, "list": [1, "a"]});
        Template::read(text, &["args"])
            .unwrap()
            .render(&Values::new([("args", &args)]))
    }

    #[test]
    fn holes_are_filled_with_texts_as_they_are_and_the_rest_as_json() {
        assert_eq!(
            render("In ${args.city}, ${args.days} days: ${args.list}").unwrap(),
            "In Oslo, 3 days: [1,\"a\"]"
        );
        assert_eq!(
            render("${args.nope:-none}, ${args.empty:-none}, ${args.none:-}").unwrap(),
            "none, none, "
        );
        assert_eq!(
            render("$${args.city} costs $5").unwrap(),
            "${args.city} costs $5"
        );
        assert_eq!(
            render("${args.nope}"),
            Err(Missing("${args.nope}".to_owned()))
        );
        assert_eq!(render("${args.none}").unwrap(), "null");
    }

    #[test]
    fn a_hole_that_cannot_be_read_is_a_fault_at_its_bytes() {
        let fault = |text: &str| Template::read(text, &["args"]).unwrap_err();
        assert_eq!(fault("It is ${arg.x}").bytes, 8..11);
        assert!(
            fault("It is ${arg.x}")
                .help
                .unwrap()
                .starts_with("did you mean `args`?")
        );
        assert_eq!(
            fault("It is ${args.x").message,
            "`${` is never closed with `}`"
        );
        assert_eq!(fault("${args.x y}").bytes, 8..9);
        assert_eq!(fault("${}").bytes, 2..3);
    }
}
