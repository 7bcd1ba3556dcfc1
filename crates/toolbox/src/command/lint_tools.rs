//! `mcptest lint-tools`: which defects do the tools of a server have, and how many tokens does each tool cost?

use super::surface::{self, Surface};
use super::surface_files;
use crate::surface::pin::{PinChange, Pins};
use crate::surface::{Finding, Linted, LintedTool, RULES, Rule, Severity, lint};
use clap::Args;
use mcptest_command::{EXIT_DRIFT, EXIT_FAILED, Failure, Group, Program, RunCommand, output};
use mcptest_core::escape::escape_path;
use mcptest_core::problem::did_you_mean;
use mcptest_core::report::Status;
use mcptest_core::words::count;
use mcptest_report::pretty::page::{Line, Page, style};
use serde_json::json;
use std::path::PathBuf;

/// Arguments of `lint-tools`.
#[derive(Debug, Args)]
pub(crate) struct LintTools {
    /// The server's name under `servers:` of the suite; optional if there is only one.
    #[arg(value_name = "NAME", conflicts_with_all = ["from", "command", "url", "words"])]
    name: Option<String>,
    #[command(flatten)]
    surface: Surface,
    /// Do not apply this rule; repeatable.
    #[arg(long, value_name = "RULE")]
    ignore: Vec<String>,
    /// Compare the tools with the baseline in FILE; exit with 6 if they differ.
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Write the names, descriptions and digests of the tools to FILE.
    #[arg(long, value_name = "FILE", conflicts_with = "baseline")]
    write_baseline: Option<PathBuf>,
    /// Print the findings as JSON.
    #[arg(long)]
    json: bool,
    /// Also print findings of severity info.
    #[arg(long, short)]
    verbose: bool,
}

impl RunCommand for LintTools {
    const NAME: &'static str = "lint-tools";
    const GROUP: Group = Group::Look;
    const SUMMARY: &'static str =
        "Report problems of the tools of an MCP server, and the tokens that each takes";
    const EXAMPLE: &'static str =
        "mcptest lint-tools -- npx -y @modelcontextprotocol/server-everything";

    fn run(self, program: &Program) -> Result<u8, Failure> {
        self.ignore.iter().try_for_each(|id| known(id).map(drop))?;
        let read = |path: &PathBuf| {
            surface_files::read_pins(path).map_err(|reason| Failure::at(path, reason))
        };
        let pins = self.baseline.as_ref().map(read).transpose()?;
        let tools = surface::tools(&self.surface, self.name.as_deref(), program.gates)?;
        let linted = lint(&tools, &self.ignore);
        let changes = pins.map(|pins| pins.changes(&tools)).unwrap_or_default();
        if self.json {
            output::stdout(as_json(&linted, &changes).as_bytes())?;
        } else {
            output::stdout(&render(&linted, &changes, self.verbose, output::new_page()))?;
        }
        if tools.is_empty() && changes.is_empty() {
            return Err(surface::no_tools());
        }
        if let Some(path) = &self.write_baseline {
            surface_files::write_pins(path, &Pins::new(&tools))
                .map_err(|error| Failure::at(path, mcptest_replay::reason(&error)))?;
            output::stderr(&format!(
                "wrote {} with {}\n",
                escape_path(path),
                count(tools.len(), "tool")
            ));
        }
        Ok(match linted.count(Severity::Critical) {
            0 if changes.is_empty() => 0,
            0 => EXIT_DRIFT,
            _ => EXIT_FAILED,
        })
    }
}

/// The rule of this id.
pub(super) fn known(id: &str) -> Result<&'static Rule, Failure> {
    Rule::named(id).ok_or_else(|| {
        let help = did_you_mean(id, RULES.iter().map(|rule| rule.id), || {
            "`mcptest explain tool_quality` lists the rules".to_owned()
        });
        Failure::with_help(format!("no rule is named `{id}`"), help)
    })
}

fn as_json(linted: &Linted, changes: &[PinChange]) -> String {
    let document = json!({
        "format": "mcptest-tool-lint",
        "version": 1,
        "min_score": linted.min_score(),
        "mean_score": linted.mean_score(),
        "critical_count": linted.count(Severity::Critical),
        "warning_count": linted.count(Severity::Warning),
        "info_count": linted.count(Severity::Info),
        "surface_tokens": linted.tokens(),
        "tools": linted.tools,
        "changes": changes,
    });
    serde_json::to_string_pretty(&document).unwrap_or_default() + "\n"
}

