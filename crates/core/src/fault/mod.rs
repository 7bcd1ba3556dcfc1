//! Injected faults: which kinds exist, how are they written, and which calls do they affect?

mod kind;
mod parse;
mod progress;
mod recorded;
mod scope;

pub(crate) use kind::Effect;
pub use kind::{FaultEntry, FaultKind};
pub use parse::FaultError;
pub(crate) use parse::{split, written};
pub use progress::Progress;
pub use recorded::RecordedKind;
pub use scope::{FaultScope, FaultTarget, ScopedFault};
