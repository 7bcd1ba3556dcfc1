//! `gate-power`: which small edits to its passing example turn each gate's verdict over?

mod calls;
mod edits;
mod explained;
mod measure;
mod table;
#[cfg(test)]
mod tests;

use crate::say;
use std::path::Path;
use std::process::ExitCode;

const PAGE: &str = "docs/gate-power.md";

pub(crate) fn run(arguments: &[String]) -> Result<ExitCode, String> {
    let write = match arguments {
        [] => false,
        [flag] if flag == "--write" => true,
        _ => return Err("usage: cargo xtask gate-power [--write]".to_owned()),
    };
    let complaints = check(Path::new(""), write)?;
    for complaint in &complaints {
        say(complaint);
    }
    Ok(ExitCode::from(u8::from(!complaints.is_empty())))
}

/// Returns the complaints, after writing the page with `write`.
fn check(repository: &Path, write: bool) -> Result<Vec<String>, String> {
    let powers = measure::measure(repository)?;
    let page = table::page(&powers);
    let place = repository.join(PAGE);
    if write {
        std::fs::write(&place, &page).map_err(|error| format!("{PAGE}: {error}"))?;
    }
    let mut complaints: Vec<String> = powers
        .iter()
        .flat_map(explained::complaints_about)
        .collect();
    if std::fs::read_to_string(&place).unwrap_or_default() != page {
        complaints.push(format!(
            "{PAGE} is out of date: run `cargo xtask gate-power --write`"
        ));
    }
    Ok(complaints)
}
