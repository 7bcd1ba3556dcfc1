//! `mcptest run --update`: what would change, and may it be written?

use super::run::Run;
use crate::{Changes, FileChange};
use mcptest_command::{Failure, Paint, output};
use mcptest_core::escape::{escape, escape_path};
use mcptest_core::words::count;
use similar::{ChangeTag, TextDiff};
use std::io::IsTerminal;

/// The maximum number of lines of a difference to show.
const SHOWN: usize = 200;

/// The result of showing the changes.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// No file needed a change.
    Nothing,
    Written,
    Declined,
}

/// Refuses options that do not work with `--update`.
pub(super) fn refuse(args: &Run) -> Result<(), Failure> {
    let calling = &args.calling;
    if args.update && calling.live && (calling.runs.is_some() || !calling.models.is_empty()) {
        let why = "`--update --live` calls tool tests, which have neither runs nor models";
        return Err(Failure::with_help(
            why,
            "record agents with `--record`, then accept with `--update`",
        ));
    }
    Ok(())
}

/// Shows the changes, and writes them after confirmation.
pub(super) fn offer(changes: &Changes, yes: bool) -> Result<Answer, Failure> {
    let paint = Paint::stderr();
    for left in &changes.left_out {
        output::stderr(&format!(
            "cannot accept `{}`: {}\n",
            escape(&left.row),
            escape(&left.reason)
        ));
    }
    if changes.files.is_empty() {
        let left = if changes.left_out.is_empty() {
            "nothing to accept"
        } else {
            "nothing else to accept"
        };
        output::stderr(&format!("{left}\n"));
        return Ok(Answer::Nothing);
    }
    for file in &changes.files {
        output::stderr(&difference(file, paint));
    }
    if !yes && !is_confirmed(&count(changes.files.len(), "file"))? {
        return Ok(Answer::Declined);
    }
    for file in &changes.files {
        file.write()
            .map_err(|error| Failure::new(error.to_string()))?;
        output::stderr(&format!("wrote {}\n", escape_path(&file.path)));
    }
    Ok(Answer::Written)
}

/// Asks on a terminal; without one, prints how to confirm.
fn is_confirmed(files: &str) -> Result<bool, Failure> {
    if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
        let words = std::env::args().skip(1);
        let again = shell_words::join(std::iter::once("mcptest".to_owned()).chain(words));
        output::stderr(&format!(
            "nothing was written; to accept these changes, run: {again} --yes\n"
        ));
        return Ok(false);
    }
    output::stderr(&format!("write {files}? [y/N] "));
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    let is_yes = matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes");
    if !is_yes {
        // The end of the input ends no line.
        let end = if answer.ends_with('\n') { "" } else { "\n" };
        output::stderr(&format!("{end}nothing was written\n"));
    }
    Ok(is_yes)
}

/// The differing lines, with two lines of context.
fn difference(file: &FileChange, paint: Paint) -> String {
    let (before, after) = file.texts();
    let diff = TextDiff::from_lines(&before, &after);
    let mut lines = vec![paint.bold(&escape_path(&file.path))];
    for group in diff.grouped_ops(2) {
        let first = group.first().map_or(0, |op| op.old_range().start + 1);
        lines.push(paint.cyan(&format!("@@ line {first} @@")));
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            let line = escape(change.value().trim_end_matches(['\n', '\r'])).into_owned();
            lines.push(match change.tag() {
                ChangeTag::Equal => format!("  {line}"),
                ChangeTag::Delete => paint.red(&format!("- {line}")),
                ChangeTag::Insert => paint.green(&format!("+ {line}")),
            });
        }
    }
    let more = lines.len().saturating_sub(SHOWN);
    lines.truncate(SHOWN);
    if more > 0 {
        lines.push(format!("  and {more} more lines"));
    }
    lines.join("\n") + "\n"
}
