//! The pages of the book that are no gate's, for `mcptest explain`.

/// A page of the book.
#[derive(Debug)]
pub(crate) struct Page {
    /// Its path in the book, without the extension.
    pub(crate) name: &'static str,
    pub(crate) text: &'static str,
}

impl Page {
    /// Its heading.
    pub(crate) fn title(&self) -> &'static str {
        self.text.lines().next().unwrap_or_default().trim_start_matches("# ")
    }
}

/// The page of that path, or with that file name.
pub(crate) fn find(name: &str) -> Option<&'static Page> {
    let by_path = PAGES.iter().find(|page| page.name == name);
    by_path.or_else(|| PAGES.iter().find(|page| page.name.rsplit('/').next() == Some(name)))
}

macro_rules! pages {
    ($($name:literal),* $(,)?) => {
        &[$(Page { name: $name, text: include_str!(concat!("../../../../docs/", $name, ".md")) }),*]
    };
}

/// Every page, in the order of the book.
pub(crate) const PAGES: &[Page] = pages![
    "tutorials/server",
    "tutorials/agent",
    "tutorials/platform",
    "init",
    "suites",
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
    "coverage",
    "reports",
    "tools",
    "checking",
    "servers-checked",
    "tool-surface",
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
