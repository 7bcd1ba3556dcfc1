//! `mcptest tools`: what can this server do?

use clap::Args;
use mcptest_command::server::Server;
use mcptest_command::{BareServer, Failure, Group, Paint, Program, RunCommand, output, server};

use mcptest_command::arguments::kind;
use mcptest_core::escape::{clipped, escape};
use mcptest_core::json::Members;
use mcptest_core::problem::did_you_mean;
use mcptest_core::provider::{FAMILIES, Family};
use mcptest_core::suite::ToolSchemas;
use mcptest_core::tool_schema::Offer;
use mcptest_core::words::count;
use mcptest_mcp::client::{Client, Observed, ServerInfo, Tool};
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::BTreeSet;

/// Arguments of `tools`.
#[derive(Debug, Args)]
pub(crate) struct Tools {
    /// The server's name under `servers:` of the suite; optional if there is only one.
    #[arg(value_name = "NAME", conflicts_with_all = ["command", "url", "words"])]
    name: Option<String>,
    #[command(flatten)]
    server: Server,
    /// Print the tools as JSON, as the server sent them (readable by `mcptest mock --tools-from`).
    #[arg(long)]
    json: bool,
    #[arg(long = "for", value_name = "PROVIDER", conflicts_with = "json", help = families_help())]
    provider: Option<String>,
}

fn families_help() -> String {
    let names: Vec<&str> = mcptest_core::provider::FAMILIES
        .iter()
        .map(|family| family.name)
        .collect();
    format!(
        "Report what PROVIDER refuses in the tools' schemas, and what is sent instead [providers: {}]",
        names.join(", ")
    )
}

impl RunCommand for Tools {
    const NAME: &'static str = "tools";
    const GROUP: Group = Group::Look;
    const SUMMARY: &'static str = "List the tools of an MCP server";
    const EXAMPLE: &'static str = "mcptest tools -- npx -y @modelcontextprotocol/server-everything";
    const SERVER: Option<BareServer> = Some(BareServer::after_words(0));

    fn run(self, program: &Program) -> Result<u8, Failure> {
        let family = self.provider.as_deref().map(family).transpose()?;
        let spec = server::spec_of_one_exchange(self.name.as_deref(), &self.server, program.gates)?;
        let paint = Paint::stdout();
        server::speak(async {
            let client = Client::connect(&spec, None).await?;
            let listed = client.list_tools().await;
            let info = client.server().clone();
            let seen = client.close().await.observed;
            let listed = listed?;
            match family {
                Some(family) => output::page(&refusals(&spec.name, &listed.tools, family, paint))?,
                None if self.json => output::stdout(as_json(&listed.tools).as_bytes())?,
                None => output::page(&render(&info, &listed.tools, paint))?,
            }
            output::notes(&notes(listed.complaints.iter().chain(&seen)));
            Ok(0)
        })
    }
}

/// The providers of this name.
fn family(name: &str) -> Result<&'static Family, Failure> {
    Family::named(name).ok_or_else(|| {
        let known = FAMILIES.iter().map(|family| family.name);
        let help = did_you_mean(name, known.clone(), || {
            format!("the providers are {}", known.collect::<Vec<_>>().join(", "))
        });
        Failure::with_help(format!("no provider is named `{name}`"), help)
    })
}

/// The constructs in the tools that these providers refuse, with their replacements.
fn refusals(server: &str, tools: &[Tool], family: &Family, paint: Paint) -> String {
    let listed = tools.iter().map(|tool| tool.clone().into_catalogue(server));
    let offer = Offer::new(listed.collect(), family, ToolSchemas::Mend);
    let mut text = String::new();
    for tool in offer
        .catalogue
        .iter()
        .filter(|tool| !tool.mended.is_empty())
    {
        text.push_str(&format!("{}\n", paint.bold(&escape(&tool.name))));
        text.extend(
            tool.mended
                .iter()
                .map(|mend| format!("    {}\n", escape(mend))),
        );
    }
    for left in &offer.left_out {
        text.push_str(&format!(
            "{}\n    {}: it is omitted\n",
            paint.bold(&escape(&left.tool)),
            escape(&left.why)
        ));
    }
    let taken = offer
        .catalogue
        .iter()
        .filter(|tool| tool.mended.is_empty())
        .count();
    let gap = if text.is_empty() { "" } else { "\n" };
    text + &format!(
        "{gap}{} accepts {taken} of {} tools unchanged\n",
        family.title,
        tools.len()
    )
}

