//! `tidy`: what no compiler checks, about every file of the repository.

use crate::lines::count::File;
use crate::say;
use std::path::Path;
use std::process::{Command, ExitCode};

/// Lines of code in one file, without its tests; a file near 100 reads best.
const MOST_LINES: usize = 400;

pub(crate) fn run() -> Result<ExitCode, String> {
    let listed = Command::new("git").args(["ls-files"]).output().map_err(|error| format!("git: {error}"))?;
    let files = String::from_utf8_lossy(&listed.stdout);
    let mut complaints = Vec::new();
    for path in files.lines().filter(|path| Path::new(path).is_file()) {
        let Ok(text) = std::fs::read_to_string(path) else { continue };
        complaints.extend(complaints_about(path, &text));
    }
    for complaint in &complaints {
        say(complaint);
    }
    say(&format!("{} files, {} complaints", files.lines().count(), complaints.len()));
    Ok(ExitCode::from(u8::from(!complaints.is_empty())))
}

fn complaints_about(path: &str, text: &str) -> Vec<String> {
    let mut complaints = Vec::new();
    let is_rust = Path::new(path).extension().is_some_and(|extension| extension == "rs");
    if is_rust && !text.starts_with("//!") {
        complaints.push(format!("{path}: opens without a `//!` line that says which question it answers"));
    }
    let is_test = path.contains("/tests/") || path.ends_with("tests.rs");
    if is_rust && !is_test {
        match File::read(text).map(|file| file.lines()) {
            Ok(lines) if lines > MOST_LINES => {
                complaints.push(format!("{path}: {lines} lines of code; does it answer two questions?"));
            }
            Ok(_) => {}
            Err(error) => complaints.push(format!("{path}: {error}")),
        }
    }
    // Spelled in pieces, so that this file does not complain about itself.
    let marks = [concat!("FIX", "ME"), concat!("TO", "DO"), concat!("coming ", "soon")];
    for (number, line) in text.lines().enumerate() {
        if marks.iter().any(|mark| line.contains(mark)) {
            complaints.push(format!("{path}:{}: an unfinished mark", number + 1));
        }
        if [concat!("/wo", "rk/"), concat!("/ro", "ot/")].iter().any(|prefix| line.contains(prefix)) {
            complaints.push(format!("{path}:{}: a path of some machine", number + 1));
        }
    }
    complaints
}

#[cfg(test)]
mod tests {
    use super::complaints_about;

    #[test]
    fn a_file_without_its_question_and_with_a_mark_is_complained_about() {
        let text = format!("fn f() {{}}\n// {}: later\n", concat!("TO", "DO"));
        assert_eq!(complaints_about("a.rs", &text).len(), 2);
        assert!(complaints_about("a.rs", "//! What is a?\nfn f() {}\n").is_empty());
    }

    #[test]
    fn a_long_file_is_complained_about_wherever_its_tests_stand() {
        let functions = "fn f() {}\n".repeat(401);
        assert_eq!(
            complaints_about("a.rs", &format!("//! A?\n#[cfg(test)]\nmod tests;\n{functions}")).len(),
            1
        );
        assert!(
            complaints_about("a.rs", &format!("//! A?\n#[cfg(test)]\nmod t {{\n{functions}}}\n")).is_empty()
        );
    }
}
