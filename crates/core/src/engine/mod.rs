//! What do all gates share: a registry entry, a block, numbers, and assertions on those numbers?

pub(crate) mod accept;
pub(crate) mod assertion;
pub(crate) mod block;
pub(crate) mod check;
pub(crate) mod combination;
pub(crate) mod decided;
pub(crate) mod facts;
pub(crate) mod gate;
#[cfg(test)]
pub(crate) mod lint_check;
pub(crate) mod outlook;
pub(crate) mod pass_rate;
pub(crate) mod recording;
pub(crate) mod registry;
pub(crate) mod scores;
pub(crate) mod shown;
pub(crate) mod success;
pub(crate) mod target;
#[cfg(test)]
pub(crate) mod trial;

pub use accept::{Proposal, ProposedChange, ProposedItem, ProposedPlace, WriteInFile};
pub use assertion::Assertion;
pub use block::GateBlock;
pub use combination::Combination;
pub use decided::decided;
pub use facts::AgentFacts;
pub use gate::{GateKind, GateTrait};
pub(crate) use pass_rate::failed_by;
pub use recording::{SideRun, SideRuns, SideWords};
pub use registry::Gates;
pub use scores::{RunScores, Scores};
pub(crate) use success::Success;
pub use target::{Better, Fold, Range, Target, Unit};