fn render(linted: &Linted, changes: &[PinChange], is_verbose: bool, mut page: Page) -> Vec<u8> {
    let mut met: Vec<&Rule> = Vec::new();
    for tool in &linted.tools {
        let told: Vec<&Finding> = tool
            .findings
            .iter()
            .filter(|one| is_verbose || one.severity > Severity::Info)
            .collect();
        if !told.is_empty() {
            of_tool(&mut page, tool, &told, &mut met);
        }
    }
    fixes(&mut page, met);
    for change in changes {
        page.line(
            &Line::at(0)
                .styled(style::BOLD, &change.tool)
                .plain(" ")
                .styled(style::RED, change.what),
        );
        for line in &change.lines {
            page.line(&Line::at(2).plain(line));
        }
    }
    if !changes.is_empty() {
        page.blank();
    }
    page.line(&Line::at(0).plain(sum(linted, changes.len(), is_verbose)));
    page.finish()
}

/// Prints the fix for each of these rules, in the order of the documentation.
fn fixes(page: &mut Page, mut met: Vec<&Rule>) {
    if met.is_empty() {
        return;
    }
    page.line(&Line::at(0).styled(style::BOLD, "Fixes"));
    let widest = met
        .iter()
        .map(|rule| rule.id.len())
        .max()
        .unwrap_or_default();
    met.sort_by_key(|rule| RULES.iter().position(|one| one.id == rule.id));
    for rule in met {
        page.line(
            &Line::at(2)
                .plain(format!("{:widest$}  {}", rule.id, rule.fix))
                .hanging_at(2 + widest + 2),
        );
    }
    page.blank();
}

/// A line that starts with the mark of the severity, as the report of a run has it.
fn marked(page: &Page, severity: Severity) -> Line {
    match severity {
        Severity::Critical => page.marked(2, Status::Failed),
        Severity::Warning => page.warned(2),
        Severity::Info => Line::at(2).styled(style::DIM, page.dot()).plain(" "),
    }
}

/// Prints a tool with its findings, a line for each rule.
fn of_tool(page: &mut Page, tool: &LintedTool, told: &[&Finding], met: &mut Vec<&'static Rule>) {
    let tokens = tool
        .tokens
        .map(|tokens| format!(", {}", count(tokens, "token")))
        .unwrap_or_default();
    let server = tool
        .server
        .as_ref()
        .map(|server| format!("{server}."))
        .unwrap_or_default();
    page.line(
        &Line::at(0)
            .styled(style::BOLD, format!("{server}{}", tool.name))
            .styled(style::DIM, format!("  score {}{tokens}", tool.score)),
    );
    for group in told.chunk_by(|one, next| one.rule == next.rule) {
        met.extend(
            Rule::named(group[0].rule).filter(|rule| met.iter().all(|known| known.id != rule.id)),
        );
        of_rule(page, group);
    }
    page.blank();
}

/// Prints the findings of one rule: the first in words, and the places of some.
fn of_rule(page: &mut Page, group: &[&Finding]) {
    let first = group[0];
    let more = match group.len() - 1 {
        0 => String::new(),
        more => format!(" (and {more} more)"),
    };
    page.line(&marked(page, first.severity).plain(format!(
        "{:8}  {}: {}{more}",
        first.severity.word(),
        first.rule,
        first.what
    )));
    let places: Vec<&str> = group.iter().take(5).map(|one| one.place.as_str()).collect();
    page.line(&Line::at(14).styled(style::DIM, places.join(" ")));
}

fn sum(linted: &Linted, changes: usize, is_verbose: bool) -> String {
    let tokens = linted
        .tokens()
        .map(|tokens| format!(", {} per request", count(tokens, "token")))
        .unwrap_or_default();
    let scores = linted.min_score().zip(linted.mean_score());
    let scores = scores.map(|(min, mean)| format!("; lowest score {min}, average {mean}"));
    let infos = linted.count(Severity::Info);
    let hint = if infos > 0 && !is_verbose {
        " (-v shows them)"
    } else {
        ""
    };
    let changed =
        (changes > 0).then(|| format!(", {} since the baseline", count(changes, "change")));
    format!(
        "{}{tokens}{}: {} critical, {}, {infos} info{hint}{}",
        count(linted.tools.len(), "tool"),
        scores.unwrap_or_default(),
        linted.count(Severity::Critical),
        count(linted.count(Severity::Warning), "warning"),
        changed.unwrap_or_default(),
    )
}
