//! Which tool of which server does a recorded name mean, and does a name in a suite mean the same
//! tool?

use super::{Call, CatalogueTool, Trace, full_name};
use crate::hashed::HashMap;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;

/// The unambiguous separators between a server and its tool; longer ones come before their
/// prefixes.
const JOINTS: [&str; 7] = ["___", "__", "--", "::", ".", "/", ":"];
/// Joints that are part of many a tool's own name as well.
const DOUBTFUL_JOINTS: [&str; 2] = ["_", "-"];
/// The word that hosts write before a server, followed by any joint: `mcp__s__tool`, `mcp_s_tool`.
const HOST: &str = "mcp";
/// The joint of hosts that write the tool first: `tool_mcp_s`.
const BACKWARD_JOINT: &str = "_mcp_";

/// A tool as a call names it. Two servers' tools of one name are two tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Tool<'a> {
    /// Its name.
    pub name: &'a str,
    /// The server, if known.
    pub server: Option<&'a str>,
    /// True if several servers have a tool of this name, and the call does not name its server.
    is_of_several: bool,
}

impl<'a> Tool<'a> {
    /// The tool of this name, with its server, if known.
    pub fn new(name: &'a str, server: Option<&'a str>) -> Self {
        Self {
            name,
            server,
            is_of_several: false,
        }
    }

    /// The tool of a call, a JSON object with `name` and possibly `server`.
    pub fn from_json(call: &'a Value) -> Self {
        let text = |key: &str| call.get(key).and_then(Value::as_str);
        Self::new(text("name").unwrap_or_default(), text("server"))
    }

    /// The tool as `server.tool`, or its bare name if the server is unknown.
    pub fn full_name(&self) -> String {
        full_name(self.server, self.name)
    }

    /// Returns true if a name in a suite (bare, or with its server in an unambiguous spelling) means this tool.
    pub fn is(&self, written: &str) -> bool {
        written == self.name
            || match self.server {
                Some(server) => tools_of(written, server).any(|bare| bare == self.name),
                None => splits(written).any(|(server, bare)| {
                    (bare == self.name && !self.is_of_several)
                        || tools_of(self.name, server).any(|own| own == bare)
                }),
            }
    }

    /// Returns true if a name in a suite may mean this tool, for gates that must not miss a call: the recorded name has
    /// an undeclared server before it, a declared server in a doubtful spelling, or the words of the name in another case.
    pub fn may_be(&self, written: &str, servers: &[String]) -> bool {
        self.is(written)
            || self.is_in_another_case(written)
            || match self.server {
                Some(server) => self.may_be_of(server, written),
                None => {
                    self.may_be_of_unknown_server(written, servers)
                        || servers.iter().any(|server| self.may_be_of(server, written))
                }
            }
    }

    /// Returns true if the two names differ only in case and in the characters between words: `deleteRepo` and
    /// `delete_repo`.
    fn is_in_another_case(&self, written: &str) -> bool {
        let is_of_server = |server: &str| self.server.is_none_or(|own| own == server);
        has_same_letters(self.name, written)
            || splits(written)
                .any(|(server, bare)| is_of_server(server) && has_same_letters(self.name, bare))
    }

    /// Returns true if the name may be this server followed by the suite's name.
    fn may_be_of(&self, server: &str, written: &str) -> bool {
        let mut bare =
            likely_tools_of(self.name, server).chain(possible_tools_of(self.name, server));
        bare.any(|bare| {
            let tool = Tool::new(bare, Some(server));
            tool.is(written) || tool.is_in_another_case(written)
        })
    }

