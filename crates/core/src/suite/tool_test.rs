//! `tools:` one direct call of one tool, and the requirements on its result.

use super::agent::{read_only, read_skip};
use super::each;
use super::read::{Block, Field};
use crate::engine::Assertion;
use crate::grade::{Question, graded};
use crate::problem::{Problem, Span};
use crate::report::Place;
use crate::target::{Path, Roots};
use serde_json::Value;

/// One direct tool test.
///
/// ```
/// use mcptest_core::{Host, load};
/// use std::path::Path;
///
/// let text = "
/// servers: { weather: { command: [weather-server] } }
/// tools: [{ name: oslo, server: weather, tool: get_weather, args: { city: Oslo } }]
/// ";
/// let read = |_: &Path| Ok(text.as_bytes().to_vec());
/// let suite = load(Path::new("weather.yml"), &Host::new(&read, &|_| None)).into_result()?;
/// let test = &suite.tools[0];
/// assert_eq!((test.server.as_str(), test.tool.as_str()), ("weather", "get_weather"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct ToolTest {
    /// Its name, unique in the suite.
    pub name: String,
    /// The server to call.
    pub server: String,
    /// The tool to call.
    pub tool: String,
    /// The arguments: a map.
    pub args: Option<Value>,
    /// The arguments with environment values as `${NAME}`: the input of fingerprints.
    pub args_template: Option<Value>,
    /// The time limit for the call.
    pub timeout_ms: Option<u64>,
    /// Words to select it by.
    pub tags: Vec<String>,
    /// The reason to skip it, if the suite skips it.
    pub skip: Option<String>,
    /// True if only tests with this flag are judged.
    pub only: bool,
    /// The expectations of the result. Without any, its `outputSchema` must hold.
    pub expect: Vec<Assertion<Path>>,
    /// Its place in the suite.
    pub span: Span,
    /// Its place as a file and a line.
    pub place: Place,
    pub(super) server_span: Span,
}

impl ToolTest {
    /// Every question to judges, by the paths of its checks.
    pub fn checks_of_judges(&self) -> Vec<(String, &Question)> {
        graded(&self.expect)
            .map(|(check, _, question)| (check, question))
            .collect()
    }

    pub(super) fn read(field: &mut Field<'_>) -> Option<Self> {
        let span = field.span();
        field.try_block(|block| Self::read_block(block, span))
    }

    fn read_block(block: &mut Block<'_>, span: Span) -> Option<Self> {
        let name = block.required("name", "The test's name, unique in the suite", |f| {
            f.public_name()
        });
        each::read_key(block);
        let server = block.required("server", "The server, by its name under `servers:`", |f| {
            f.placed_name()
        });
        let tool = block.required("tool", "The tool to call", |f| f.name());
        let args = block.optional("args", "The arguments", |f| f.map_and_template());
        let expect = read_expect(block);
        let timeout_ms = block.optional(
            "timeout",
            "The time limit for the call, such as `30s`",
            |f| f.limit_ms(),
        );
        let tags = block.list("tags", "Words to select the test by", |f| f.name());
        let skip = block.optional("skip", "The reason to skip the test", read_skip);
        let only = read_only(block);
        let (args, args_template) = args.unzip();
        let (server, server_span) = server?;
        Some(Self {
            name: name?,
            server,
            tool: tool?,
            args,
            args_template,
            timeout_ms,
            tags,
            skip,
            only,
            expect,
            span: block.key_span("name").unwrap_or(span),
            place: Place::default(),
            server_span,
        })
    }
}

fn read_expect(block: &mut Block<'_>) -> Vec<Assertion<Path>> {
    let doc = "Assertions on the result; optional if the tool declares an outputSchema";
    let expect = block.optional("expect", doc, |f| {
        Assertion::<Path>::read_list(f, Roots::ToolTest)
    });
    if expect.as_ref().is_some_and(Vec::is_empty) {
        let problem = Problem::error("an empty `expect:` asserts nothing").help("name a target");
        block.report_at("expect", problem);
    }
    expect.unwrap_or_default()
}
