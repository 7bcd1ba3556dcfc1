//! How does mcptest lay out JSON that it writes?
//!
//! One writer has both layouts, because each kind of writer compiles all serialization code again.

use serde::Serialize;
use serde_json::ser::{CompactFormatter, Formatter, PrettyFormatter, Serializer};
use std::io::{self, Write};

/// The use of line breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// Everything on one line.
    Compact,
    /// A line for each member and item, indented by two spaces.
    Indented,
}

/// Serializes a value whose keys are all strings.
#[expect(
    clippy::expect_used,
    reason = "writing to memory cannot fail, and JSON is UTF-8"
)]
pub fn write<T: Serialize + ?Sized>(value: &T, layout: Layout) -> String {
    let mut out = Vec::with_capacity(128);
    let writer = Writer((layout == Layout::Indented).then(PrettyFormatter::new));
    value
        .serialize(&mut Serializer::with_formatter(&mut out, writer))
        .expect("its keys are strings");
    String::from_utf8(out).expect("JSON is UTF-8")
}

/// A writer that indents if it has a formatter.
struct Writer(Option<PrettyFormatter<'static>>);

macro_rules! either {
    ($($method:ident($($is_first:ident)?)),*) => {
        impl Formatter for Writer {
            $(fn $method<W: ?Sized + Write>(&mut self, out: &mut W $(, $is_first: bool)?) -> io::Result<()> {
                match &mut self.0 {
                    Some(pretty) => pretty.$method(out $(, $is_first)?),
                    None => CompactFormatter.$method(out $(, $is_first)?),
                }
            })*
        }
    };
}

either!(
    begin_array(),
    end_array(),
    begin_array_value(is_first),
    end_array_value(),
    begin_object(),
    end_object(),
    begin_object_key(is_first),
    begin_object_value(),
    end_object_value()
);

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn both_layouts_are_those_of_the_library() {
        let value = json!({"a": [1, -2.5, "x\ny", {}], "b": {"c": [], "d": null, "e": [[true]]}});
        assert_eq!(
            write(&value, Layout::Compact),
            serde_json::to_string(&value).unwrap()
        );
        assert_eq!(
            write(&value, Layout::Indented),
            serde_json::to_string_pretty(&value).unwrap()
        );
    }
}