    /// Returns true if the name may contain an undeclared server.
    fn may_be_of_unknown_server(&self, written: &str, servers: &[String]) -> bool {
        let is_behind_a_server =
            || possible_endings(self.name).any(|ending| has_same_letters(ending, written));
        let is_before_a_server = || {
            let parts = self.name.match_indices(BACKWARD_JOINT);
            parts
                .into_iter()
                .any(|(end, _)| has_same_letters(&self.name[..end], written))
        };
        let is_one_of_several =
            || self.is_of_several && endings(written).any(|ending| ending == self.name);
        // Hosts cut and number the names of servers, so that only the end of such a name is certain.
        let is_behind_a_host = || {
            let is_known = |server: &String| likely_tools_of(self.name, server).next().is_some();
            behind_host(self.name).any(|rest| ends_with_tool(rest, written))
                && !servers.iter().any(is_known)
        };
        is_behind_a_server() || is_before_a_server() || is_one_of_several() || is_behind_a_host()
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

/// Returns true if `written` (bare, or with its server as in `server.tool` or `server__tool`) names the tool `name`
/// of `server`.
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

/// A name, and the rest after each separator in it.
fn endings(name: &str) -> impl Iterator<Item = &str> {
    std::iter::once(name).chain(splits(name).map(|(_, ending)| ending))
}

/// Every way to split a name into a server and its tool.
pub fn splits(name: &str) -> impl Iterator<Item = (&str, &str)> {
    let joints = name.bytes().enumerate();
    joints
        .filter(|(_, byte)| matches!(byte, b'_' | b'-' | b':' | b'.' | b'/'))
        .flat_map(move |(at, _)| joined_at(name, at))
        .filter(|(server, bare)| !server.is_empty() && !bare.is_empty())
}

fn joined_at(name: &str, at: usize) -> impl Iterator<Item = (&str, &str)> {
    let joints = JOINTS.into_iter();
    let ends = joints.filter_map(move |joint| name[at..].strip_prefix(joint));
    ends.map(move |bare| (&name[..at], bare))
}

/// The tools of a server that a name can mean without doubt, the likeliest first.
fn tools_of<'n>(name: &'n str, server: &str) -> impl Iterator<Item = &'n str> {
    let bare = without_server(name, server, is_same_letter);
    let hosted =
        behind_host(name).filter_map(move |rest| without_server(rest, server, is_same_letter));
    let backward = before_server(name, server);
    let plain = bare.into_iter().flat_map(|rest| behind(rest, &JOINTS));
    let hosted =
        hosted.flat_map(|rest| behind(rest, &JOINTS).chain(behind(rest, &DOUBTFUL_JOINTS)));
    plain.chain(hosted).chain(backward)
}

/// The splits including ambiguous spellings: a short separator, and capital letters that a host
/// changed to lower case.
fn likely_tools_of<'n>(name: &'n str, server: &str) -> impl Iterator<Item = &'n str> {
    let names = std::iter::once(name).chain(behind_host(name));
    names
        .filter_map(move |name| without_server(name, server, is_like_letter))
        .flat_map(|rest| behind(rest, &JOINTS).chain(behind(rest, &DOUBTFUL_JOINTS)))
}

/// The splits at any other character between a server and its tool, and at a capital letter:
/// `docs|search`, `docsSearch`.
fn possible_tools_of<'n>(name: &'n str, server: &str) -> impl Iterator<Item = &'n str> {
    let names = std::iter::once(name).chain(behind_host(name));
    let rests = names.filter_map(move |name| without_server(name, server, is_like_letter));
    rests.filter_map(|rest| {
        let bare = rest.trim_start_matches(|letter: char| !letter.is_alphanumeric());
        let is_joined = bare.len() < rest.len() || bare.starts_with(char::is_uppercase);
        (is_joined && !bare.is_empty()).then_some(bare)
    })
}

/// The rest of a name after each character that can be a joint, but is not part of many a tool's own
/// name.
fn possible_endings(name: &str) -> impl Iterator<Item = &str> {
    let is_joint = |letter: char| !letter.is_alphanumeric() && letter != '_' && letter != '-';
    let joints = name.match_indices(is_joint);
    let behind_joints = joints.map(|(at, joint)| &name[at + joint.len()..]);
    endings(name).skip(1).chain(behind_joints)
}

/// The rest of a text after each of these joints at its beginning.
fn behind<'n>(text: &'n str, joints: &'static [&'static str]) -> impl Iterator<Item = &'n str> {
    let rests = joints
        .iter()
        .filter_map(move |joint| text.strip_prefix(joint));
    rests.filter(|bare| !bare.is_empty())
}

/// The rest of a name after the mark of a host.
fn behind_host(name: &str) -> impl Iterator<Item = &str> {
    let rest = name.strip_prefix(HOST);
    let joined = rest
        .into_iter()
        .flat_map(|rest| behind(rest, &JOINTS).chain(behind(rest, &DOUBTFUL_JOINTS)));
    joined.chain(name.strip_prefix('@'))
}

