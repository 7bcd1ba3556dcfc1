//! Is every suite and every manifest in the documentation one that loads?

#![allow(clippy::unwrap_used, missing_docs)]

use mcptest_core::fault::FaultKind;
use mcptest_core::problem::{Level, Problem};
use mcptest_core::suite::{Host, is_suite, load_for_traces, load_to_capture};
use mcptest_mock::manifest::load_text;
use std::fs;
use std::path::{Path, PathBuf};

/// A fenced block, without its indentation.
struct Fenced {
    language: String,
    line: usize,
    text: String,
}

impl Fenced {
    fn is_suite(&self) -> bool {
        matches!(self.language.as_str(), "yaml" | "yml")
            && !self.is_manifest()
            && is_suite(&self.text)
    }

    /// One with `mock_server:`, or one whose first line names the file, since suites have `tools:` as well.
    fn is_manifest(&self) -> bool {
        self.text.starts_with("# tools.yml")
            || self
                .text
                .lines()
                .any(|line| line.trim_end() == "mock_server:")
    }
}

fn fenced_blocks(page: &str) -> Vec<Fenced> {
    let mut blocks = Vec::new();
    let mut lines = page.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        let indent = line.len() - line.trim_start().len();
        let Some(language) = line.trim_start().strip_prefix("```") else {
            continue;
        };
        let inside = lines
            .by_ref()
            .map(|(_, line)| line)
            .take_while(|line| line.trim() != "```");
        let text = inside
            .map(|line| line.get(indent..).unwrap_or_default())
            .collect::<Vec<_>>()
            .join("\n");
        blocks.push(Fenced {
            language: language.trim().to_owned(),
            line: number + 1,
            text,
        });
    }
    blocks
}

/// The errors in the block, each with its line on the page.
fn complaints(page: &Path, block: &Fenced, blocks: &[Fenced]) -> Vec<String> {
    let at =
        |line: usize, message: &str| format!("{}:{}: {message}", page.display(), block.line + line);
    if block.is_suite() {
        return suite_errors(&block.text, blocks)
            .into_iter()
            .map(|(line, message)| at(line, &message))
            .collect();
    }
    if block.is_manifest() {
        return manifest_errors(&block.text)
            .into_iter()
            .map(|(line, message)| at(line, &message))
            .collect();
    }
    if block.language == "json"
        && let Err(error) = serde_json::from_str::<serde_json::Value>(&block.text)
    {
        return vec![at(error.line(), &error.to_string())];
    }
    Vec::new()
}

/// The errors of a suite. Its data files are the blocks of the page whose language is the ending of the file.
fn suite_errors(text: &str, blocks: &[Fenced]) -> Vec<(usize, String)> {
    let read = |path: &Path| {
        if path.ends_with("suite.yml") {
            return Ok(text.as_bytes().to_vec());
        }
        let ending = path.extension().unwrap_or_default();
        let data = blocks.iter().find(|block| *block.language == *ending);
        data.map(|data| data.text.as_bytes().to_vec())
            .ok_or_else(|| "it is not part of the page".to_owned())
    };
    let is_for_traces = text
        .lines()
        .next()
        .is_some_and(|line| line.starts_with('#') && line.contains("--traces"));
    let load = if is_for_traces {
        load_for_traces
    } else {
        load_to_capture
    };
    let loaded = load(
        Path::new("suite.yml"),
        &Host {
            gates: mcptest::GATES,
            mock: &mcptest_mock::manifest::catalogue,
            list: &|_, _| Ok(Vec::new()),
            ..Host::new(&read, &|_| None)
        },
    );
    let errors = loaded
        .problems
        .iter()
        .filter(|problem| problem.level == Level::Error);
    let placed = errors.map(|problem| {
        (
            problem
                .span
                .map_or(0, |span| loaded.sources.position(span).line),
            problem.message.clone(),
        )
    });
    placed.collect()
}

fn manifest_errors(text: &str) -> Vec<(usize, String)> {
    let read = |_: &Path| Err("it is not part of the page".to_owned());
    let loaded = load_text(Path::new("manifest.yml"), text.to_owned(), &read);
    let line = |problem: &Problem| {
        problem
            .span
            .map_or(0, |span| loaded.sources.position(span).line)
    };
    loaded
        .problems
        .iter()
        .map(|problem| (line(problem), problem.message.clone()))
        .collect()
}

fn pages(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(pages(&path));
        } else if path.extension().is_some_and(|extension| extension == "md") {
            found.push(path);
        }
    }
    found.sort();
    found
}

#[test]
fn every_suite_manifest_and_json_of_the_documentation_can_be_read() {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut all: Vec<PathBuf> = ["README.md", "CONTRIBUTING.md", "ARCHITECTURE.md"]
        .map(|name| repository.join(name))
        .into();
    all.extend(
        ["docs", "crates/core/src/gates", "crates/toolbox/src"]
            .iter()
            .flat_map(|folder| pages(&repository.join(folder))),
    );
    let (mut suites, mut manifests, mut wrong) = (0, 0, Vec::new());
    for page in all {
        let shown = page.strip_prefix(&repository).unwrap();
        let blocks = fenced_blocks(&fs::read_to_string(&page).unwrap());
        for block in &blocks {
            suites += usize::from(block.is_suite());
            manifests += usize::from(block.is_manifest());
            wrong.extend(complaints(shown, block, &blocks));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(suites > 5, "only {suites} suites were found");
    assert!(manifests > 5, "only {manifests} manifests were found");
}

#[test]
fn a_block_that_is_wrong_is_reported_with_its_line_of_the_page() {
    let page = "1. A list\n\n   ```yaml\n   agents:\n     - name: a\n       colour: red\n   ```\n";
    let blocks = fenced_blocks(page);
    assert_eq!(blocks[0].text, "agents:\n  - name: a\n    colour: red");
    let wrong = complaints(Path::new("page.md"), &blocks[0], &blocks);
    assert!(
        wrong
            .iter()
            .any(|complaint| complaint.starts_with("page.md:6: ")),
        "{wrong:?}"
    );
    assert!(
        complaints(
            Path::new("page.md"),
            &fenced_blocks("```sh\nagents:\n```\n")[0],
            &[]
        )
        .is_empty()
    );
}

#[test]
fn the_page_of_the_mock_has_every_kind_of_fault_as_it_is_documented() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/mock.md");
    let page = fs::read_to_string(page).unwrap();
    for kind in FaultKind::ALL {
        let row = format!("| `{}` | {} |", kind.usage(), kind.doc);
        assert!(page.contains(&row), "docs/mock.md lacks: {row}");
    }
}
