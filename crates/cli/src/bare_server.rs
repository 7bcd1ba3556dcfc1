//! What does a server mean that stands on the command line without `--` or `--url`?

use crate::args::Args;
use crate::output::Failure;
use clap::error::ErrorKind;
use clap::{ArgAction, Command, CommandFactory, Parser};
use mcptest_core::escape::escape;
use std::ffi::OsString;

/// The commands that take a server: the words before it that are their own, and the option for an address.
const COMMANDS: [(&str, usize, &str); 6] = [
    ("tools", 0, "--url"),
    ("check", 0, "--url"),
    ("call", 1, "--url"),
    ("init", 0, "--url"),
    ("verify", 1, "--url"),
    ("proxy", 0, "--target"),
];

/// What names a server, so that no bare word does.
const NAMED: [&str; 7] = ["--", "--url", "--target", "--command", "--config", "--server", "-s"];

/// Why there are no arguments.
pub(crate) enum Unparsed {
    /// As clap says it.
    Usage(clap::Error),
    /// The command of a server stands where its `--` is missing.
    NoDashes(Failure),
}

/// Reads the command line. A bare address is the server's; a bare command is answered with the line that was meant.
pub(crate) fn parse(mut words: Vec<OsString>) -> Result<Args, Unparsed> {
    let bare = bare_server(&words);
    if let Some((at, option)) = bare.filter(|(at, _)| words[*at].to_str().is_some_and(is_url)) {
        words.insert(at, option.into());
        return Args::try_parse_from(words).map_err(Unparsed::Usage);
    }
    let is_call = words.get(1).is_some_and(|word| word == "call");
    match (Args::try_parse_from(&words), bare) {
        // To `call` any word is an argument; one alone may be a slip of one.
        (Ok(args), bare) => match bare.filter(|(at, _)| is_call && at + 1 < words.len()) {
            Some((at, _)) => Err(Unparsed::NoDashes(no_dashes(&words, at))),
            None => Ok(args),
        },
        (Err(error), Some((at, _))) if error.kind() == ErrorKind::UnknownArgument => {
            Err(Unparsed::NoDashes(no_dashes(&words, at)))
        }
        (Err(error), _) => Err(Unparsed::Usage(error)),
    }
}

pub(crate) fn is_url(word: &str) -> bool {
    ["http://", "https://"]
        .iter()
        .any(|scheme| word.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme)))
}

/// Where a server begins without `--`, and the option that its address would have.
fn bare_server(words: &[OsString]) -> Option<(usize, &'static str)> {
    let name = words.get(1)?.to_str()?;
    let (_, own, option) = COMMANDS.iter().find(|(command, ..)| *command == name)?;
    let mut whole = Args::command();
    whole.build();
    let command = whole.find_subcommand(name)?;
    let is_named = |word: &OsString| {
        let word = word.to_str().unwrap_or_default();
        NAMED.contains(&word.split('=').next().unwrap_or_default())
    };
    if words.iter().any(is_named) {
        return None;
    }
    let mut own_left = *own;
    let mut at = 2;
    while let Some(word) = words.get(at).and_then(|word| word.to_str()) {
        if word.starts_with('-') && word.len() > 1 {
            at += if takes_next(command, word)? { 2 } else { 1 };
            continue;
        }
        let is_argument = name == "call" && !is_url(word) && word.contains('=');
        if own_left == 0 && !is_argument {
            return Some((at, option));
        }
        own_left = own_left.saturating_sub(usize::from(own_left > 0));
        at += 1;
    }
    None
}

/// Whether the value of this option is the next word; `None` when there is no such option.
fn takes_next(command: &Command, word: &str) -> Option<bool> {
    let (written, has_value) = word.split_once('=').map_or((word, false), |(name, _)| (name, true));
    let option = command.get_arguments().find(|arg| match written.strip_prefix("--") {
        Some(long) => arg.get_long() == Some(long),
        None => arg.get_short() == written.chars().nth(1),
    })?;
    let is_joined = has_value || (!written.starts_with("--") && written.len() > 2);
    Some(matches!(option.get_action(), ArgAction::Set | ArgAction::Append) && !is_joined)
}

fn no_dashes(words: &[OsString], at: usize) -> Failure {
    let quoted = |word: &OsString| {
        let word = word.to_string_lossy();
        // A `=` needs no quotes, which `shell_words` gives it.
        let is_plain =
            !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || "_-./:=@".contains(c));
        if is_plain { word.into_owned() } else { shell_words::quote(&word).into_owned() }
    };
    let shown = |words: &[OsString]| {
        let words: Vec<String> = words.iter().map(quoted).collect();
        escape(&words.join(" ")).into_owned()
    };
    Failure(format!(
        "`{}` is not an argument of `mcptest {}`\n  help: the command of a server follows `--`: mcptest {} -- {}",
        escape(&words[at].to_string_lossy()),
        words[1].to_string_lossy(),
        shown(&words[1..at]),
        shown(&words[at..])
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        shell_words::split(line).unwrap().into_iter().map(OsString::from).collect()
    }

    fn refused(line: &str) -> String {
        match parse(words(line)) {
            Ok(_) => "taken".to_owned(),
            Err(Unparsed::Usage(error)) => format!("usage: {:?}", error.kind()),
            Err(Unparsed::NoDashes(failure)) => failure.0.rsplit(": ").next().unwrap().to_owned(),
        }
    }

    #[test]
    fn a_command_without_its_dashes_is_answered_with_the_line_that_was_meant() {
        for (line, meant) in [
            ("mcptest tools npx -y my-server", "mcptest tools -- npx -y my-server"),
            ("mcptest tools --json npx my-server", "mcptest tools --json -- npx my-server"),
            ("mcptest check --only EDGE npx x -y", "mcptest check --only EDGE -- npx x -y"),
            ("mcptest call add a=1 b=2 python3 server.py", "mcptest call add a=1 b=2 -- python3 server.py"),
            ("mcptest call add a=1 npx -y x", "mcptest call add a=1 -- npx -y x"),
            ("mcptest init --call 'add a=1' npx 'a b'", "mcptest init --call 'add a=1' -- npx 'a b'"),
            ("mcptest verify tape.jsonl npx x", "mcptest verify tape.jsonl -- npx x"),
            ("mcptest proxy -o t.jsonl npx x --fast", "mcptest proxy -o t.jsonl -- npx x --fast"),
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
}
