//! How does a drafted suite read?

use super::arguments::{ServerFolder, arguments};
use super::observed::Expectation;
use super::server::Listed;
use super::yaml;
use mcptest_core::provider::FAMILIES;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fmt::Write;

/// The first key variable that is set, otherwise the first one, and a model for it.
pub(super) fn model(environment: &BTreeMap<String, String>) -> (&'static str, &'static str) {
    let models = || {
        FAMILIES
            .iter()
            .flat_map(|family| family.keys.iter().map(move |key| (*key, family.model)))
    };
    let is_set =
        |(key, _): &(&str, &str)| environment.get(*key).is_some_and(|value| !value.is_empty());
    models()
        .find(is_set)
        .or_else(|| models().next())
        .unwrap_or_default()
}

/// One tool test.
pub(super) struct Test {
    pub(super) name: String,
    pub(super) tool: String,
    pub(super) args: Value,
    pub(super) expect: Vec<Expectation>,
}

impl Test {
    pub(super) fn new(name: &str, tool: &str, args: Value) -> Self {
        Self {
            name: name.to_owned(),
            tool: tool.to_owned(),
            args,
            expect: Vec::new(),
        }
    }
}

/// The contents of a drafted suite.
#[derive(Default)]
pub(super) struct Page {
    pub(super) server: String,
    pub(super) who: String,
    pub(super) protocol: String,
    pub(super) tools: Vec<Listed>,
    pub(super) entry: Vec<String>,
    pub(super) variables: Vec<String>,
    pub(super) tests: Vec<Test>,
    /// Tests of tools that were not called. They are skipped until the user fills them in.
    pub(super) to_fill_in: Vec<Test>,
    pub(super) left_out: Vec<(String, String)>,
    /// The number of further tools that were not called, because the suite has enough tests.
    pub(super) not_tried: usize,
    /// The tools that the user named.
    pub(super) named: Vec<String>,
    /// A call that the user could request, in the syntax of `--call`.
    pub(super) suggestion: Option<String>,
    pub(super) model: (&'static str, &'static str),
}

impl Page {
    pub(super) fn expect(&mut self, test: &str, expect: Vec<Expectation>) {
        if let Some(test) = self.tests.iter_mut().find(|one| one.name == test) {
            test.expect = expect;
        }
    }

    /// This name of a test, or the next free one.
    pub(super) fn free_name(&self, name: &str) -> String {
        let is_free = |name: &String| self.tests.iter().all(|test| test.name != *name);
        let numbered = (2..).map(|number| format!("{name} ({number})"));
        std::iter::once(name.to_owned())
            .chain(numbered)
            .find(is_free)
            .unwrap_or_default()
    }

    /// Removes a test, and notes the reason.
    pub(super) fn drop_test(&mut self, test: &str, why: &str) {
        if let Some(at) = self.tests.iter().position(|one| one.name == test) {
            let test = self.tests.remove(at);
            if self.tools.iter().any(|tool| tool.name == test.tool) {
                self.left_out.push((test.tool, yaml::comment(why)));
            }
        }
    }

    /// The suite.
    pub(super) fn text(&self) -> String {
        let mut out = self.head();
        let _ = write!(out, "\nservers:\n  {}:\n", yaml::text(&self.server));
        for line in &self.entry {
            let _ = writeln!(out, "    {line}");
        }
        for name in &self.variables {
            let _ = writeln!(
                out,
                "    # `${{{name}}}` comes from the environment each time the server starts."
            );
        }
        out.push_str(&self.tool_tests());
        out.push_str(&self.agent());
        out
    }

    fn head(&self) -> String {
        let who = if self.who.is_empty() {
            "a server without a name"
        } else {
            &self.who
        };
        let count = count(self.tools.len(), "tool");
        let mut out = format!(
            "# Drafted by `mcptest init` from {} (MCP {}), which has {count}{}\n",
            yaml::word(who),
            yaml::comment(&self.protocol),
            if self.tools.is_empty() { "." } else { ":" },
        );
        if !self.tools.is_empty() {
            out.push_str("#\n");
        }
        let widest = self
            .tools
            .iter()
            .map(|tool| yaml::word(&tool.name).chars().count())
            .max()
            .unwrap_or(0)
            .min(40);
        for tool in &self.tools {
            let mark = if tool.is_read_only { "read-only" } else { "" };
            let line = format!(
                "#   {:widest$}  {mark:9}  {}",
                yaml::word(&tool.name),
                tool.about
            );
            let _ = writeln!(out, "{}", line.trim_end());
        }
        out.push_str(
            "#\n# `mcptest run` judges the recording: offline, the same every time.\n# `mcptest \
            run --record` calls the server again and judges its answers.\n",
        );
        out
    }

