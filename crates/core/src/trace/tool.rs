//! Which tool of which server does a recorded name mean, and does a name in a suite mean the same?

use super::{Call, CatalogueTool, Trace, full_name};
use crate::hashed::HashMap;
use crate::order::SmallSort;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::BTreeSet;

/// What stands between a server and its tool, in suites and in recordings.
const JOINTS: [&str; 3] = ["__", ".", "/"];
/// What some hosts write there, which is part of many a tool's own name as well.
const DOUBTFUL_JOINTS: [&str; 3] = ["_", "-", ":"];
/// What some hosts write before the server.
const HOST_PREFIX: &str = "mcp__";

/// A tool as a call names it. Two servers' tools of one name are two tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Tool<'a> {
    pub(crate) name: &'a str,
    pub(crate) server: Option<&'a str>,
    /// Whether several servers have a tool of this name, and the call does not say whose it is.
    is_of_several: bool,
}

impl<'a> Tool<'a> {
    pub(crate) fn new(name: &'a str, server: Option<&'a str>) -> Self {
        Self {
            name,
            server,
            is_of_several: false,
        }
    }

    /// The tool of a call given as a JSON object with `name` and, where known, `server`.
    pub(crate) fn of_json(call: &'a Value) -> Self {
        let text = |key: &str| call.get(key).and_then(Value::as_str);
        Self::new(text("name").unwrap_or_default(), text("server"))
    }

    /// The tool as `server.tool`, bare where its server is not known.
    pub(crate) fn full_name(&self) -> String {
        full_name(self.server, self.name)
    }

    /// Whether a name in a suite (bare, `server.tool`, `server__tool` or `server/tool`) means this tool.
    pub(crate) fn is(&self, written: &str) -> bool {
        written == self.name
            || match self.server {
                Some(server) => cut(written, server, &JOINTS) == Some(self.name),
                None => splits(written).any(|(server, bare)| {
                    (bare == self.name && !self.is_of_several)
                        || cut(self.name, server, &JOINTS) == Some(bare)
                }),
            }
    }

    /// Whether a name in a suite may mean this tool, for those who must not miss it: some server that nobody declares
    /// stands before it, or a declared one in a spelling that leaves doubt.
    pub(crate) fn may_be(&self, written: &str, servers: &[String]) -> bool {
        let is_behind_a_server = || endings(self.name).skip(1).any(|ending| ending == written);
        let is_one_of_several =
            || self.is_of_several && endings(written).any(|ending| ending == self.name);
        let is_behind_a_known_server = |server: &String| {
            let bare = cut(self.name, server, &DOUBTFUL_JOINTS);
            bare.is_some_and(|bare| Tool::new(bare, Some(server)).is(written))
        };
        self.is(written)
            || (self.server.is_none()
                && (is_behind_a_server()
                    || is_one_of_several()
                    || servers.iter().any(is_behind_a_known_server)))
    }
}

impl<'a> From<&'a Call<'_>> for Tool<'a> {
    fn from(call: &'a Call<'_>) -> Self {
        Self {
            is_of_several: call.is_of_several,
            ..Self::new(&call.name, call.server.as_deref())
        }
    }
}

impl<'a> From<&'a CatalogueTool> for Tool<'a> {
    fn from(tool: &'a CatalogueTool) -> Self {
        Self::new(&tool.name, tool.server.as_deref())
    }
}

/// Whether `written` (bare, `server.tool`, `server__tool` or `server/tool`) names the tool `name` of `server`.
pub fn is_tool(written: &str, name: &str, server: Option<&str>) -> bool {
    Tool::new(name, server).is(written)
}

/// Names as a suite writes them, found by the tools they mean.
pub(crate) struct WrittenNames<'w> {
    names: Vec<&'w str>,
    by_ending: HashMap<&'w str, Vec<usize>>,
}

impl<'w> WrittenNames<'w> {
    pub(crate) fn new(names: impl Iterator<Item = &'w str>) -> Self {
        let names: Vec<&str> = names.collect();
        let mut by_ending: HashMap<&str, Vec<usize>> = HashMap::default();
        for (at, name) in names.iter().enumerate() {
            endings(name).for_each(|ending| by_ending.entry(ending).or_default().push(at));
        }
        Self { names, by_ending }
    }

    /// The names that mean a tool, as indices in order.
    pub(crate) fn meaning(&self, tool: Tool<'_>) -> BTreeSet<usize> {
        let near = endings(tool.name)
            .filter_map(|ending| self.by_ending.get(ending))
            .flatten();
        near.copied()
            .filter(|&at| tool.is(self.names[at]))
            .collect()
    }
}

