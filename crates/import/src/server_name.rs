//! Which part of a tool's name is its server, where that is certain?

use std::collections::BTreeSet;

/// A name in its two parts.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Bare<'a> {
    pub(crate) server: &'a str,
    pub(crate) tool: &'a str,
}

/// The parts of `<server>__<tool>` if the transcript names that server, and of
/// `mcp__<server>__<tool>`, as hosts name tools of MCP servers, if it can be split in only one
/// place.
pub(crate) fn bare<'a>(
    name: &'a str,
    server: Option<&str>,
    servers: &BTreeSet<String>,
) -> Option<Bare<'a>> {
    let inner = name.strip_prefix("mcp__").unwrap_or(name);
    let cut = |at: usize| Bare {
        server: &inner[..at],
        tool: &inner[at + 2..],
    };
    let is_server = |server: &str| {
        inner
            .strip_prefix(server)
            .is_some_and(|rest| rest.starts_with("__"))
    };
    let known = servers
        .iter()
        .map(String::as_str)
        .chain(server)
        .filter(|server| is_server(server));
    let certain = match known.max_by_key(|server| server.len()) {
        Some(server) => Some(cut(server.len())),
        None if server.is_none() && name.starts_with("mcp__") => only_cut(inner).map(cut),
        None => None,
    };
    certain.filter(|bare| !bare.tool.is_empty() && !bare.server.is_empty())
}

fn only_cut(inner: &str) -> Option<usize> {
    let at = inner.find("__")?;
    let rest = &inner[at + 2..];
    (!rest.starts_with('_') && !rest.contains("__")).then_some(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_cut_off_only_where_that_is_certain() {
        let servers = BTreeSet::from(["docs".to_owned(), "docs__eu".to_owned()]);
        let parts = |name| bare(name, None, &servers).map(|bare| (bare.server, bare.tool));
        assert_eq!(parts("docs__search"), Some(("docs", "search")));
        assert_eq!(parts("docs__eu__search"), Some(("docs__eu", "search")));
        assert_eq!(parts("mcp__docs__open__page"), Some(("docs", "open__page")));
        assert_eq!(
            parts("mcp__git_hub__list_issues"),
            Some(("git_hub", "list_issues"))
        );
        for name in [
            "web__search",
            "mcp__a__b__c",
            "mcp__a___b",
            "mcp__a",
            "search",
            "docs__",
            "docs_search",
        ] {
            assert_eq!(parts(name), None, "{name}");
        }
        assert_eq!(
            bare("mcp__other__x", Some("docs"), &BTreeSet::new()),
            None,
            "the transcript says who"
        );
    }
}