    fn tool_tests(&self) -> String {
        let mut out = String::new();
        if self.tests.is_empty() && !self.to_fill_in.is_empty() {
            out.push_str("\n# No tool was called, so nothing is recorded.\ntools:\n");
        } else if self.tests.is_empty() {
            out.push_str("\n# No tool could be called. A tool test looks like this:\n");
            let tool = self
                .tools
                .first()
                .map_or("some_tool", |tool| tool.name.as_str());
            let _ = write!(
                out,
                "#\n# tools:\n#   - name: it answers\n#     server: {}\n#     tool: {}\n#     args: {{}}\n#     expect:\n\
                 #       - {{ target: result.isError, matcher: {{ exact: false }} }}\n",
                yaml::comment(&yaml::text(&self.server)),
                yaml::comment(&yaml::text(tool)),
            );
        } else if self.is_probe() {
            out.push_str(
                "\n# No tool could be tested, so this test only calls a tool that does not exist, \
                which changes nothing.\n# To call a tool that may be called, write a test for it \
                in the same way.\ntools:\n",
            );
        } else {
            out.push_str(
                "\n# One call to each tool, without a model. The expected values were equal in \
                two answers; change them to\n# assert what matters to you. If a tool declares an \
                outputSchema, its answer is checked against that too.\ntools:\n",
            );
        }
        for test in &self.tests {
            let args = yaml::flow(&test.args);
            out.push_str(&tool_test(
                &self.server,
                (&test.name, &test.tool),
                &args,
                &test.expect,
            ));
        }
        out.push_str(&self.tests_to_fill_in());
        out.push_str(&self.what_is_left_out());
        out
    }

    fn tests_to_fill_in(&self) -> String {
        if self.to_fill_in.is_empty() {
            return String::new();
        }
        let mut out = String::from(
            "  # These tools may change something, so nothing has called them. Check the arguments, remove `skip:`, and record.\n",
        );
        for test in &self.to_fill_in {
            let (name, server) = (yaml::text(&test.name), yaml::text(&self.server));
            let (tool, args) = (yaml::text(&test.tool), yaml::flow(&test.args));
            let _ = write!(
                out,
                "  - name: {name}\n    skip: it may change something\n    server: {server}\n    tool: {tool}\n    args: {args}\n    \
                 expect:\n      - {{ target: result.isError, matcher: {{ exact: false }} }}\n",
            );
        }
        out
    }

    /// Returns true if the only call is to a tool that does not exist.
    fn is_probe(&self) -> bool {
        self.tests
            .iter()
            .all(|test| self.tools.iter().all(|tool| tool.name != test.tool))
    }

    fn what_is_left_out(&self) -> String {
        let mut out = String::new();
        if !self.left_out.is_empty() || self.not_tried > 0 {
            out.push_str(
                "\n# Tools without a test; `--call 'TOOL key=value'` tries one with other arguments:\n#\n",
            );
            for (tool, why) in &self.left_out {
                let _ = writeln!(out, "#   {}: {why}", yaml::word(tool));
            }
            if self.not_tried > 0 {
                let _ = writeln!(
                    out,
                    "#   {} more: these tests are enough for a start",
                    self.not_tried
                );
            }
        }
        if self.tools.iter().any(|tool| !tool.is_read_only) {
            out.push_str(
                "\n# Tools that are not marked read-only may change something. They were called \
                only if you named them.\n# `mcptest init --force --call 'TOOL key=value'` calls \
                one, twice.\n",
            );
        }
        out
    }

    fn agent(&self) -> String {
        let tested = self
            .tests
            .iter()
            .find(|test| self.tools.iter().any(|tool| tool.name == test.tool));
        let tool = tested
            .map(|test| test.tool.as_str())
            .or_else(|| Some(self.tools.first()?.name.as_str()));
        let Some(tool) = tool.filter(|tool| !tool.trim().is_empty() && !tool.contains("${")) else {
            return "\nagents: []\n".to_owned();
        };
        let about = self
            .tools
            .iter()
            .find(|one| one.name == tool)
            .map_or("", |one| one.about.as_str());
        let sentence = about
            .split(". ")
            .next()
            .unwrap_or_default()
            .trim_end_matches(['.', '…']);
        let wish = if sentence.is_empty() {
            "what the tool is for"
        } else {
            sentence
        };
        let (key, model) = self.model;
        format!(
            "\n# What a model does with these tools, run after run. Write the prompt as a user would, set {key},\n\
             # remove `skip:`, and record it with `mcptest run --record=missing`. After that no key is needed.\n\
             agents:\n  - name: an agent finds the right tool\n    skip: no model has been asked yet\n    model: {model}\n    \
             servers: [{}]\n    prompt: {}\n    runs: 5\n    # Four of the five runs must choose it.\n    \
             tool_selection:\n      expected_tool: {}\n      min_selection_rate: 0.8\n",
            yaml::text(&self.server),
            yaml::text(&format!("A request that needs this tool: {wish}")),
            yaml::text(tool),
        )
    }