/// A name itself, and what follows each joint in it.
fn endings(name: &str) -> impl Iterator<Item = &str> {
    std::iter::once(name).chain(splits(name).map(|(_, ending)| ending))
}

/// Every way to take a name for a server and its tool.
pub(crate) fn splits(name: &str) -> impl Iterator<Item = (&str, &str)> {
    name.char_indices().filter_map(move |(at, _)| {
        let joint = JOINTS
            .into_iter()
            .find(|joint| name[at..].starts_with(joint));
        let parts = joint.map(|joint| (&name[..at], &name[at + joint.len()..]));
        parts.filter(|(server, bare)| !server.is_empty() && !bare.is_empty())
    })
}

/// What follows a server and one of these joints, and before them perhaps the host's own prefix.
fn cut<'n>(name: &'n str, server: &str, joints: &[&str]) -> Option<&'n str> {
    [Some(name), name.strip_prefix(HOST_PREFIX)]
        .into_iter()
        .flatten()
        .find_map(|name| {
            let rest = without_server(name, server)?;
            joints
                .iter()
                .find_map(|joint| rest.strip_prefix(joint))
                .filter(|bare| !bare.is_empty())
        })
}

/// Hosts write `_` for what a provider does not take in names.
fn without_server<'n>(name: &'n str, server: &str) -> Option<&'n str> {
    let mut rest = name.chars();
    let is_same = |letter: char| {
        rest.next()
            .is_some_and(|found| found == letter || (found == '_' && !letter.is_alphanumeric()))
    };
    (!server.is_empty() && server.chars().all(is_same)).then_some(rest.as_str())
}

/// What a suite and a recording know of the tools of a run.
pub(crate) struct KnownTools<'k> {
    /// Every declared server, the longest first.
    servers: Vec<&'k str>,
    by_name: HashMap<&'k str, Vec<Option<&'k str>>>,
}

impl<'k> KnownTools<'k> {
    pub(crate) fn new(
        servers: impl Iterator<Item = &'k str>,
        catalogue: &'k [CatalogueTool],
    ) -> Self {
        let listed = catalogue.iter().filter_map(|tool| tool.server.as_deref());
        let servers: BTreeSet<&str> = servers.chain(listed).collect();
        let mut servers: Vec<&str> = servers.into_iter().collect();
        servers.small_sort_by_key(|server| std::cmp::Reverse(server.len()));
        let mut by_name: HashMap<&str, Vec<Option<&str>>> = HashMap::default();
        for tool in catalogue {
            by_name
                .entry(&tool.name)
                .or_default()
                .push(tool.server.as_deref());
        }
        Self { servers, by_name }
    }

    /// The tool that a recorded name without a server means.
    fn meant<'n>(&self, name: &'n str) -> Tool<'n>
    where
        'k: 'n,
    {
        let of_server = |server: &'k str, joints: &[&str]| {
            Some(Tool::new(cut(name, server, joints)?, Some(server)))
        };
        match self.by_name.get(name).map(Vec::as_slice) {
            Some([one]) => Tool::new(name, *one),
            Some(_) => Tool {
                is_of_several: true,
                ..Tool::new(name, None)
            },
            None => {
                let certain = self
                    .servers
                    .iter()
                    .find_map(|server| of_server(server, &JOINTS));
                let is_listed = |tool: &Tool<'_>| {
                    self.by_name
                        .get(tool.name)
                        .is_some_and(|servers| servers.contains(&tool.server))
                };
                let listed = || {
                    let doubtful = self
                        .servers
                        .iter()
                        .filter_map(|server| of_server(server, &DOUBTFUL_JOINTS));
                    doubtful.into_iter().find(is_listed)
                };
                certain.or_else(listed).unwrap_or(Tool::new(name, None))
            }
        }
    }
}

impl Call<'_> {
    /// Some hosts record the name as it was on the wire, `<server>__<tool>`.
    pub(super) fn strip_own_prefix(&mut self) {
        let bare = self
            .server
            .as_deref()
            .and_then(|server| cut(&self.name, server, &JOINTS));
        if let Some(length) = bare.map(str::len) {
            self.keep_end(length);
        }
    }

    fn keep_end(&mut self, length: usize) {
        let start = self.name.len() - length;
        self.name = match &self.name {
            Cow::Borrowed(name) => Cow::Borrowed(&name[start..]),
            Cow::Owned(name) => Cow::Owned(name[start..].to_owned()),
        };
    }

    /// Whether a tool named in a suite is the one called here.
    pub fn is_to(&self, tool: &str) -> bool {
        Tool::from(self).is(tool)
    }
}

