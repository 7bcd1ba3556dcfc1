//! Which format, and which version of it, does a JSON object name?

use serde::Deserialize;
use serde_json::value::RawValue;

/// The members that identify the formats of mcptest.
#[derive(Deserialize)]
pub(super) struct NamedFormat<'a> {
    #[serde(borrow, default)]
    pub(super) format: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) version: Option<&'a RawValue>,
}

impl NamedFormat<'_> {
    pub(super) fn is(&self, format: &str) -> bool {
        self.format
            .is_some_and(|named| serde_json::from_str(named.get()).ok() == Some(format))
    }
}

/// Returns true if the first line of a file names this format, in any version.
pub fn names_format(file: &[u8], format: &str) -> bool {
    let line = file.split(|byte| *byte == b'\n').next();
    serde_json::from_slice::<NamedFormat<'_>>(line.unwrap_or_default())
        .is_ok_and(|named| named.is(format))
}

#[cfg(test)]
mod tests {
    use super::names_format;

    #[test]
    fn the_first_line_names_the_format() {
        let file = b"{\"version\": 9, \"format\": \"mcptest-tape\"}\r\nanything";
        assert!(names_format(file, "mcptest-tape"));
        assert!(!names_format(file, "mcptest-cassette"));
        assert!(!names_format(b"", "mcptest-tape"));
        assert!(!names_format(
            b"{}\n{\"format\":\"mcptest-tape\"}",
            "mcptest-tape"
        ));
    }
}
