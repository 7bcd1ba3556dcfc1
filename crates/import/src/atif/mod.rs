//! ATIF, the Agent Trajectory Interchange Format of Harbor: how is it recognised, read and written?

mod read;
mod write;

pub use write::{atif, left_out_of_atif};

use crate::Importer;
use crate::sample::Sample;

pub(crate) const IMPORTER: Importer = Importer {
    key: "atif",
    name: "atif",
    doc: "a trajectory with `schema_version`, `agent` and `steps`",
    also_reads: &[],
    sniff,
    read: read::read,
};

/// The key under `extra` with facts of a trace that ATIF has no field for.
const OWN: &str = "mcptest";

fn sniff(sample: &Sample<'_>) -> bool {
    sample.records.iter().any(|record| {
        let is_versioned = record
            .string("schema_version")
            .is_some_and(|version| version.starts_with("ATIF"));
        is_versioned || (record.has("steps") && record.has("agent") && record.has("session_id"))
    })
}