impl Trace<'_> {
    /// The same trace, its calls by their bare names and with their servers as far as these are known; `None` when it
    /// says so already.
    pub(crate) fn with_known_tools(&self, known: &KnownTools<'_>) -> Option<Self> {
        let mut meant: HashMap<&str, Tool<'_>> = HashMap::default();
        let mut settled: Option<Self> = None;
        for (at, call) in self
            .tool_calls
            .iter()
            .enumerate()
            .filter(|(_, call)| call.server.is_none())
        {
            let tool = *meant
                .entry(&call.name)
                .or_insert_with(|| known.meant(&call.name));
            if tool == Tool::from(call) {
                continue;
            }
            let call = &mut settled.get_or_insert_with(|| self.clone()).tool_calls[at];
            call.keep_end(tool.name.len());
            call.server = tool.server.map(|server| Cow::Owned(server.to_owned()));
            call.is_of_several = tool.is_of_several;
        }
        settled
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_may_be_named_bare_or_with_its_server() {
        for written in [
            "web.search",
            "docs.web.search",
            "docs__web.search",
            "docs/web.search",
        ] {
            assert!(is_tool(written, "web.search", Some("docs")), "{written}");
        }
        assert!(!is_tool("docs_web.search", "web.search", Some("docs")));
        assert!(!is_tool("wiki.web.search", "web.search", Some("docs")));
        assert!(
            is_tool("docs.search", "search", None),
            "the recording does not say whose it is"
        );
        for recorded in ["docs__search", "mcp__docs__search", "docs/search"] {
            assert!(is_tool("docs.search", recorded, None), "{recorded}");
            assert!(!is_tool("wiki.search", recorded, None), "{recorded}");
            assert!(!is_tool("search", recorded, None), "{recorded}");
        }
    }

    #[test]
    fn who_must_not_miss_a_tool_takes_it_in_doubtful_spellings_too() {
        let servers = ["docs".to_owned()];
        let may_be = |written: &str, name: &str| Tool::new(name, None).may_be(written, &servers);
        for recorded in [
            "wiki__drop",
            "mcp__wiki__drop",
            "wiki.drop",
            "docs_drop",
            "docs-drop",
            "mcp__docs_drop",
        ] {
            assert!(may_be("drop", recorded), "{recorded}");
        }
        assert!(may_be("docs.drop", "docs_drop"));
        for other in ["back_drop", "wiki_drop", "wiki__dropped"] {
            assert!(!may_be("drop", other), "{other}");
        }
        assert!(!may_be("docs.drop", "wiki__drop"));
        assert!(!Tool::new("drop", Some("wiki")).may_be("docs.drop", &servers));
    }

    #[test]
    fn names_are_found_by_the_tools_they_mean() {
        let written = WrittenNames::new(
            ["search", "docs.search", "wiki__search", "open", "docs___x"].into_iter(),
        );
        let meaning = |name, server| {
            written
                .meaning(Tool::new(name, server))
                .into_iter()
                .collect::<Vec<_>>()
        };
        assert_eq!(meaning("search", Some("docs")), [0, 1]);
        assert_eq!(meaning("search", None), [0, 1, 2]);
        assert_eq!(meaning("mcp__wiki__search", None), [2]);
        assert_eq!(meaning("x", Some("docs_")), [4]);
        assert_eq!(meaning("_x", Some("docs")), [4]);
    }

    #[test]
    fn recorded_names_are_cut_at_known_servers() {
        let tool = |server: &str, name: &str| CatalogueTool {
            name: name.to_owned(),
            server: Some(server.to_owned()),
            ..CatalogueTool::default()
        };
        let catalogue = [
            tool("docs", "search"),
            tool("wiki", "search"),
            tool("wiki", "edit"),
            tool("docs", "docs__odd"),
        ];
        let known = KnownTools::new(["git", "git.hub"].into_iter(), &catalogue);
        let meant = |name| {
            let tool = known.meant(name);
            (tool.name, tool.server)
        };
        for name in [
            "git.hub__close",
            "mcp__git_hub__close",
            "git.hub/close",
            "git.hub.close",
        ] {
            assert_eq!(meant(name), ("close", Some("git.hub")), "{name}");
        }
        assert_eq!(meant("edit"), ("edit", Some("wiki")));
        assert_eq!(
            meant("wiki_edit"),
            ("edit", Some("wiki")),
            "the catalogue has it"
        );
        assert_eq!(meant("wiki_other"), ("wiki_other", None));
        assert_eq!(
            meant("docs__odd"),
            ("docs__odd", Some("docs")),
            "its own name"
        );
        assert_eq!(meant("hub__close"), ("hub__close", None));
        let shared = known.meant("search");
        assert!(
            shared.is("search") && !shared.is("docs.search") && shared.may_be("docs.search", &[])
        );
    }
}