/// The tool of a name that ends with the server.
fn before_server<'n>(name: &'n str, server: &str) -> Option<&'n str> {
    let (bare, rest) = name.rsplit_once(BACKWARD_JOINT)?;
    let is_whole = without_server(rest, server, is_same_letter) == Some("");
    (is_whole && !bare.is_empty()).then_some(bare)
}

/// Returns true if two names have the same letters and digits, whatever their case.
fn has_same_letters(name: &str, other: &str) -> bool {
    let letters = |name: &str| {
        let letters = name.chars().filter(|letter| letter.is_alphanumeric());
        letters.flat_map(char::to_lowercase).collect::<String>()
    };
    let (name, other) = (letters(name), letters(other));
    !name.is_empty() && name == other
}

/// Returns true if a text is a server and this tool, in any case, with any joint between them.
fn ends_with_tool(text: &str, tool: &str) -> bool {
    let joints = text.match_indices(|letter: char| !letter.is_alphanumeric());
    joints
        .filter(|(at, _)| *at > 0)
        .any(|(at, joint)| has_same_letters(&text[at + joint.len()..], tool))
}

/// Hosts write `_` for characters that a provider does not allow in names.
fn is_same_letter(letter: char, found: char) -> bool {
    found == letter || (found == '_' && !letter.is_alphanumeric())
}

/// Some hosts write names in lowercase.
fn is_like_letter(letter: char, found: char) -> bool {
    is_same_letter(letter, found) || letter.eq_ignore_ascii_case(&found)
}

/// The rest of a name after a server at its beginning.
fn without_server<'n>(
    name: &'n str,
    server: &str,
    is_same: fn(char, char) -> bool,
) -> Option<&'n str> {
    let mut rest = name.chars();
    let mut is_next = |letter: char| rest.next().is_some_and(|found| is_same(letter, found));
    (!server.is_empty() && server.chars().all(&mut is_next)).then_some(rest.as_str())
}

/// The names of the servers of a suite, found by the names of tools that contain them.
#[derive(Debug, Default)]
pub(crate) struct ServerNames {
    /// By the name without the differences that hosts make.
    by_likeness: HashMap<String, Vec<String>>,
}

impl ServerNames {
    pub(crate) fn new<'s>(servers: impl Iterator<Item = &'s str>) -> Self {
        let mut by_likeness: HashMap<String, Vec<String>> = HashMap::default();
        for server in servers {
            let alike = by_likeness.entry(likeness(server)).or_default();
            alike.push(server.to_owned());
        }
        Self { by_likeness }
    }

    /// The servers that a recorded name may contain.
    fn in_name(&self, name: &str) -> impl Iterator<Item = &str> {
        let backward = name.rsplit_once(BACKWARD_JOINT).map(|(_, rest)| rest);
        let parts: Vec<String> = std::iter::once(name)
            .chain(behind_host(name))
            .chain(backward)
            .map(likeness)
            .collect();
        let beginnings = parts.iter().flat_map(|part| {
            let ends = part
                .char_indices()
                .map(|(at, letter)| at + letter.len_utf8());
            ends.map(|end| &part[..end])
        });
        let found: Vec<&Vec<String>> = beginnings
            .filter_map(|beginning| self.by_likeness.get(beginning))
            .collect();
        found.into_iter().flatten().map(String::as_str)
    }
}

/// A name in which letters are equal that [`is_like_letter`] accepts for each other.
fn likeness(name: &str) -> String {
    let letter = |letter: char| {
        if letter.is_alphanumeric() {
            letter.to_ascii_lowercase()
        } else {
            '_'
        }
    };
    name.chars().map(letter).collect()
}

/// The tools of a run, from the suite and the recording.
pub(crate) struct KnownTools<'k> {
    declared: &'k ServerNames,
    /// The servers of the catalogue.
    listed: BTreeSet<&'k str>,
    by_name: HashMap<&'k str, Vec<Option<&'k str>>>,
}

impl<'k> KnownTools<'k> {
    pub(crate) fn new(declared: &'k ServerNames, catalogue: &'k [CatalogueTool]) -> Self {
        let listed = catalogue.iter().filter_map(|tool| tool.server.as_deref());
        let listed = listed.collect();
        let mut by_name: HashMap<&str, Vec<Option<&str>>> = HashMap::default();
        for tool in catalogue {
            by_name
                .entry(&tool.name)
                .or_default()
                .push(tool.server.as_deref());
        }
        Self {
            declared,
            listed,
            by_name,
        }
    }

