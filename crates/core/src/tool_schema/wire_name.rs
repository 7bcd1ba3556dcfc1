//! Under which name does a model know the tool of a server?

use std::collections::{BTreeMap, BTreeSet};

/// The longest name that every provider accepts.
const LONGEST: usize = 64;

/// The name of one tool: `<server>__<tool>`, in characters that every provider accepts.
pub fn wire_name(server: &str, tool: &str) -> String {
    let plain = plain(server, tool);
    if plain.len() > LONGEST {
        with_hash(&plain, server, tool, 0)
    } else {
        plain
    }
}

/// Unique names for all tools that a model sees at once, independent of their order.
pub fn wire_names(tools: &[(&str, &str)]) -> Vec<String> {
    let mut wanted: BTreeMap<String, usize> = BTreeMap::new();
    for (server, tool) in tools {
        *wanted.entry(wire_name(server, tool)).or_default() += 1;
    }
    let mut taken: BTreeSet<String> = wanted
        .iter()
        .filter(|(_, count)| **count == 1)
        .map(|(name, _)| name.clone())
        .collect();
    let name = |(server, tool): &(&str, &str)| {
        let name = wire_name(server, tool);
        if wanted.get(&name) == Some(&1) {
            return name;
        }
        untaken(&mut taken, |salt| {
            with_hash(&plain(server, tool), server, tool, salt)
        })
    };
    tools.iter().map(name).collect()
}

/// The first generated name that is not taken. Marks it as taken.
pub fn untaken(taken: &mut BTreeSet<String>, made: impl Fn(u32) -> String) -> String {
    (0..u32::MAX)
        .map(made)
        .find(|name| taken.insert(name.clone()))
        .unwrap_or_default()
}

fn plain(server: &str, tool: &str) -> String {
    spelled(&format!("{server}__{tool}"), "")
}

/// A model's invented name, in characters that a provider accepts.
pub fn lettered(written: &str, marks: &str) -> String {
    let mut name = spelled(
        if written.is_empty() {
            "unnamed"
        } else {
            written
        },
        marks,
    );
    name.truncate(LONGEST);
    name
}

fn spelled(written: &str, marks: &str) -> String {
    let is_allowed =
        |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-' || marks.contains(c);
    let mut name: String = written
        .chars()
        .map(|c| if is_allowed(c) { c } else { '_' })
        .collect();
    if !name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        name.insert(0, '_');
    }
    name
}

fn with_hash(plain: &str, server: &str, tool: &str, salt: u32) -> String {
    let hash = format!(
        "{:08x}",
        fnv(&[
            server.as_bytes(),
            &[0],
            tool.as_bytes(),
            &salt.to_le_bytes()
        ])
    );
    let kept = plain.len().min(LONGEST - hash.len() - 1);
    format!("{}_{hash}", &plain[..kept])
}

/// The FNV-1a hash of the concatenated parts.
pub fn fnv(parts: &[&[u8]]) -> u32 {
    let bytes = parts.iter().flat_map(|part| part.iter());
    bytes.fold(0x811c_9dc5, |hash, byte| {
        (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_server_and_tool_in_allowed_characters() {
        assert_eq!(
            wire_name("weather", "get_forecast"),
            "weather__get_forecast"
        );
        assert_eq!(
            wire_name("my server", "café/list.all"),
            "my_server__caf__list_all"
        );
        assert_eq!(wire_name("2fa", "check"), "_2fa__check");
    }

    #[test]
    fn a_long_name_is_cut_and_told_apart_by_a_stable_hash() {
        let long = "a".repeat(80);
        let name = wire_name("files", &long);
        assert_eq!(name.len(), 64);
        assert!(name.starts_with("files__aaaa"), "{name}");
        assert_ne!(name, wire_name("files", &format!("{long}b")));
        assert_eq!(name, wire_name("files", &long));
    }

    #[test]
    fn names_that_would_be_the_same_are_not_whatever_the_order() {
        let tools = [
            ("a", "b.c"),
            ("a", "b_c"),
            ("a__b", "c"),
            ("a", "b__c"),
            ("x", "y"),
        ];
        let names = wire_names(&tools);
        assert_eq!(
            names.iter().collect::<BTreeSet<_>>().len(),
            tools.len(),
            "{names:?}"
        );
        assert_eq!(names[4], "x__y");
        let mut turned = tools;
        turned.reverse();
        let mut again = wire_names(&turned);
        again.reverse();
        assert_eq!(again, names);
    }

    #[test]
    fn a_tool_that_a_server_lists_twice_gets_two_names() {
        let names = wire_names(&[("a", "b"), ("a", "b")]);
        assert_ne!(names[0], names[1]);
        assert!(
            names.iter().all(|name| name.starts_with("a__b_")),
            "{names:?}"
        );
    }
}
