//! Which names on the two sides of a comparison mean one tool?

use super::fact::RunFacts;
use crate::baseline::TestBaseline;
use mcptest_core::trace::Tool;
use std::collections::{BTreeMap, BTreeSet};

/// The names that one side writes without a server, and the other side's names for the same tools.
#[derive(Debug, Default)]
pub(super) struct ToolNames<'r> {
    with_server: BTreeMap<&'r str, &'r str>,
}

impl<'r> ToolNames<'r> {
    /// A recording without servers calls `charge` what another calls `shop.charge`. They are one
    /// tool if no other server has a tool of this name and no side has both names.
    pub(super) fn new(before: &'r TestBaseline, after: &'r TestBaseline) -> Self {
        let (before, after) = (tools(before), tools(after));
        let mut meant: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (one, other) in [(&before, &after), (&after, &before)] {
            for bare in one.difference(other) {
                if meant.contains_key(bare) {
                    continue;
                }
                let is_same = |full: &&&str| *full != bare && Tool::new(bare, None).is(full);
                let mut candidates = one.union(other).filter(is_same);
                if let (Some(full), None) = (candidates.next(), candidates.next())
                    && !one.contains(full)
                {
                    meant.entry(full).or_default().push(bare);
                }
            }
        }
        let with_server = meant
            .into_iter()
            .filter_map(|(full, bare)| match bare[..] {
                [bare] => Some((bare, full)),
                _ => None,
            })
            .collect();
        Self { with_server }
    }

    /// The name of the tool on both sides.
    pub(super) fn settled(&self, tool: &'r str) -> &'r str {
        self.with_server.get(tool).copied().unwrap_or(tool)
    }

    /// The facts of each run of a side.
    pub(super) fn runs(&self, test: &'r TestBaseline) -> Vec<RunFacts<'r>> {
        test.runs
            .iter()
            .map(|run| RunFacts::new(run, self))
            .collect()
    }
}

/// Every tool that a run of the test calls.
fn tools(test: &TestBaseline) -> BTreeSet<&str> {
    test.runs
        .iter()
        .flat_map(|run| &run.calls)
        .map(|call| call.tool.as_str())
        .collect()
}