    /// The servers that a name may contain, the longest first.
    fn servers_in(&self, name: &str) -> Vec<&'k str> {
        let servers: BTreeSet<&str> = self
            .declared
            .in_name(name)
            .chain(self.listed.iter().copied())
            .collect();
        let mut servers: Vec<&str> = servers.into_iter().collect();
        servers.sort_by_key(|server| std::cmp::Reverse(server.len()));
        servers
    }

    /// The tool that a recorded name without a server means.
    fn meant<'n>(&self, name: &'n str) -> Tool<'n>
    where
        'k: 'n,
    {
        match self.by_name.get(name).map(Vec::as_slice) {
            Some([one]) => Tool::new(name, *one),
            Some(_) => Tool {
                is_of_several: true,
                ..Tool::new(name, None)
            },
            None => self.meant_behind_a_server(name),
        }
    }

    /// The tool in a name that the catalogue lacks, if the name may contain a known server.
    fn meant_behind_a_server<'n>(&self, name: &'n str) -> Tool<'n>
    where
        'k: 'n,
    {
        let servers = self.servers_in(name);
        let servers = || servers.iter().copied();
        let is_listed = |tool: &Tool<'_>| {
            let listed = self.by_name.get(tool.name);
            listed.is_some_and(|servers| servers.contains(&tool.server))
        };
        let certain = servers()
            .flat_map(|server| tools_of(name, server).map(move |bare| (bare, server)))
            .map(|(bare, server)| Tool::new(bare, Some(server)));
        let certain: Vec<Tool<'_>> = certain.collect();
        let likely = || {
            servers()
                .flat_map(|server| likely_tools_of(name, server).map(move |bare| (bare, server)))
                .map(|(bare, server)| Tool::new(bare, Some(server)))
        };
        let listed = certain.iter().copied().find(is_listed);
        listed
            .or_else(|| certain.first().copied())
            .or_else(|| likely().find(is_listed))
            .unwrap_or(Tool::new(name, None))
    }
}

impl Call<'_> {
    /// Removes the prefix of hosts that record the name on the wire, `<server>__<tool>`.
    pub(super) fn strip_own_prefix(&mut self) {
        let server = self.server.as_deref().unwrap_or_default();
        let kept = tools_of(&self.name, server).next();
        if let Some(kept) = kept.map(|bare| part_of(&self.name, bare)) {
            self.keep(kept);
        }
    }

    fn keep(&mut self, kept: Range<usize>) {
        self.name = match &self.name {
            Cow::Borrowed(name) => Cow::Borrowed(&name[kept]),
            Cow::Owned(name) => Cow::Owned(name[kept].to_owned()),
        };
    }

    /// Returns true if a tool named in a suite is the called one.
    pub fn is_to(&self, tool: &str) -> bool {
        Tool::from(self).is(tool)
    }
}

/// The place of a tool's own name in a recorded name: at the end, or before its server.
fn part_of(name: &str, bare: &str) -> Range<usize> {
    if name.ends_with(bare) {
        name.len() - bare.len()..name.len()
    } else {
        0..bare.len()
    }
}

