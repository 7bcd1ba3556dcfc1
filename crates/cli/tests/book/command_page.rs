//! What is on the page of commands?

use clap::{Arg, Command};
use mcptest::{COMMANDS, PROGRAM};
use mcptest_command::Group as Purpose;
use std::fmt::Write as _;

/// Options that every command has. The page explains them once.
const GLOBAL: [&str; 3] = ["color", "help", "version"];

/// The heading of options that are under none in the help.
const PLAIN: &str = "Option";

/// A command refers to an earlier one for a group of at least this many options that both have.
const LEAST_SHARED: usize = 3;

/// A command or a subcommand, with all the words that call it.
struct Entry {
    words: String,
    command: Command,
}

/// The options under one heading of the help.
#[derive(PartialEq)]
struct Group {
    heading: String,
    rows: Vec<Row>,
}

/// An option or an argument.
#[derive(PartialEq)]
struct Row {
    name: String,
    written: String,
    effect: String,
}

impl Entry {
    fn groups(&self) -> Vec<Group> {
        let mut groups: Vec<Group> = Vec::new();
        for argument in self.command.get_arguments() {
            if argument.is_hide_set() || GLOBAL.contains(&argument.get_id().as_str()) {
                continue;
            }
            let heading = argument.get_help_heading().unwrap_or(PLAIN);
            let row = Row {
                name: name(argument),
                written: written(argument),
                effect: effect(argument),
            };
            match groups.iter_mut().find(|group| group.heading == heading) {
                Some(group) => group.rows.push(row),
                None => groups.push(Group {
                    heading: heading.to_owned(),
                    rows: vec![row],
                }),
            }
        }
        groups.sort_by_key(|group| group.heading != PLAIN);
        groups
    }

    /// Returns true if the command has all these options under this heading.
    fn has(&self, heading: &str, rows: &[Row]) -> bool {
        self.groups()
            .iter()
            .filter(|group| group.heading == heading)
            .any(|group| rows.iter().all(|row| group.rows.contains(row)))
    }

    fn heading(&self) -> String {
        format!("mcptest {}", self.words)
    }

    fn link(&self) -> String {
        format!(
            "[`{}`](#{})",
            self.heading(),
            self.heading().replace(' ', "-")
        )
    }
}

/// The page: the commands by purpose, then each with its usage, an example and its options.
pub(crate) fn page() -> String {
    let mut program = PROGRAM.to_clap();
    program.build();
    let mut page = String::from(
        "# Every command\n\n\
         `mcptest COMMAND --help` prints the options of a command in the terminal. `--color WHEN` works with every \
         command: `auto` colours output on a terminal unless `NO_COLOR` is set; `always` and `never` force the choice.\n",
    );
    let mut earlier = Vec::new();
    for group in Purpose::LISTED {
        let entries = entries(&program, group);
        let _ = write!(
            page,
            "\n## {}\n\n| Command | Purpose |\n|---|---|\n",
            group.heading()
        );
        for entry in &entries {
            let _ = writeln!(page, "| {} | {} |", entry.link(), about(&entry.command));
        }
        for entry in entries {
            page.push_str(&section(&entry, &earlier));
            earlier.push(entry);
        }
    }
    page
}

/// The commands of a group. A command with subcommands is replaced by them.
fn entries(program: &Command, group: Purpose) -> Vec<Entry> {
    let mut entries = Vec::new();
    for kind in COMMANDS.iter().filter(|kind| kind.group == group) {
        let command = program.find_subcommand(kind.name).unwrap();
        if !command.has_subcommands() {
            entries.push(Entry {
                words: kind.name.to_owned(),
                command: command.clone(),
            });
        }
        for below in command.get_subcommands() {
            entries.push(Entry {
                words: format!("{} {}", kind.name, below.get_name()),
                command: below.clone(),
            });
        }
    }
    entries
}

fn about(command: &Command) -> String {
    command.get_about().unwrap().to_string()
}