/// The oddities, a line each, for standard error. A request, a log line or a notification of a server is not an
/// oddity of its tools.
pub(super) fn notes<'o>(observed: impl Iterator<Item = &'o Observed>) -> String {
    let odd = observed.filter(|one| !one.is_usual());
    let lines = odd.map(|one| format!("note: {}\n", escape(&one.to_string())));
    let mut seen = BTreeSet::new();
    lines.filter(|line| seen.insert(line.clone())).collect()
}

/// The tools as they were sent, one to a line.
fn as_json(tools: &[Tool]) -> String {
    let lines: Vec<String> = tools
        .iter()
        .map(|tool| format!("    {}", tool.raw.get().replace(['\n', '\r'], " ")))
        .collect();
    if lines.is_empty() {
        return "{\n  \"tools\": []\n}\n".to_owned();
    }
    format!("{{\n  \"tools\": [\n{}\n  ]\n}}\n", lines.join(",\n"))
}

fn render(info: &ServerInfo, tools: &[Tool], paint: Paint) -> String {
    let count = if tools.is_empty() {
        "no tools".to_owned()
    } else {
        count(tools.len(), "tool")
    };
    let name = if info.name.is_empty() {
        "a server without a name"
    } else {
        &info.name
    };
    let version = if info.version.is_empty() {
        String::new()
    } else {
        format!(" {}", escape(&info.version))
    };
    let mut text = format!(
        "{}{version} {}: {count}\n",
        paint.bold(&escape(name)),
        paint.dim(&format!(
            "(MCP {}, {})",
            escape(&info.protocol_version),
            info.era.as_str()
        )),
    );
    for tool in tools {
        text.push('\n');
        text.push_str(&one(tool, paint));
    }
    text
}

fn one(tool: &Tool, paint: Paint) -> String {
    let about = tool
        .description
        .as_deref()
        .or(tool.title.as_deref())
        .map(first_line)
        .unwrap_or_default();
    let gap = if about.is_empty() { "" } else { "  " };
    let mut text = format!("{}{gap}{about}\n", paint.bold(&escape(&tool.name)));
    let rows = arguments(tool.input_schema.get());
    let widest = |cell: fn(&ToolRow) -> &String| {
        rows.iter()
            .map(|row| cell(row).chars().count())
            .max()
            .unwrap_or(0)
    };
    let (names, kinds) = (widest(|row| &row.name), widest(|row| &row.kind).min(40));
    for row in &rows {
        let mark = if row.is_required {
            "required"
        } else {
            "        "
        };
        let name = format!("{:names$}", row.name);
        let line = format!(
            "    {}  {:kinds$}  {mark}  {}",
            paint.bold(&name),
            row.kind,
            paint.dim(&row.about)
        );
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

struct ToolRow {
    name: String,
    kind: String,
    is_required: bool,
    about: String,
}

/// The arguments in the schema's own order, required ones first.
fn arguments(schema: &str) -> Vec<ToolRow> {
    let schema = Members::read(schema);
    let required: Vec<Value> = schema
        .get("required")
        .and_then(|names| serde_json::from_str(names.get()).ok())
        .unwrap_or_default();
    let properties = schema
        .get("properties")
        .map_or_else(Members::default, |all| Members::read(all.get()));
    let row = |(name, property): (String, Box<RawValue>)| {
        let property: Value = serde_json::from_str(property.get()).unwrap_or_default();
        ToolRow {
            kind: kind(&property),
            is_required: required.iter().any(|one| *one == name),
            about: property["description"]
                .as_str()
                .map(first_line)
                .unwrap_or_default(),
            name: escape(&name).into_owned(),
        }
    };
    let mut rows: Vec<ToolRow> = properties.0.into_iter().map(row).collect();
    rows.sort_by_key(|row| !row.is_required);
    rows
}

/// The first line that says something, short enough for a list.
fn first_line(text: &str) -> String {
    const LONGEST: usize = 100;
    let line = text
        .lines()
        .map(str::trim)
        .find(|line| !line.is_empty())
        .unwrap_or_default();
    clipped(line, LONGEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn required_arguments_come_first_and_the_rest_keeps_its_order() {
        let schema = r#"{"properties": {
            "z": {"type": "string"}, "a": {"type": "string"},
            "m": {"type": "number", "description": "\n  How many\nmore"}, "b": {}
        }, "required": ["b", "m"]}"#;
        let rows = arguments(schema);
        let names: Vec<&str> = rows.iter().map(|row| row.name.as_str()).collect();
        assert_eq!(names, ["m", "b", "z", "a"]);
        assert_eq!(rows[0].about, "How many");
        assert!(rows[1].is_required && !rows[2].is_required);
    }
}
