//! `mcptest tools`: what can this server do?

use clap::Args;
use mcptest_command::server::Server;
use mcptest_command::{BareServer, Failure, Group, Program, RunCommand, output, server, waiting};

use mcptest_command::arguments::kind;
use mcptest_core::escape::{clipped, escape};
use mcptest_core::json::Members;
use mcptest_core::problem::did_you_mean;
use mcptest_core::provider::{FAMILIES, Family};
use mcptest_core::suite::ToolSchemas;
use mcptest_core::tool_schema::Offer;
use mcptest_core::words::count;
use mcptest_mcp::client::{Client, Observed, ServerInfo, Tool};
use mcptest_report::pretty::page::{Line, Page, columns, padded, style};
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::BTreeSet;

/// The indentation of an argument.
const INDENT: usize = 4;
/// Cells beyond this width do not push the columns after them further.
const WIDEST_CELL: usize = 40;
const REQUIRED: &str = "required";

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
        "Report what PROVIDER refuses in the tools' schemas, and what mcptest sends instead \
        [providers: {}]",
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
        server::speak(async {
            let client = Client::connect(&spec, None).await?;
            waiting::tell("the list of tools");
            let listed = client.list_tools().await;
            let info = client.server().clone();
            let seen = client.close().await.observed;
            let listed = listed?;
            match family {
                Some(family) => {
                    let text = refusals(&spec.name, &listed.tools, family, output::new_page());
                    output::stdout(&text)?;
                }
                None if self.json => output::stdout(as_json(&listed.tools).as_bytes())?,
                None => output::stdout(&render(&info, &listed.tools, output::new_page()))?,
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
fn refusals(server: &str, tools: &[Tool], family: &Family, mut page: Page) -> Vec<u8> {
    let listed = tools.iter().map(|tool| tool.clone().into_catalogue(server));
    let offer = Offer::new(listed.collect(), family, ToolSchemas::Mend);
    let (mended, taken): (Vec<_>, Vec<_>) = offer
        .catalogue
        .iter()
        .partition(|tool| !tool.mended.is_empty());
    for tool in &mended {
        page.line(&Line::at(0).styled(style::BOLD, &tool.name));
        for mend in &tool.mended {
            page.line(&Line::at(INDENT).plain(mend));
        }
    }
    for left in &offer.left_out {
        page.line(&Line::at(0).styled(style::BOLD, &left.tool));
        page.line(&Line::at(INDENT).plain(format!("{}: it is omitted", left.why)));
    }
    if !mended.is_empty() || !offer.left_out.is_empty() {
        page.blank();
    }
    page.line(&Line::at(0).plain(format!(
        "{} accepts {} of {} tools unchanged",
        family.title,
        taken.len(),
        tools.len()
    )));
    page.finish()
}

/// The irregularities, one line each, for standard error. A server's requests, log lines and
/// notifications are not irregularities of its tools.
pub(super) fn notes<'o>(observed: impl Iterator<Item = &'o Observed>) -> String {
    let odd = observed.filter(|one| !one.is_usual());
    let lines = odd.map(|one| format!("note: {}\n", escape(&one.to_string())));
    let mut seen = BTreeSet::new();
    lines.filter(|line| seen.insert(line.clone())).collect()
}

/// The tools as received, one per line.
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

fn render(info: &ServerInfo, tools: &[Tool], mut page: Page) -> Vec<u8> {
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
        format!(" {}", info.version)
    };
    let protocol = format!("(MCP {}, {})", info.protocol_version, info.era.as_str());
    page.line(
        &Line::at(0)
            .styled(style::BOLD, name)
            .plain(format!("{version} "))
            .styled(style::DIM, protocol)
            .plain(format!(": {count}")),
    );
    for tool in tools {
        page.blank();
        one(&mut page, tool);
    }
    page.finish()
}

fn one(page: &mut Page, tool: &Tool) {
    let about = tool
        .description
        .as_deref()
        .or(tool.title.as_deref())
        .map(first_line)
        .unwrap_or_default();
    let gap = if about.is_empty() { "" } else { "  " };
    page.line(
        &Line::at(0)
            .styled(style::BOLD, &tool.name)
            .plain(format!("{gap}{about}"))
            .hanging_at(INDENT),
    );
    let rows = arguments(tool.input_schema.get());
    let widest = |cell: fn(&ToolRow) -> &String| {
        rows.iter()
            .map(|row| columns(cell(row)))
            .max()
            .unwrap_or_default()
            .min(WIDEST_CELL)
    };
    let (names, kinds) = (widest(|row| &row.name), widest(|row| &row.kind));
    for row in &rows {
        let required = if row.is_required { REQUIRED } else { "" };
        let about_column = INDENT + names + 2 + kinds + 2 + REQUIRED.len() + 2;
        // Where the last column would be narrow, its text continues at the left.
        let hang = if about_column <= page.width / 2 {
            about_column
        } else {
            INDENT * 2
        };
        page.line(
            &Line::at(INDENT)
                .glued(style::BOLD, padded(&row.name, names))
                .plain("  ")
                .glued(style::PLAIN, padded(&row.kind, kinds))
                .plain("  ")
                .glued(style::PLAIN, padded(required, REQUIRED.len()))
                .plain("  ")
                .styled(style::DIM, &row.about)
                .hanging_at(hang),
        );
    }
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

/// The first non-empty line, shortened for a list.
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
