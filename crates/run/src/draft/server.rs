//! Which tests can a suite for this server have, after its tools are listed and the read-only ones called?

use super::arguments::ServerFolder;
use super::entry::ServerEntry;
use super::first_calls::{Wish, candidates, first_calls, not_called};
use super::observed::{Expectation, expectations, expected_failure, value_of};
use super::offer::{Choose, allowed};
use super::page::{Page, Test};
use super::{Draft, DraftError, judged, suite_of, why_not, yaml};
use crate::tool_call::call_on;
use mcptest_command::waiting;
use mcptest_core::escape::escape;
use mcptest_core::row::Reason;
use mcptest_core::suite::{Suite, ToolTest};
use mcptest_files as files;
use mcptest_mcp::client::{Client, Endpoint, ServerInfo, ServerSpec, Tool, WireError};
use mcptest_redact::{Redactor, is_secret_name};
use mcptest_replay::tool_test::{parse_recording, path_of};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A slower tool is omitted, unless the user gives it more time.
const LONGEST_CALL: Duration = Duration::from_secs(5);
/// A tool that every server must refuse.
const NO_SUCH_TOOL: &str = "mcptest_no_such_tool";

/// The request for a draft.
#[derive(Debug)]
pub struct Ask {
    /// The server's address or command.
    pub spec: ServerSpec,
    /// The time limit of a request, if given.
    pub timeout: Option<Duration>,
    /// Its name in the suite; by default, its own.
    pub name: Option<String>,
    /// The path of the suite.
    pub out: PathBuf,
    /// Calls in addition to the calls of read-only tools.
    pub call: Vec<Wish>,
    /// Asks which calls may be made, if no tool is marked read-only.
    pub choose: Choose,
}

/// A tool in the server's list.
pub(super) struct Listed {
    pub(super) name: String,
    pub(super) about: String,
    pub(super) is_read_only: bool,
    is_closed: bool,
    pub(super) schema: Value,
}

/// Calls the tools that are safe to call twice, and drafts a suite that passes on the second
/// answers.
pub async fn from_server(ask: Ask) -> Result<Draft, DraftError> {
    let mut session = DraftSession {
        spec: &ask.spec,
        longest_call: ask.timeout.unwrap_or(LONGEST_CALL),
        client: None,
    };
    let client = session.client().await?;
    let mut info = client.server().clone();
    clean_info(&mut info);
    let tools = listed(client.list_tools().await?.tools);
    let server_folder = match &ask.spec.endpoint {
        Endpoint::Command { words, .. } => ServerFolder::from_command(words),
        _ => ServerFolder::default(),
    };
    let wishes = allowed(ask.choose, &tools, ask.call, &server_folder).await;
    let candidates = candidates(&wishes, &tools)?;
    let environment: BTreeMap<String, String> = mcptest_replay::variables().collect();
    let out = files::whole(&ask.out);
    let here = files::whole(Path::new("."));
    let folder = out.parent().unwrap_or(&here);
    let entry = ServerEntry::new(&ask.spec, ask.timeout, folder, &here, &environment);
    let mut page = Page {
        tools,
        entry: entry.lines,
        variables: entry.variables.keys().cloned().collect(),
        named: wishes.iter().map(|wish| wish.tool.clone()).collect(),
        model: super::page::model(&environment),
        ..page_about(&info, ask.name.as_deref(), &ask.spec.name)
    };
    let answers = first_calls(&mut session, &mut page, candidates, &server_folder).await;
    page.suggest(&server_folder);
    session.end().await;
    let context = DraftContext {
        out: &ask.out,
        variables: &entry.variables,
        environment: &environment,
    };
    let mut recordings = record(&mut session, &mut page, &context, answers).await?;
    if page.tests.is_empty() {
        page.tests.push(Test::new(
            "a tool that does not exist is refused",
            NO_SUCH_TOOL,
            json!({}),
        ));
        recordings = record(&mut session, &mut page, &context, BTreeMap::new()).await?;
    }
    session.end().await;
    // Only now, so that nothing has called these tools.
    page.to_fill_in = not_called(&page, &server_folder);
    finish(&ask.out, page, &entry.variables, recordings)
}

