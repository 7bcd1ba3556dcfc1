//! Packs the pages of the book that are no gate's, for `mcptest explain`. Packed, they take 165 KB less of the program.

use flate2::{Compression, write::GzEncoder};
use std::error::Error;
use std::io::Write;
use std::path::Path;

/// Every page, in the order of the book.
const PAGES: &[&str] = &[
    "tutorials/server",
    "tutorials/agent",
    "tutorials/platform",
    "init",
    "suites",
    "servers",
    "tool-tests",
    "running",
    "recording",
    "providers",
    "own-agents",
    "importing",
    "traces",
    "redaction",
    "choosing",
    "oracle",
    "worlds",
    "evaluation",
    "model-compatibility",
    "comparing",
    "own-gates",
    "coverage",
    "reports",
    "tools",
    "checking",
    "servers-checked",
    "tool-surface",
    "tool-selection-metrics",
    "servers-surveyed",
    "mock",
    "mcp-server",
    "proxy",
    "calibration",
    "gate-power",
    "conformance",
    "benchmarks",
    "reference/suite",
    "reference/providers",
    "reference/reporters",
];

fn main() -> Result<(), Box<dyn Error>> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    for name in PAGES {
        let path = format!("../../docs/{name}.md");
        println!("cargo::rerun-if-changed={path}");
        let text = std::fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
        write!(packed, "{name}\n{text}\0")?;
    }
    std::fs::write(
        Path::new(&std::env::var("OUT_DIR")?).join("pages.gz"),
        packed.finish()?,
    )?;
    Ok(())
}