    /// The result, for the user.
    pub(super) fn said(&self) -> Vec<String> {
        let mut said = vec![format!(
            "{} of {}",
            count(self.tools.len(), "tool"),
            self.server
        )];
        said.push(match self.tests.len() {
            0 if self.left_out.is_empty() => {
                "no tool was called, so nothing is recorded".to_owned()
            }
            0 => "no tool could be called, so nothing is recorded; the file has the reasons"
                .to_owned(),
            _ if self.is_probe() => {
                "no tool could be tested, so the only test calls a tool that does not exist"
                    .to_owned()
            }
            tests => format!("{}, recorded and passing", count(tests, "tool test")),
        });
        if !self.to_fill_in.is_empty() {
            let skipped = count(self.to_fill_in.len(), "test");
            said.push(format!(
                "{skipped} to fill in, skipped until then, for tools that are not marked read-only"
            ));
        }
        said.extend(self.why_left_out());
        said.extend(self.variables.iter().map(|name| {
            format!(
                "`${{{name}}}` replaces a value that may be secret: set {name} before you record"
            )
        }));
        said
    }

    /// The tools without a test: each with its reason, if the user named it or no tool has a test.
    fn why_left_out(&self) -> Vec<String> {
        const SHOWN: usize = 3;
        let is_probe = self.is_probe();
        let is_told = |tool: &str| is_probe || self.named.iter().any(|named| named == tool);
        let (told, others): (Vec<_>, Vec<_>) =
            self.left_out.iter().partition(|(tool, _)| is_told(tool));
        let mut said = Vec::new();
        if is_probe && self.tools.is_empty() {
            said.push("the server lists no tools".to_owned());
        } else if is_probe && self.left_out.is_empty() {
            said.push(
                "none is marked read-only, so none was called: a tool may change something"
                    .to_owned(),
            );
        }
        said.extend(
            told.iter()
                .take(SHOWN)
                .map(|(tool, why)| format!("{tool} is skipped: {why}")),
        );
        let rest = told.len().saturating_sub(SHOWN) + others.len() + self.not_tried;
        if rest > 0 {
            let more = if told.is_empty() {
                "read-only tool"
            } else {
                "more tool"
            };
            said.push(format!(
                "{} skipped; the file has the reasons",
                count(rest, more)
            ));
        }
        if let Some(call) = self.suggestion.as_ref().filter(|_| is_probe) {
            said.push(format!(
                "name a call that can be made twice: add `--force --call '{call}'`"
            ));
        }
        said
    }

    /// Finds a call that the user could ask for: of a tool that sounds as if it only looked.
    pub(super) fn suggest(&mut self, server_folder: &ServerFolder) {
        const LOOKING: [&str; 9] = [
            "get", "list", "read", "search", "show", "status", "find", "describe", "query",
        ];
        let looks = |tool: &&Listed| {
            let mut words = tool.name.split(|c: char| !c.is_ascii_alphanumeric());
            words.any(|word| {
                LOOKING
                    .iter()
                    .any(|look| word.to_ascii_lowercase().starts_with(look))
            })
        };
        let tool = self.tools.iter().find(looks).or(self.tools.first());
        self.suggestion = tool.map(|tool| {
            let made = arguments(&tool.schema, &Map::new(), server_folder).unwrap_or_default();
            let required = tool.schema["required"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_str);
            let words = required.map(|key| {
                let value = match &made[key] {
                    Value::String(text) if text != "text" => text.clone(),
                    Value::Number(number) => number.to_string(),
                    Value::Bool(flag) => flag.to_string(),
                    _ => String::new(),
                };
                let is_bare = |c: char| c.is_ascii_alphanumeric() || "_./:+-".contains(c);
                let is_plain = !value.is_empty() && value.chars().all(is_bare);
                format!(" {key}={}", if is_plain { &value } else { "VALUE" })
            });
            format!("{}{}", tool.name, words.collect::<String>())
        });
    }
}

/// A tool test in the YAML of a suite.
pub(super) fn tool_test(
    server: &str,
    (name, tool): (&str, &str),
    args: &str,
    expect: &[Expectation],
) -> String {
    let (name, server, tool) = (yaml::text(name), yaml::text(server), yaml::text(tool));
    let mut out =
        format!("  - name: {name}\n    server: {server}\n    tool: {tool}\n    args: {args}\n");
    if !expect.is_empty() {
        out.push_str("    expect:\n");
    }
    for expectation in expect {
        let _ = writeln!(out, "      - {}", expectation.yaml());
    }
    out
}

pub(super) fn count(number: usize, what: &str) -> String {
    match number {
        0 => format!("no {what}s"),
        1 => format!("1 {what}"),
        many => format!("{many} {what}s"),
    }
}
