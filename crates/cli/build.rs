//! Compresses the pages of the book for `mcptest explain`, which saves 165 KB of the program.

use flate2::{Compression, write::GzEncoder};
use std::error::Error;
use std::io::Write;
use std::path::Path;

/// The reference pages that `explain` prints from files. It takes the gates' pages from their
/// entries, and generates the lists of matchers and commands.
const REFERENCE: [&str; 3] = [
    "reference/suite",
    "reference/providers",
    "reference/reporters",
];

fn main() -> Result<(), Box<dyn Error>> {
    let summary = read("SUMMARY")?;
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    for name in summary.lines().filter_map(linked_page) {
        if name.starts_with("reference/") && !REFERENCE.contains(&name) {
            continue;
        }
        write!(packed, "{name}\n{}\0", read(name)?)?;
    }
    std::fs::write(
        Path::new(&std::env::var("OUT_DIR")?).join("pages.gz"),
        packed.finish()?,
    )?;
    Ok(())
}

/// The page that a line of the summary links: `recording` in `- [Recording](recording.md)`.
fn linked_page(line: &str) -> Option<&str> {
    line.split_once("](")?.1.strip_suffix(".md)")
}

/// The text of a page.
fn read(name: &str) -> Result<String, Box<dyn Error>> {
    let path = format!("../../docs/{name}.md");
    println!("cargo::rerun-if-changed={path}");
    Ok(std::fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?)
}