/// A page that names the server, without its tools.
fn page_about(info: &ServerInfo, wanted_name: Option<&str>, spec_name: &str) -> Page {
    let own_name = || name_of(&info.name, spec_name);
    Page {
        server: wanted_name.map_or_else(own_name, str::to_owned),
        who: format!("{} {}", info.name, info.version).trim().to_owned(),
        protocol: info.protocol_version.clone(),
        ..Page::default()
    }
}

fn clean_info(info: &mut ServerInfo) {
    for said in [
        &mut info.name,
        &mut info.version,
        &mut info.protocol_version,
    ] {
        *said = mcptest_replay::clean(said).into_owned();
    }
}

/// The path of the suite, and the values of its variables and of the environment.
struct DraftContext<'a> {
    out: &'a Path,
    variables: &'a BTreeMap<String, String>,
    environment: &'a BTreeMap<String, String>,
}

fn finish(
    out: &Path,
    mut page: Page,
    variables: &BTreeMap<String, String>,
    mut recordings: BTreeMap<String, String>,
) -> Result<Draft, DraftError> {
    let rows = judged(out, &page.text(), variables, &recordings)?;
    for row in &rows {
        if let Some(why) = why_not(row) {
            page.drop_test(&row.name, &why);
            recordings.remove(&row.name);
        }
    }
    let text = page.text();
    let suite = suite_of(out, &text, variables)?;
    let of_test =
        |test: &ToolTest| Some((path_of(&suite, test), recordings.get(&test.name)?.clone()));
    let recordings = suite.tools.iter().filter_map(of_test).collect();
    let (said, is_judged) = (page.said(), !page.tests.is_empty());
    Ok(Draft {
        path: out.to_owned(),
        text,
        said,
        is_judged,
        records: true,
        recordings,
    })
}

/// A connection that is made again after a call broke it.
pub(super) struct DraftSession<'s> {
    spec: &'s ServerSpec,
    /// The time limit of a first call. The list of tools has the time of any request.
    pub(super) longest_call: Duration,
    pub(super) client: Option<Client>,
}

impl DraftSession<'_> {
    pub(super) async fn client(&mut self) -> Result<&Client, WireError> {
        let client = match self.client.take() {
            Some(client) => client,
            None => Client::connect(self.spec, None).await?,
        };
        Ok(self.client.insert(client))
    }

    async fn end(&mut self) {
        if let Some(client) = self.client.take() {
            client.close().await;
        }
    }
}

fn listed(tools: Vec<Tool>) -> Vec<Listed> {
    let mut seen = BTreeSet::new();
    let tools = tools
        .into_iter()
        .filter(|tool| seen.insert(tool.name.clone()));
    tools
        .map(|tool| {
            let raw: Value = serde_json::from_str(tool.raw.get()).unwrap_or_default();
            let hints = &raw["annotations"];
            let about = tool.description.or(tool.title).unwrap_or_default();
            Listed {
                about: yaml::comment(&about),
                is_read_only: hints["readOnlyHint"] == json!(true),
                is_closed: hints["openWorldHint"] != json!(true),
                schema: serde_json::from_str(tool.input_schema.get()).unwrap_or_default(),
                name: tool.name,
            }
        })
        .collect()
}

pub(super) fn short(error: &WireError) -> String {
    format!("no answer: {}", yaml::comment(&error.to_string()))
}

/// Calls every test again on a fresh server, records that, and expects what both answers share.
async fn record(
    session: &mut DraftSession<'_>,
    page: &mut Page,
    context: &DraftContext<'_>,
    mut answers: BTreeMap<String, Value>,
) -> Result<BTreeMap<String, String>, DraftError> {
    let suite = suite_of(context.out, &page.text(), context.variables)?;
    let redactor = redactor(&suite, context);
    let mut recordings = BTreeMap::new();
    for test in &suite.tools {
        let first = FirstCall {
            answer: answers.remove(&test.name),
            is_closed: page.is_closed(&test.tool),
        };
        waiting::tell(&format!("the second answer of {}", escape(&test.tool)));
        match call_again(session, &suite, test, &redactor, first).await {
            Ok(again) => {
                page.expect(&test.name, again.expect);
                recordings.insert(test.name.clone(), again.recording);
            }
            Err(why) => {
                session.client = None;
                page.drop_test(&test.name, &why);
            }
        }
    }
    Ok(recordings)
}

