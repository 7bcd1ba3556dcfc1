//! Which gates can be measured without configuration, and why not the others?

use mcptest_core::gates::{GateBlock, Gates};
use mcptest_core::problem::Problem;
use mcptest_core::suite::{Host, load};
use std::collections::BTreeMap;
use std::path::Path;

/// The gates that judge any run with an empty block.
#[derive(Debug, Default)]
pub struct Defaults {
    /// Every gate that can be measured.
    pub(super) kinds: Gates,
    pub(super) gates: Vec<GateBlock>,
    /// Why other gates need configuration, by their keys.
    pub(super) unmeasured: BTreeMap<&'static str, String>,
}

impl Defaults {
    /// Reads an empty block of every gate. A gate that refuses it, or judges nothing, needs
    /// configuration.
    pub fn new(kinds: Gates) -> Self {
        let mut defaults = Self {
            kinds,
            ..Self::default()
        };
        for kind in kinds {
            match gates_of(kinds, &format!("    {}: {{}}", kind.key), 2) {
                Ok((gates, problems)) if problems.is_empty() => defaults.gates.extend(gates),
                _ => {
                    let why = "the suite has no such block; an empty block judges nothing";
                    defaults.unmeasured.insert(kind.key, why.to_owned());
                }
            }
        }
        defaults
    }
}

/// The gates of an agent with these blocks of these kinds and this number of runs, with their
/// warnings. Returns only the problems if mcptest refuses the blocks.
pub fn gates_of(
    kinds: Gates,
    blocks: &str,
    runs: usize,
) -> Result<(Vec<GateBlock>, Vec<Problem>), Vec<Problem>> {
    let text = format!(
        "agents:\n  - name: measured\n    model: m\n    prompt: p\n    runs: {runs}\n{blocks}\n"
    );
    let read = |_: &Path| Ok(text.clone().into_bytes());
    let loaded = load(
        Path::new("calibrate.yml"),
        &Host {
            gates: kinds,
            ..Host::new(&read, &|_| None)
        },
    );
    match loaded.suite {
        Some(mut suite) => Ok((suite.agents.remove(0).gates, loaded.problems)),
        None => Err(loaded.problems),
    }
}
