//! `mcptest tool-bench`: for which requests is which tool chosen?

use super::surface::{self, Surface};
use super::surface_files;
use crate::surface::SurfaceTool;
use crate::surface::bench::{Choice, Intents, Mutation, NONE, SelectorChoices, lexical, mutations};
use clap::Args;
use mcptest_command::{
    EXIT_DRIFT, Failure, Group, Paint, Program, RunCommand, output, server, waiting,
};
use mcptest_core::escape::{escape, escape_path};
use mcptest_core::words::count;
use mcptest_files as files;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Arguments of `tool-bench`.
#[derive(Debug, Args)]
pub(crate) struct ToolBench {
    /// Requests with the tools that are right for each (YAML).
    #[arg(value_name = "INTENTS")]
    intents: PathBuf,
    /// The server's name under `servers:` of the suite; optional if there is only one.
    #[arg(long = "server", value_name = "NAME", conflicts_with_all = ["from", "command", "url", "words"])]
    name: Option<String>,
    #[command(flatten)]
    surface: Surface,
    /// Report how small changes to each tool affect the choices.
    #[arg(long)]
    mutate: bool,
    /// Write a suite that asks the `models:` of INTENTS for each request, against a mock of the tools.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["mutate", "recorded", "json", "min_accuracy"])]
    write_suite: Option<PathBuf>,
    /// Also read which tools models chose, from the recordings of the suite that `--write-suite` wrote.
    #[arg(long, value_name = "SUITE")]
    recorded: Option<PathBuf>,
    /// Exit with 6 when fewer than PERCENT of the choices are right.
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u8).range(0..=100))]
    min_accuracy: Option<u8>,
    /// Print the choices as JSON.
    #[arg(long)]
    json: bool,
}

impl RunCommand for ToolBench {
    const NAME: &'static str = "tool-bench";
    const GROUP: Group = Group::Look;
    const SUMMARY: &'static str = "Measure which tool of a server is chosen for which request";
    const EXAMPLE: &'static str = "mcptest tool-bench examples/intents/weather.yml -- mcptest mock --tools-from examples/mocks/weather-billed.yml";

    fn run(self, program: &Program) -> Result<u8, Failure> {
        let text = files::read_named_text(&self.intents, files::TEXT)
            .map_err(|error| Failure::at(&self.intents, files::reason(&error)))?;
        let tools = surface::tools(&self.surface, self.name.as_deref(), program.gates)?;
        if tools.is_empty() {
            return Err(surface::no_tools());
        }
        let intents = Intents::read(&self.intents.display().to_string(), text, &tools)
            .map_err(|(problems, sources)| Failure::of_problems(&problems, &sources))?;
        if let Some(path) = &self.write_suite {
            return write_suite(path, &tools, &intents);
        }
        waiting::tell(&format!(
            "the choices of {} among {}",
            count(intents.intents.len(), "request"),
            count(tools.len(), "tool")
        ));
        let mut selectors = vec![lexical(&tools, &intents.intents)];
        if let Some(path) = &self.recorded {
            let suite = server::suite_at(path, program.gates)?;
            selectors.extend(
                of_models(&suite, &tools, &intents).map_err(|reason| Failure::at(path, reason))?,
            );
        }
        let changes = if self.mutate {
            mutations(&tools, &intents.intents)
        } else {
            Vec::new()
        };
        self.show(&selectors, &changes)?;
        let floor = usize::from(self.min_accuracy.unwrap_or(0));
        let is_low = |chosen: &SelectorChoices| chosen.right() * 100 < floor * chosen.choices.len();
        Ok(if selectors.iter().any(is_low) {
            EXIT_DRIFT
        } else {
            0
        })
    }
}

impl ToolBench {
    fn show(&self, selectors: &[SelectorChoices], changes: &[Mutation]) -> Result<(), Failure> {
        if self.json {
            return output::stdout(as_json(selectors, changes).as_bytes());
        }
        let paint = Paint::stdout();
        let mut text: String = selectors
            .iter()
            .map(|chosen| render(chosen, paint))
            .collect();
        if self.mutate {
            text.push_str(&told(changes, paint));
        }
        output::page(&format!("{}\n", text.trim_end()))
    }
}

fn write_suite(path: &Path, tools: &[SurfaceTool], intents: &Intents) -> Result<u8, Failure> {
    if intents.models.is_empty() {
        let help = "list them there: `models: [claude-sonnet-4-5]`";
        return Err(Failure::with_help(
            "the intents name no models to ask",
            help,
        ));
    }
    surface_files::write_bench(path, tools, intents)
        .map_err(|error| Failure::new(mcptest_replay::reason(&error)))?;
    let path = escape_path(path);
    output::stderr(&format!(
        "wrote {path}\nnext:\n  mcptest run {path} --record\n  mcptest tool-bench INTENTS --from TOOLS --recorded {path}\n"
    ));
    Ok(0)
}