/// The first call of a test.
struct FirstCall {
    answer: Option<Value>,
    /// True if the tool declares that it reads nothing outside.
    is_closed: bool,
}

/// A test that was called a second time.
struct CalledAgain {
    recording: String,
    /// The expectations that both answers meet.
    expect: Vec<Expectation>,
}

/// Calls a test again. The error is the reason on the page for omitting the test.
async fn call_again(
    session: &mut DraftSession<'_>,
    suite: &Suite,
    test: &ToolTest,
    redactor: &Result<Redactor, Reason>,
    first: FirstCall,
) -> Result<CalledAgain, String> {
    let redactor = redactor.as_ref().map_err(|reason| reason.message.clone())?;
    let client = session.client().await.map_err(|error| short(&error))?;
    let recording = call_on(client, suite, test, redactor)
        .await
        .map_err(|reason| reason.message)?;
    let answer: Option<Value> = first.answer.map(|answer| {
        serde_json::from_str(&redactor.json(&answer.to_string())).unwrap_or_default()
    });
    let expect = expected_of(
        &recording,
        answer.as_ref(),
        test.args.as_ref(),
        first.is_closed,
    )?;
    Ok(CalledAgain { recording, expect })
}

fn expected_of(
    recording: &str,
    first: Option<&Value>,
    args: Option<&Value>,
    is_closed: bool,
) -> Result<Vec<Expectation>, String> {
    let (_, outcome) =
        parse_recording(recording.as_bytes()).map_err(|problem| problem.to_string())?;
    if let Some(failure) = outcome.failure {
        return Err(yaml::comment(&failure));
    }
    match (expected_failure(&outcome), value_of(outcome.result), first) {
        (None, Some(second), Some(first)) => Ok(expectations(
            first,
            &second,
            args.unwrap_or(&Value::Null),
            is_closed,
        )),
        (Some(expect), _, None) => Ok(expect),
        _ => Err("its second answer differed".to_owned()),
    }
}

/// Redacts the recordings: the suite's own secrets, and all values in the environment under a
/// secret name, because a tool may return them.
fn redactor(suite: &Suite, context: &DraftContext<'_>) -> Result<Redactor, Reason> {
    let DraftContext {
        variables,
        environment,
        ..
    } = *context;
    let of_environment = environment.iter().filter(|(name, _)| is_secret_name(name));
    let values = suite.secret_values(&|name| {
        variables
            .get(name)
            .or_else(|| environment.get(name))
            .cloned()
    });
    let all = values.iter().chain(variables).chain(of_environment);
    let builder = all.fold(Redactor::builder(), |builder, (name, value)| {
        builder.value(name, value)
    });
    builder
        .build()
        .map_err(|problems| mcptest_replay::refused(&problems))
}

/// The server's own name as a suite would call it: the last part, in small letters.
fn name_of(own: &str, program: &str) -> String {
    let slug = |text: &str| {
        let last = text
            .rsplit('/')
            .find(|part| !part.is_empty())
            .unwrap_or_default();
        let words: Vec<String> = last
            .split(|c: char| !c.is_ascii_alphanumeric())
            .filter(|word| !word.is_empty())
            .map(str::to_ascii_lowercase)
            .collect();
        words.join("-")
    };
    [slug(own), slug(program), "server".to_owned()]
        .into_iter()
        .find(|name| !name.is_empty())
        .unwrap_or_default()
}

impl Page {
    fn is_closed(&self, tool: &str) -> bool {
        self.tools
            .iter()
            .any(|listed| listed.name == tool && listed.is_closed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_called_by_the_last_part_of_its_own_name() {
        assert_eq!(name_of("mcp-servers/everything", "npx"), "everything");
        assert_eq!(name_of("My Weather (beta)", "npx"), "my-weather-beta");
        assert_eq!(name_of("天気", "weather_server"), "weather-server");
        assert_eq!(name_of("", "天気"), "server");
    }
}
