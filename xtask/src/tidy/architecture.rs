//! Does every file and function that ARCHITECTURE.md names exist?

use std::path::Path;

/// The page that maps the repository.
pub(super) const PAGE: &str = "ARCHITECTURE.md";

/// The names on the page that are not in the repository, each with its line.
pub(super) fn complaints_about(page: &str, repository: &Path) -> Vec<String> {
    let numbered = page.lines().zip(1..);
    numbered
        .flat_map(|(line, number)| {
            let complaints = complaints_about_line(line, repository);
            complaints
                .into_iter()
                .map(move |complaint| format!("{PAGE}:{number}: {complaint}"))
        })
        .collect()
}

fn complaints_about_line(line: &str, repository: &Path) -> Vec<String> {
    let spans = code_spans(line);
    let mut complaints: Vec<String> = spans
        .iter()
        .filter(|span| is_path(span) && !repository.join(span).exists())
        .map(|path| format!("`{path}` does not exist"))
        .collect();
    if is_hop(line) {
        complaints.extend(complaint_about_hop(&spans, repository));
    }
    complaints
}

/// A hop of a walk begins with a file and a function in it.
fn complaint_about_hop(spans: &[&str], repository: &Path) -> Option<String> {
    let [path, function, ..] = spans else {
        return Some("a hop names a file and a function".to_owned());
    };
    let text = std::fs::read_to_string(repository.join(path)).ok()?;
    let name = function.rsplit("::").next().unwrap_or(function);
    let is_there = [format!("fn {name}("), format!("fn {name}<")]
        .iter()
        .any(|declaration| text.contains(declaration));
    (!is_there).then(|| format!("`{path}` has no function `{function}`"))
}

/// The texts between backticks.
fn code_spans(line: &str) -> Vec<&str> {
    line.split('`').skip(1).step_by(2).collect()
}

/// Only a command has spaces, and only a pattern has stars.
fn is_path(span: &str) -> bool {
    span.contains('/') && !span.contains([' ', '*'])
}

/// Returns true for a line such as "1. `crates/cli/src/main.rs`: `main` runs the program."
fn is_hop(line: &str) -> bool {
    line.split_once(". `")
        .is_some_and(|(number, _)| number.parse::<u32>().is_ok())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::{PAGE, complaints_about};
    use std::path::Path;

    fn repository() -> &'static Path {
        Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
    }

    #[test]
    fn every_file_and_function_on_the_page_exists() {
        let page = std::fs::read_to_string(repository().join(PAGE)).unwrap();
        assert_eq!(complaints_about(&page, repository()), Vec::<String>::new());
    }

    #[test]
    fn a_file_or_function_that_is_gone_is_complained_about() {
        let page = "`crates/cli/src/gone.rs`, not `cargo run` or `a/*.rs`\n\
                    1. `crates/cli/src/main.rs`: `main` runs the program.\n\
                    2. `crates/cli/src/main.rs`: `Program::gone` does not exist.\n\
                    3. `main` is in no file.\n";
        let found = complaints_about(page, repository());
        assert_eq!(found.len(), 3, "{found:?}");
        assert!(found[1].starts_with("ARCHITECTURE.md:3: "), "{found:?}");
    }
}
