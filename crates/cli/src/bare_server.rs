//! What does a server mean that stands on the command line without `--` or `--url`?

use crate::args::Args;
use clap::Parser;
use clap::error::{Error, ErrorKind};
use mcptest_core::escape::escape;
use mcptest_core::row::quoted;
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
const NAMED: [&str; 7] = [
    "--",
    "--url",
    "--target",
    "--command",
    "--config",
    "--server",
    "-s",
];

/// Reads the command line. A bare address is the server's; a bare command is answered with the line that was meant.
pub(crate) fn parse(mut words: Vec<OsString>) -> Result<Args, Error> {
    let bare = bare_server(&words);
    if let Some((at, option)) = bare.filter(|(at, _)| words[*at].to_str().is_some_and(is_url)) {
        words.insert(at, option.into());
        return Args::try_parse_from(words);
    }
    match (Args::try_parse_from(&words), bare) {
        // To `call` any word is an argument; one alone may be a slip of one.
        (Ok(_), Some((at, _))) if words[1] == "call" && at + 1 < words.len() => {
            Err(no_dashes(&words, at))
        }
        (Err(error), Some((at, _))) if error.kind() == ErrorKind::UnknownArgument => {
            Err(no_dashes(&words, at))
        }
        (parsed, _) => parsed,
    }
}

pub(crate) fn is_url(word: &str) -> bool {
    ["http://", "https://"].iter().any(|scheme| {
        word.get(..scheme.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    })
}

/// Where a server begins without `--`, which makes a command line of the words, and the option that its address would
/// have.
fn bare_server(words: &[OsString]) -> Option<(usize, &'static str)> {
    let name = words.get(1)?.to_str()?;
    let (_, own, option) = COMMANDS.iter().find(|(command, ..)| *command == name)?;
    let text = |word: &OsString| word.to_str().unwrap_or_default().to_owned();
    if words
        .iter()
        .any(|word| NAMED.contains(&text(word).split('=').next().unwrap_or_default()))
    {
        return None;
    }
    // A word that an option or an argument takes cannot follow `--`.
    let can_begin = |at: &usize| {
        let word = text(&words[*at]);
        let is_argument = name == "call" && !is_url(&word) && word.contains('=');
        let (before, after) = words.split_at(*at);
        let line = before
            .iter()
            .cloned()
            .chain(["--".into()])
            .chain(after.iter().cloned());
        let is_whole = |error: Error| error.kind() == ErrorKind::MissingRequiredArgument;
        !word.starts_with('-')
            && !is_argument
            && Args::try_parse_from(line).map_or_else(is_whole, |_| true)
    };
    (2..words.len())
        .filter(can_begin)
        .nth(*own)
        .map(|at| (at, *option))
}

fn no_dashes(words: &[OsString], at: usize) -> Error {
    let shown = |words: &[OsString]| {
        let words: Vec<String> = words
            .iter()
            .map(|word| quoted(&word.to_string_lossy()))
            .collect();
        escape(&words.join(" ")).into_owned()
    };
    let (word, command) = (words[at].to_string_lossy(), words[1].to_string_lossy());
    let why = format!(
        "`{}` is not an argument of `mcptest {command}`",
        escape(&word)
    );
    let help = format!(
        "the command of a server follows `--`: mcptest {} -- {}",
        shown(&words[1..at]),
        shown(&words[at..])
    );
    Error::raw(
        ErrorKind::UnknownArgument,
        format!("{why}\n  help: {help}\n"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        shell_words::split(line)
            .unwrap()
            .into_iter()
            .map(OsString::from)
            .collect()
    }

    fn refused(line: &str) -> String {
        match parse(words(line)) {
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
}