impl Trace<'_> {
    /// The trace with bare names of calls and their servers, if known. `None` if nothing changes.
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
            call.keep(part_of(&call.name, tool.name));
            call.server = tool.server.map(|server| Cow::Owned(server.to_owned()));
            call.is_of_several = tool.is_of_several;
        }
        settled
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `search` of `docs`, as hosts write it.
    const CERTAIN: [&str; 12] = [
        "docs__search",
        "docs___search",
        "docs--search",
        "docs::search",
        "docs:search",
        "docs.search",
        "docs/search",
        "mcp__docs__search",
        "mcp--docs--search",
        "mcp_docs_search",
        "@docs/search",
        "search_mcp_docs",
    ];

    #[test]
    fn a_tool_may_be_named_bare_or_with_its_server() {
        for written in [
            "web.search",
            "docs.web.search",
            "docs__web.search",
            "docs/web.search",
            "docs::web.search",
            "docs:web.search",
        ] {
            assert!(is_tool(written, "web.search", Some("docs")), "{written}");
        }
        assert!(!is_tool("docs_web.search", "web.search", Some("docs")));
        assert!(!is_tool("wiki.web.search", "web.search", Some("docs")));
        assert!(
            is_tool("docs.search", "search", None),
            "the recording does not say whose it is"
        );
        for recorded in CERTAIN {
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
            "wiki::drop",
            "wiki:drop",
            "wiki/drop",
            "docs_drop",
            "docs-drop",
            "DOCS_drop",
            "mcp__docs_drop",
            "mcp_docs_drop",
            "mcp_wiki_drop",
            "mcp_some_server_cut_sho_drop",
            "drop_mcp_wiki",
        ] {
            assert!(may_be("drop", recorded), "{recorded}");
        }
        assert!(may_be("docs.drop", "docs_drop"));
        for recorded in [
            "docs_dropTable",
            "docs-drop-table",
            "docsDropTable",
            "DocsDropTable",
            "docs|drop_table",
            "docs drop_table",
            "wiki__dropTable",
            "wiki|drop_table",
            "mcp_wiki_dropTable",
            "mcp_docs-drop-table",
            "dropTable_mcp_wiki",
        ] {
            assert!(may_be("drop_table", recorded), "{recorded}");
        }
        for recorded in [
            "dropTable",
            "DropTable",
            "DROP_TABLE",
            "drop-table",
            "droptable",
        ] {
            assert!(may_be("drop_table", recorded), "{recorded}");
            assert!(may_be("docs.drop_table", recorded), "{recorded}");
            assert!(Tool::new(recorded, Some("docs")).may_be("docs.drop_table", &servers));
            assert!(!Tool::new(recorded, Some("wiki")).may_be("docs.drop_table", &servers));
        }
        for other in [
            "back_drop",
            "wiki_drop",
            "wiki__dropped",
            "mcp_docs_back_drop",
            "docs_backDrop",
            "docsBackDrop",
            "docsdrop",
            "wikiDrop",
            "mcp_drop",
            "drop_mcpx",
        ] {
            assert!(!may_be("drop", other), "{other}");
        }
        assert!(!may_be("docs.drop", "wiki__drop"));
        assert!(!Tool::new("drop", Some("wiki")).may_be("docs.drop", &servers));
        assert!(Tool::new("docs_drop", Some("docs")).may_be("drop", &servers));
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
    fn a_name_is_split_at_every_joint() {
        for joint in JOINTS {
            let name = format!("é{joint}x");
            assert!(splits(&name).any(|parts| parts == ("é", "x")), "{name}");
        }
        assert_eq!(splits("search_orders").count(), 0);
    }

    #[test]
    fn a_server_is_found_in_every_name_that_may_contain_it() {
        let servers = ["docs", "Git.Hub", "a b", "é-x", "mcp", "x__y"];
        let names = ServerNames::new(servers.into_iter());
        for server in servers {
            let spelled = [server.to_owned(), likeness(server), server.to_uppercase()];
            for (spelled, joint) in spelled.iter().flat_map(|one| {
                let joints = JOINTS.into_iter().chain(DOUBTFUL_JOINTS);
                joints.map(move |joint| (one, joint))
            }) {
                for name in [
                    format!("{spelled}{joint}search"),
                    format!("mcp{joint}{spelled}{joint}search"),
                    format!("@{spelled}{joint}search"),
                    format!("search_mcp_{spelled}"),
                ] {
                    let contains = tools_of(&name, server)
                        .chain(likely_tools_of(&name, server))
                        .next()
                        .is_some();
                    let is_found = names.in_name(&name).any(|found| found == server);
                    assert!(is_found || !contains, "{server} in {name}");
                }
            }
        }
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
        let declared = ServerNames::new(["git", "git.hub"].into_iter());
        let known = KnownTools::new(&declared, &catalogue);
        let meant = |name| {
            let tool = known.meant(name);
            (tool.name, tool.server)
        };
        for name in [
            "git.hub__close",
            "mcp__git_hub__close",
            "git.hub/close",
            "git.hub.close",
            "git.hub::close",
            "git.hub___close",
            "mcp_git_hub_close",
            "close_mcp_git_hub",
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
