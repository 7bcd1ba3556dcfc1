//! What does a server on the command line without `--` or `--url` mean?

use crate::program::Program;
use clap::ArgMatches;
use clap::error::{Error, ErrorKind};
use mcptest_core::escape::escape;
use mcptest_core::row::quoted;
use std::ffi::OsString;

/// The syntax in which a command takes a server.
#[derive(Debug, Clone, Copy)]
pub struct BareServer {
    /// The number of the command's own words before the server.
    pub words_before: usize,
    /// The option that takes the server's address.
    pub address_option: &'static str,
    /// True if the command takes any word as an argument, so that a server without `--` is read as further arguments.
    pub takes_any_word: bool,
}

impl BareServer {
    /// A server with `--url` after this number of the command's own words.
    pub const fn after_words(words_before: usize) -> Self {
        Self {
            words_before,
            address_option: "--url",
            takes_any_word: false,
        }
    }
}

/// The options that name a server, so that no bare word does.
const NAMED: [&str; 7] = [
    "--",
    "--url",
    "--target",
    "--command",
    "--config",
    "--server",
    "-s",
];

/// The start of a server on the command line, with neither `--` nor an option before it.
struct BareWord {
    at: usize,
    server: BareServer,
}

/// Reads the command line. A bare address is the server's; a bare command is answered with the line that was meant.
pub(crate) fn parse(program: &Program, mut words: Vec<OsString>) -> Result<ArgMatches, Error> {
    let parse = |words: &[OsString]| program.to_clap().try_get_matches_from(words);
    let Some(BareWord { at, server }) = bare_word(program, &words) else {
        return parse(&words);
    };
    if words[at].to_str().is_some_and(is_url) {
        words.insert(at, server.address_option.into());
        return parse(&words);
    }
    match parse(&words) {
        Ok(_) if server.takes_any_word && is_command(&words[at..]) => Err(no_dashes(&words, at)),
        Err(error) if error.kind() == ErrorKind::UnknownArgument => Err(no_dashes(&words, at)),
        parsed => parsed,
    }
}

/// Returns true if these words can only be the command of a server. One word alone may be a slip of an argument.
fn is_command(words: &[OsString]) -> bool {
    let is_path = |word: &OsString| word.to_string_lossy().contains(['/', '\\']);
    words.len() > 1 || words.first().is_some_and(is_path)
}

pub(crate) fn is_url(word: &str) -> bool {
    ["http://", "https://"].iter().any(|scheme| {
        word.get(..scheme.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    })
}

/// Where a server begins without `--`, and how to write the command line instead.
fn bare_word(program: &Program, words: &[OsString]) -> Option<BareWord> {
    let name = words.get(1)?.to_str()?;
    let server = program.find(name)?.server?;
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
        let is_argument = server.takes_any_word && !is_url(&word) && word.contains('=');
        let (before, after) = words.split_at(*at);
        let line = before
            .iter()
            .cloned()
            .chain(["--".into()])
            .chain(after.iter().cloned());
        let is_whole = |error: Error| error.kind() == ErrorKind::MissingRequiredArgument;
        !word.starts_with('-')
            && !is_argument
            && program
                .to_clap()
                .try_get_matches_from(line)
                .map_or_else(is_whole, |_| true)
    };
    let at = (2..words.len())
        .filter(can_begin)
        .nth(server.words_before)?;
    Some(BareWord { at, server })
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