/// The choices of each model in its recorded runs of requests that are intents.
fn of_models(
    suite: &mcptest_core::Suite,
    tools: &[SurfaceTool],
    intents: &Intents,
) -> Result<Vec<SelectorChoices>, String> {
    let chosen = surface_files::first_choices(suite)?;
    let models: BTreeSet<&String> = chosen.iter().map(|one| &one.model).collect();
    let of_model = |model: &String| {
        let mine = chosen.iter().filter(|one| one.model == *model);
        let intent = |ask: &str| intents.intents.iter().find(|intent| intent.ask == ask);
        SelectorChoices::new(
            model,
            tools,
            mine.filter_map(|one| Some((intent(&one.ask)?, one.tool.clone())))
                .collect(),
        )
    };
    Ok(models.into_iter().map(of_model).collect())
}

fn as_json(selectors: &[SelectorChoices], changes: &[Mutation]) -> String {
    let of_selector = |chosen: &SelectorChoices| -> Value {
        let interval = chosen
            .interval()
            .map(|interval| [interval.lower, interval.upper]);
        let rounded = interval.map(|both| both.map(|bound| (bound * 1e6).round() / 1e6));
        json!({
            "selector": chosen.selector, "right": chosen.right(), "of": chosen.choices.len(), "wilson_95": rounded,
            "matrix": chosen.matrix(), "attracted": chosen.attracted(), "choices": chosen.choices,
        })
    };
    let selectors: Vec<Value> = selectors.iter().map(of_selector).collect();
    let document = json!({ "format": "mcptest-tool-bench", "version": 1, "selectors": selectors, "mutations": changes });
    serde_json::to_string_pretty(&document).unwrap_or_default() + "\n"
}

fn percent(share: f64) -> u32 {
    (share * 100.0).floor() as u32
}

fn render(chosen: &SelectorChoices, paint: Paint) -> String {
    let (right, of) = (chosen.right(), chosen.choices.len());
    let mut text = format!(
        "{}: {right} of {} right",
        paint.bold(&escape(&chosen.selector)),
        count(of, "choice")
    );
    if let Some(interval) = chosen.interval() {
        let (low, high) = (percent(interval.lower), percent(interval.upper));
        text.push_str(&format!(
            ", {}% (Wilson 95%: {low}% to {high}%)",
            right * 100 / of
        ));
    }
    text.push('\n');
    for choice in chosen.choices.iter().filter(|choice| !choice.is_right) {
        text.push_str(&format!("  {}\n", wrong(choice)));
    }
    for (tool, asks) in chosen.attracted() {
        let s = if asks.len() == 1 {
            "request that is"
        } else {
            "requests that are"
        };
        text.push_str(&format!(
            "  {} attracts {} {s} for other tools\n",
            escape(&tool),
            asks.len()
        ));
    }
    text + &matrix(chosen, paint) + "\n"
}

fn wrong(choice: &Choice) -> String {
    let chosen = choice.chosen.as_deref().unwrap_or(NONE);
    let right = if choice.right.is_empty() {
        NONE.to_owned()
    } else {
        choice.right.join(" or ")
    };
    format!(
        "\"{}\": {} was chosen; {} is right\n",
        escape(&choice.ask),
        escape(chosen),
        escape(&right)
    )
}

/// A row for each tool that is right, a column for each that was chosen, by their numbers.
fn matrix(chosen: &SelectorChoices, paint: Paint) -> String {
    let matrix = chosen.matrix();
    let names: BTreeSet<&String> = matrix
        .iter()
        .flat_map(|(row, cells)| cells.keys().chain([row]))
        .collect();
    let widest = names
        .iter()
        .map(|name| escape(name).chars().count())
        .max()
        .unwrap_or(0);
    let numbers: Vec<String> = (1..=names.len())
        .map(|number| format!("{number:>4}"))
        .collect();
    let numbers = numbers.concat();
    let head = format!("{:widest$}    {numbers}", "");
    let mut text = format!(
        "\n  {}\n  {}\n",
        paint.dim("rows are right, columns were chosen"),
        paint.dim(&head)
    );
    for (at, name) in names.iter().enumerate() {
        let cell = |chosen: &&String| match matrix.get(*name).and_then(|cells| cells.get(*chosen)) {
            Some(count) => format!("{count:>4}"),
            None => "   .".to_owned(),
        };
        let cells: String = names.iter().map(cell).collect();
        text.push_str(&format!(
            "  {:>2} {:widest$} {cells}\n",
            at + 1,
            escape(name)
        ));
    }
    text
}

fn told(changes: &[Mutation], paint: Paint) -> String {
    let (telling, idle): (Vec<&Mutation>, Vec<&Mutation>) = changes
        .iter()
        .partition(|one| !one.lost.is_empty() || !one.won.is_empty());
    let mut text = format!("{}\n", paint.bold("Changes to one tool"));
    for one in &telling {
        let asks = |word: &str, asks: &[String]| {
            let quoted: Vec<String> = asks
                .iter()
                .map(|ask| format!("\"{}\"", escape(ask)))
                .collect();
            if asks.is_empty() {
                String::new()
            } else {
                format!("; {word} {}", quoted.join(", "))
            }
        };
        let (lost, won) = (asks("loses", &one.lost), asks("wins", &one.won));
        let (tool, change) = (escape(&one.tool), escape(&one.change));
        text.push_str(&format!(
            "  {tool}, {change}: {} right, {} before{lost}{won}\n",
            one.after, one.before
        ));
    }
    text + &format!(
        "  {} of {} change no choice\n",
        idle.len(),
        count(changes.len(), "change")
    )
}
