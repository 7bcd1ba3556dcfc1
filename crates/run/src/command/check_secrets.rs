//! `mcptest show --check-secrets`: is there a secret in what was recorded?

use mcptest_command::server::suite_at;
use mcptest_command::{EXIT_BROKEN, EXIT_FAILED, Failure, output};
use mcptest_core::escape::{escape, escape_path};
use mcptest_core::eval::Gates;
use mcptest_core::words::count;
use mcptest_redact::Redactor;
use mcptest_replay::{Sighted, recordings, redactor_of, scan};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

pub(super) fn run(paths: &[PathBuf], config: Option<&Path>, gates: Gates) -> Result<u8, Failure> {
    let redactor = redactor(config, gates)?;
    let (files, linked) = recordings(paths)?;
    output::not_entered(&linked);
    if files.is_empty() {
        let named: Vec<String> = paths.iter().map(|path| escape_path(path)).collect();
        let why = format!("no recording found in {}", named.join(", "));
        let help = "in folders, files that end in .jsonl, .json or .ndjson are searched";
        return Err(Failure::with_help(why, help));
    }
    let (mut lines, mut found, mut with_secrets, mut unread) = (0, 0, 0, 0);
    for file in &files {
        let shown = escape_path(file);
        let shown = escape(&shown);
        let mut lost = None;
        let mut say = |sighted: Sighted| {
            if lost.is_none() {
                lost = output::stdout(line(&shown, &sighted).as_bytes()).err();
            }
        };
        match scan(file, &redactor, &mut say) {
            Ok(tally) => {
                lines += tally.lines;
                found += tally.found;
                with_secrets += usize::from(tally.found > 0);
            }
            Err(error) => {
                unread += 1;
                output::stderr(&format!("error: {error}\n"));
            }
        }
        if let Some(lost) = lost {
            return Err(lost);
        }
    }
    let searched = format!(
        "{} and {} searched",
        count(files.len() - unread, "file"),
        count(lines, "line")
    );
    let said = match found {
        0 => format!("no secret found: {searched}\n"),
        _ => format!(
            "{} in {}: {searched}\n",
            count(found, "secret"),
            count(with_secrets, "file")
        ),
    };
    if unread < files.len() {
        output::stdout(said.as_bytes())?;
    }
    Ok(match (unread, found) {
        (0, 0) => 0,
        (0, _) => EXIT_FAILED,
        _ => EXIT_BROKEN,
    })
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
            .map_err(|_| Failure::new("the known tokens cannot be searched for"));
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
