//! Does every type that a host meets have an example in its documentation?

use std::collections::BTreeMap;

/// The file whose inlined exports are the types that a host meets.
pub(super) const EXPORTS: &str = "crates/core/src/lib.rs";

/// The folder that declares them.
pub(super) const FOLDER: &str = "crates/core/src/";

/// The exported types without an example, by the texts of the files of the folder.
pub(super) fn complaints_about(exports: &str, files: &BTreeMap<&str, String>) -> Vec<String> {
    exported_types(exports)
        .into_iter()
        .filter(|name| {
            let mut documentation = files.values().filter_map(|text| documented(text, name));
            !documentation.any(|text| text.contains("```"))
        })
        .map(|name| format!("{EXPORTS}: `{name}` has no example in its documentation"))
        .collect()
}

/// The names that begin with a capital after `#[doc(inline)]`.
fn exported_types(exports: &str) -> Vec<&str> {
    exports
        .split("#[doc(inline)]")
        .skip(1)
        .filter_map(|export| export.split(';').next())
        .flat_map(|export| export.split([':', '{', '}', ',', ' ', '\n']))
        .filter(|name| name.starts_with(|letter: char| letter.is_ascii_uppercase()))
        .collect()
}

/// The documentation and attributes above the declaration of a public type.
fn documented<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let declared = ["struct", "enum"].into_iter().find_map(|kind| {
        let declaration = format!("\npub {kind} {name}");
        let is_whole = |at: &usize| {
            let next = text[at + declaration.len()..].chars().next();
            next.is_some_and(|next| !next.is_alphanumeric() && next != '_')
        };
        text.match_indices(&declaration)
            .map(|(at, _)| at)
            .find(is_whole)
    })?;
    let above = &text[..declared];
    let begin = above.rfind("\n\n").unwrap_or_default();
    Some(&above[begin..])
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXPORTED: &str =
        "#[doc(inline)]\npub use run::{Run,\n    judge};\n#[doc(hidden)]\npub use row::Row;\n";

    fn told(file: &str) -> Vec<String> {
        complaints_about(EXPORTED, &BTreeMap::from([("run.rs", file.to_owned())]))
    }

    #[test]
    fn a_type_without_an_example_is_named() {
        let with = "/// A run.\n///\n/// ```\n/// let run = Run;\n/// ```\n#[derive(Debug)]\npub struct Run;\n";
        assert_eq!(told(&format!("//! Runs.\n\n{with}")), [""; 0]);
        let other = with.replace("pub struct Run;", "pub struct RunReport;");
        assert_eq!(told(&format!("//! Runs.\n\n{other}\n{with}")), [""; 0]);
        let without = "//! Runs.\n\n/// A run.\npub struct Run;\n";
        let complaint = format!("{EXPORTS}: `Run` has no example in its documentation");
        assert_eq!(told(&format!("{without}\n{other}")), [complaint]);
    }
}
