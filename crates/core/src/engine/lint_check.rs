//! Which problems of an agent's gates does loading report? For the gates' own tests.

use super::trial::tools_of;
use crate::problem::Problem;
use crate::suite::{Host, load};
use std::path::Path;

/// The problems of a suite with one agent with these keys. Its server has the tools `search` and
/// `open`.
pub(crate) fn problems(agent: &str) -> Vec<Problem> {
    let keys = agent
        .lines()
        .map(|line| format!("    {line}"))
        .collect::<Vec<_>>()
        .join("\n");
    let suite = format!(
        "servers:\n  docs: {{ mock: tools.yml }}\nagents:\n  - name: a\n    model: m\n    servers: [docs]\n    prompt: p\n{keys}\n"
    );
    let read = |path: &Path| {
        let text = if path.ends_with("tools.yml") {
            "tools: [{ name: search }, { name: open }]"
        } else {
            suite.as_str()
        };
        Ok(text.as_bytes().to_vec())
    };
    let loaded = load(
        Path::new("suite.yml"),
        &Host {
            mock: &tools_of,
            ..Host::new(&read, &|_| None)
        },
    );
    assert!(
        loaded.problems.iter().all(|problem| problem.span.is_some()),
        "{:?}",
        loaded.problems
    );
    loaded.problems
}