fn section(entry: &Entry, earlier: &[Entry]) -> String {
    let mut command = entry.command.clone();
    let usage = command.render_usage().to_string();
    let usage: Vec<&str> = usage
        .trim_start_matches("Usage:")
        .lines()
        .map(str::trim)
        .collect();
    let help = command.get_after_long_help().unwrap().to_string();
    let example = help.strip_prefix("Example:\n  ").unwrap();
    let mut text = format!(
        "\n### {}\n\n{}.\n\n```text\n{}\n```\n\nExample: `{example}`\n",
        entry.heading(),
        about(&entry.command),
        usage.join("\n"),
    );

    if let Some(other) = earlier
        .iter()
        .find(|other| has_every_option_of(entry, other))
    {
        let _ = write!(text, "\nTakes the options of {}.\n", other.link());
        return text;
    }
    for Group { heading, rows } in entry.groups() {
        let same = earlier.iter().find(|other| other.has(&heading, &rows));
        if let Some(other) = same.filter(|_| heading != PLAIN && rows.len() >= LEAST_SHARED) {
            let names: Vec<String> = rows.iter().map(|row| format!("`{}`", row.name)).collect();
            let _ = write!(
                text,
                "\n**{heading}** (see {}): {}.\n",
                other.link(),
                names.join(", ")
            );
            continue;
        }
        let _ = write!(text, "\n| {heading} | Effect |\n|---|---|\n");
        for row in rows {
            let _ = writeln!(text, "| {} | {} |", cell(&row.written), cell(&row.effect));
        }
    }
    text
}

fn has_every_option_of(entry: &Entry, other: &Entry) -> bool {
    entry
        .groups()
        .iter()
        .map(|group| group.rows.len())
        .sum::<usize>()
        >= LEAST_SHARED
        && entry.groups() == other.groups()
}

/// The option without its value: `--filter`, `PATH`.
fn name(argument: &Arg) -> String {
    match argument.get_long() {
        Some(long) => format!("--{long}"),
        None => value_name(argument),
    }
}

fn value_name(argument: &Arg) -> String {
    let names = argument.get_value_names().unwrap_or_default();
    let names: Vec<&str> = names.iter().map(|name| name.as_str()).collect();
    names.join(" ")
}

/// The option as it is written: `-o`, `--out FILE`.
fn written(argument: &Arg) -> String {
    let Some(long) = argument.get_long() else {
        let many = if argument
            .get_num_args()
            .is_some_and(|range| range.max_values() > 1)
        {
            "…"
        } else {
            ""
        };
        return format!("`{}{many}`", value_name(argument));
    };
    let short = argument
        .get_short()
        .map_or_else(String::new, |short| format!("`-{short}`, "));
    let takes_value = argument.get_action().takes_values();
    let is_optional = argument
        .get_num_args()
        .is_some_and(|range| range.min_values() == 0);
    let value = match (takes_value, is_optional) {
        (false, _) => String::new(),
        (true, false) if argument.is_require_equals_set() => format!("={}", value_name(argument)),
        (true, false) => format!(" {}", value_name(argument)),
        (true, true) => format!("[={}]", value_name(argument)),
    };
    format!("{short}`--{long}{value}`")
}

/// Its help, with the values that it takes.
fn effect(argument: &Arg) -> String {
    let help = argument.get_long_help().or_else(|| argument.get_help());
    let mut effect = help.unwrap().to_string().replace('\n', " ");
    if !argument.get_action().takes_values() {
        return effect;
    }
    let values: Vec<String> = argument
        .get_possible_values()
        .iter()
        .map(|value| match value.get_help() {
            Some(help) => format!(
                "`{}`: {}",
                value.get_name(),
                in_a_sentence(&help.to_string())
            ),
            None => format!("`{}`", value.get_name()),
        })
        .collect();
    if !values.is_empty() {
        let _ = write!(effect, ". {}", values.join("; "));
    }
    let defaults: Vec<String> = argument
        .get_default_values()
        .iter()
        .map(|value| value.to_string_lossy().into_owned())
        .collect();
    if !defaults.is_empty() {
        let _ = write!(effect, " [default: {}]", defaults.join(", "));
    }
    effect
}

fn in_a_sentence(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| {
        first.to_lowercase().chain(characters).collect()
    })
}

/// A bar within a cell does not end it.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}
