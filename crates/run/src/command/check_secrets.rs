//! `mcptest show --check-secrets`: is there a secret in what was recorded?

use mcptest_command::server::suite_at;
use mcptest_command::{EXIT_BROKEN, EXIT_FAILED, Failure, output};
use mcptest_core::escape::{escape, escape_path};
use mcptest_core::eval::Gates;
use mcptest_core::words::count;
use mcptest_redact::Redactor;
use mcptest_replay::{Sighted, Tally, recordings, redactor_of, scan};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

pub(super) fn run(paths: &[PathBuf], config: Option<&Path>, gates: Gates) -> Result<u8, Failure> {
    let redactor = redactor(config, gates)?;
    let (files, linked) = recordings(paths)?;
    output::not_entered(&linked);
    if files.is_empty() {
        let named: Vec<String> = paths.iter().map(|path| escape_path(path)).collect();
        let why = format!("no recording found in {}", named.join(", "));
        let help = "folders are searched for files that end in .jsonl, .json or .ndjson";
        return Err(Failure::with_help(why, help));
    }
    let mut search = SecretSearch::default();
    for file in &files {
        search.add(file, &redactor)?;
    }
    if search.read > 0 {
        output::stdout(search.in_words().as_bytes())?;
    }
    Ok(search.exit_code())
}

/// The result of searching files.
#[derive(Default)]
struct SecretSearch {
    read: usize,
    unread: usize,
    lines: usize,
    /// The secrets that were found.
    found: usize,
    files_with_secrets: usize,
}

impl SecretSearch {
    /// Searches a file, and shows each secret at once.
    fn add(&mut self, file: &Path, redactor: &Redactor) -> Result<(), Failure> {
        let shown = escape_path(file);
        let shown = escape(&shown);
        let mut lost = None;
        let mut show = |sighted: Sighted| {
            if lost.is_none() {
                lost = output::stdout(line(&shown, &sighted).as_bytes()).err();
            }
        };
        match scan(file, redactor, &mut show) {
            Ok(tally) => self.count(tally),
            Err(error) => {
                self.unread += 1;
                output::stderr(&format!("error: {error}\n"));
            }
        }
        lost.map_or(Ok(()), Err)
    }

    fn count(&mut self, tally: Tally) {
        self.read += 1;
        self.lines += tally.lines;
        self.found += tally.found;
        self.files_with_secrets += usize::from(tally.found > 0);
    }

    fn in_words(&self) -> String {
        let searched = format!(
            "{} and {} searched",
            count(self.read, "file"),
            count(self.lines, "line")
        );
        match self.found {
            0 => format!("no secret found: {searched}\n"),
            found => format!(
                "{} in {}: {searched}\n",
                count(found, "secret"),
                count(self.files_with_secrets, "file")
            ),
        }
    }

    fn exit_code(&self) -> u8 {
        match (self.unread, self.found) {
            (0, 0) => 0,
            (0, _) => EXIT_FAILED,
            _ => EXIT_BROKEN,
        }
    }
}

/// `cassettes/a.jsonl:3: github-token at /trace/…: …use [redacted:github-token:1f0a9c] for…`
fn line(file: &str, Sighted { line, sighting }: &Sighted) -> String {
    let place = match sighting.pointer.as_deref() {
        None => String::new(),
        Some("") => " at the top".to_owned(),
        Some(pointer) => format!(" at {}", escape(pointer)),
    };
    format!(
        "{file}:{line}: {}{place}: {}\n",
        sighting.what,
        escape(&sighting.excerpt)
    )
}

fn redactor(config: Option<&Path>, gates: Gates) -> Result<Redactor, Failure> {
    let Some(config) = config else {
        return Redactor::builder()
            .build()
            .map_err(|_| Failure::new("mcptest cannot search for the known tokens"));
    };
    let suite = suite_at(config, gates)?;
    let unset: BTreeSet<&str> = suite
        .secret_names()
        .filter(|name| std::env::var_os(name).is_none())
        .collect();
    for name in unset {
        output::stderr(&format!(
            "note: `{name}` is not set, so its value is not searched for\n"
        ));
    }
    redactor_of(&suite).map_err(|reason| Failure::new(reason.message))
}
