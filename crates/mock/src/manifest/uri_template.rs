//! Does an address fit a template of addresses, and with which variables?

use super::fields::report;
use super::json::PlacedFault;
use super::path::{Fault, name_length};
use mcptest_core::suite::read::Field;
use regex::Regex;
use std::ops::Range;

/// Refuses a name that no variable can have, or that an earlier variable has.
fn check_variable(name: &str, place: Range<usize>, names: &[String]) -> Result<(), Fault> {
    if name_length(name) != name.len() || name.is_empty() || name == "uri" {
        let help = "a variable is a name in braces, such as `{id}`; `uri` is the whole address";
        let message = format!("`{{{name}}}` is not a variable of this template");
        return Err(Fault::new(place, message).help(help));
    }
    if names.iter().any(|other| other == name) {
        return Err(Fault::new(
            place,
            format!("`{{{name}}}` appears twice here"),
        ));
    }
    Ok(())
}

/// A template of addresses.
#[derive(Debug)]
pub(super) struct UriTemplate {
    pub(super) written: String,
    names: Vec<String>,
    pattern: Regex,
}

impl UriTemplate {
    /// Reads a template, and reports its problems.
    pub(super) fn read(written: &str, field: &Field<'_>) -> Option<Self> {
        let placed = |fault| PlacedFault {
            fault,
            text: written,
            span: field.span(),
        };
        Self::parse(written)
            .map_err(|fault| report(field, placed(fault)))
            .ok()
    }

    fn parse(written: &str) -> Result<Self, Fault> {
        let (mut names, mut pattern, mut at) = (Vec::<String>::new(), String::from("^"), 0);
        while let Some(open) = written[at..].find('{').map(|open| at + open) {
            let Some(length) = written[open..].find('}') else {
                return Err(Fault::new(open..open + 1, "`{` is never closed with `}`"));
            };
            let close = open + length;
            let name = &written[open + 1..close];
            check_variable(name, open..close + 1, &names)?;
            if open == at && !names.is_empty() {
                let message = format!("`{{{name}}}` directly follows another variable");
                return Err(Fault::new(open..close + 1, message)
                    .help("the end of the first variable would be ambiguous"));
            }
            pattern.push_str(&regex::escape(&written[at..open]));
            pattern.push_str("([^/?#]+)");
            names.push(name.to_owned());
            at = close + 1;
        }
        pattern.push_str(&regex::escape(&written[at..]));
        pattern.push('$');
        let whole = 0..written.len();
        if names.is_empty() {
            let help = "write a template such as `file:///{name}`, or a single address under \
            `resources:`";
            return Err(Fault::new(whole, format!("`{written}` has no variable")).help(help));
        }
        let pattern =
            Regex::new(&pattern).map_err(|_| Fault::new(whole, "this template is too long"))?;
        Ok(Self {
            written: written.to_owned(),
            names,
            pattern,
        })
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// The variables of a matching address.
    pub(super) fn variables_of(&self, uri: &str) -> Option<Vec<(&str, String)>> {
        let captures = self.pattern.captures(uri)?;
        let values = captures
            .iter()
            .skip(1)
            .flatten()
            .map(|found| decoded(found.as_str()));
        Some(self.names().zip(values).collect())
    }
}

/// The text with `%41` as `A`. Unchanged if the result is not text.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let hex = tail.get(..2).and_then(|two| std::str::from_utf8(two).ok());
        let byte = hex
            .filter(|_| *first == b'%')
            .and_then(|two| u8::from_str_radix(two, 16).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &tail[2..] } else { tail };
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables(template: &str, uri: &str) -> Option<Vec<String>> {
        let template = UriTemplate::parse(template).unwrap();
        template.variables_of(uri).map(|found| {
            found
                .into_iter()
                .map(|(name, value)| format!("{name}={value}"))
                .collect()
        })
    }

    #[test]
    fn an_address_fits_when_every_variable_is_one_segment() {
        assert_eq!(
            variables("t://{a}/x.{b}", "t://1/x.y%20z").unwrap(),
            ["a=1", "b=y z"]
        );
        assert_eq!(variables("t://{a}", "t://1/2"), None);
        assert_eq!(variables("t://{a}", "t://"), None);
        assert_eq!(
            variables("t://(x)+/{a}", "t://(x)+/%zz%").unwrap(),
            ["a=%zz%"]
        );
    }

    #[test]
    fn a_template_that_cannot_be_matched_is_refused() {
        for written in [
            "t://x",
            "t://{a",
            "t://{a}{b}",
            "t://{a}/{a}",
            "t://{+path}",
            "t://{}",
            "t://{uri}",
        ] {
            assert!(UriTemplate::parse(written).is_err(), "{written}");
        }
    }
}
