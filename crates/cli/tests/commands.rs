//! Is every entry in the list of commands complete, and is every command line that a report
//! suggests accepted?

#![allow(clippy::unwrap_used, missing_docs)]

use mcptest::{COMMANDS, PROGRAM};
use mcptest_command::Patience;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The command line with the arguments of every command.
fn described() -> clap::Command {
    let mut command = PROGRAM.to_clap();
    command.build();
    command
}

#[test]
fn every_entry_has_a_name_of_its_own() {
    let names: BTreeSet<&str> = COMMANDS.iter().map(|kind| kind.name).collect();
    assert_eq!(names.len(), COMMANDS.len());
}

#[test]
fn every_command_that_ends_says_what_it_waits_for() {
    let silent = COMMANDS
        .iter()
        .filter(|kind| kind.patience == Patience::UntilItIsStopped);
    let silent: Vec<&str> = silent.map(|kind| kind.name).collect();
    assert_eq!(
        silent,
        ["score", "view", "proxy", "mock", "mcp", "bridge"],
        "these follow a stream or serve until they are stopped; every other command has an end that a user waits for"
    );
}

#[test]
fn every_entry_says_what_it_does_in_one_line() {
    for kind in COMMANDS {
        let summary = kind.summary;
        assert!(summary.starts_with(char::is_uppercase), "{}", kind.name);
        assert!(!summary.ends_with('.'), "{}", kind.name);
        // The help is a template of clap, in which braces mean something.
        assert!(!summary.contains(['\n', '{', '}']), "{}", kind.name);
        let command = described();
        let about = command.find_subcommand(kind.name).unwrap().get_about();
        assert_eq!(about.unwrap().to_string(), summary);
    }
}

#[test]
fn every_entry_is_listed_with_its_neighbours_and_has_its_page() {
    let help = PROGRAM.to_clap().render_long_help().to_string();
    let page = fs::read_to_string(repository().join("docs/reference/cli.md")).unwrap();
    let (mut in_help, mut in_page) = (0, 0);
    for kind in COMMANDS {
        let (line, heading) = (
            format!("\n  {} ", kind.name),
            format!("\n### mcptest {}", kind.name),
        );
        if !kind.is_listed() {
            assert!(!help.contains(&line) && !page.contains(&heading));
            continue;
        }
        // In the order of the list: a group that is written in two places would be listed in one.
        in_help = after(&help, &line, in_help);
        in_page = after(&page, &heading, in_page);
    }
}

/// The place of a part of the text, which must be after `before`.
fn after(text: &str, part: &str, before: usize) -> usize {
    let at = text.find(part);
    assert!(at.is_some_and(|at| at > before), "{part}");
    at.unwrap()
}

#[test]
fn every_example_is_a_command_line_that_is_accepted() {
    fn check(command: &clap::Command, name: &str) {
        for below in command.get_subcommands() {
            check(below, &format!("{name} {}", below.get_name()));
        }
        let Some(help) = command.get_after_long_help() else {
            return assert_eq!(name, "mcptest", "{name} has no example");
        };
        let help = help.to_string();
        let example = help.strip_prefix("Example:\n  ").unwrap();
        assert!(example.starts_with(name), "{name}: {example}");
        let accepted = example.split(" > ").next().unwrap();
        let parsed = PROGRAM.to_clap().try_get_matches_from(words(accepted));
        assert!(parsed.is_ok(), "{example}\n{}", parsed.err().unwrap());
    }
    check(&described(), "mcptest");
}

#[test]
fn programs_call_one_command() {
    let hidden = COMMANDS.iter().filter(|kind| !kind.is_listed());
    let names: Vec<&str> = hidden.map(|kind| kind.name).collect();
    assert_eq!(names, ["bridge"]);
}

#[test]
fn every_argument_has_help_and_clap_finds_nothing_wrong() {
    fn check(command: &clap::Command, name: &str) {
        for argument in command.get_arguments() {
            let is_helped = argument
                .get_help()
                .is_some_and(|help| !help.to_string().is_empty());
            assert!(is_helped, "{name}: {}", argument.get_id());
        }
        for below in command.get_subcommands() {
            check(below, &format!("{name} {}", below.get_name()));
        }
    }
    PROGRAM.to_clap().debug_assert();
    check(&described(), "mcptest");
}

