//! A tape against a live server: what has drifted, and does it break anyone?

mod catalogue;
mod drift;
mod replay;
mod schema;
mod value;

pub use drift::{Drift, DriftFinding, Ignore, LeftOut, Tier, human, json};
pub use replay::replay;