#[test]
fn a_command_that_takes_a_server_takes_its_command_after_dashes() {
    for kind in COMMANDS {
        let Some(server) = kind.server else {
            continue;
        };
        let command = described();
        let command = command.find_subcommand(kind.name).unwrap();
        let has = |is_so: fn(&clap::Arg, &str) -> bool| {
            let option = server.address_option.trim_start_matches("--");
            command
                .get_arguments()
                .any(|argument| is_so(argument, option))
        };
        assert!(has(|argument, _| argument.is_last_set()), "{}", kind.name);
        assert!(
            has(|argument, option| argument.get_long() == Some(option)),
            "{}",
            kind.name
        );
    }
}

/// The words of a command, split like a POSIX shell.
fn words(line: &str) -> Vec<OsString> {
    let words = shell_words::split(line).unwrap();
    words.into_iter().map(OsString::from).collect()
}

/// The command lines that the cases print after `$` or between backticks.
fn advised(case: &str) -> Vec<&str> {
    let after_dollar = case
        .lines()
        .filter_map(|line| line.trim_start_matches('!').strip_prefix("  $ "));
    let in_help = case
        .lines()
        .filter(|line| line.contains("help: "))
        .flat_map(|line| line.split('`'));
    after_dollar
        .chain(in_help.filter(|part| part.starts_with("mcptest run ")))
        .collect()
}

#[test]
fn every_command_that_a_report_advises_is_accepted() {
    let mut commands = 0;
    for group in fs::read_dir(repository().join("tests/cases")).unwrap() {
        for case in fs::read_dir(group.unwrap().path()).unwrap() {
            let Ok(text) = fs::read_to_string(case.unwrap().path().join("case.txt")) else {
                continue;
            };
            for command in advised(&text) {
                commands += 1;
                let parsed = PROGRAM.to_clap().try_get_matches_from(words(command));
                assert!(parsed.is_ok(), "{command}\n{}", parsed.err().unwrap());
            }
        }
    }
    assert!(commands > 100, "{commands}");
}

fn refused(line: &str) -> String {
    match PROGRAM.parse(words(line)) {
        Ok(_) => "taken".to_owned(),
        Err(error) => match error.to_string().trim_end().split_once("follows `--`: ") {
            Some((_, meant)) => meant.to_owned(),
            None => format!("usage: {:?}", error.kind()),
        },
    }
}

#[test]
fn a_command_without_its_dashes_is_answered_with_the_line_that_was_meant() {
    for (line, meant) in [
        (
            "mcptest tools npx -y my-server",
            "mcptest tools -- npx -y my-server",
        ),
        (
            "mcptest tools --json npx my-server",
            "mcptest tools --json -- npx my-server",
        ),
        (
            "mcptest check --only EDGE npx x -y",
            "mcptest check --only EDGE -- npx x -y",
        ),
        (
            "mcptest call add a=1 b=2 python3 server.py",
            "mcptest call add a=1 b=2 -- python3 server.py",
        ),
        (
            "mcptest call add a=1 npx -y x",
            "mcptest call add a=1 -- npx -y x",
        ),
        (
            "mcptest init --call 'add a=1' npx 'a b'",
            "mcptest init --call 'add a=1' -- npx 'a b'",
        ),
        (
            "mcptest verify tape.jsonl npx x",
            "mcptest verify tape.jsonl -- npx x",
        ),
        (
            "mcptest proxy -o t.jsonl npx x --fast",
            "mcptest proxy -o t.jsonl -- npx x --fast",
        ),
    ] {
        assert_eq!(refused(line), meant, "{line}");
    }
}

#[test]
fn what_is_whole_or_wrong_otherwise_is_left_to_clap() {
    for (line, said) in [
        ("mcptest tools weather", "taken"),
        ("mcptest call add a=1 -- npx x", "taken"),
        ("mcptest call add slip -- npx x", "taken"),
        ("mcptest call add slip", "taken"),
        ("mcptest init --frce npx x", "usage: UnknownArgument"),
        ("mcptest proxy --out x", "usage: MissingRequiredArgument"),
        ("mcptest run npx --y", "usage: UnknownArgument"),
    ] {
        assert_eq!(refused(line), said, "{line}");
    }
}

#[test]
fn a_bare_address_is_the_servers() {
    for line in [
        "mcptest tools http://localhost:3000/mcp",
        "mcptest call add a=1 HTTPS://h/mcp?k=v",
        "mcptest init https://h/mcp --force",
        "mcptest verify tape.jsonl http://h/mcp --json",
        "mcptest proxy --out t.jsonl http://h/mcp --listen 127.0.0.1",
    ] {
        assert_eq!(refused(line), "taken", "{line}");
    }
}
