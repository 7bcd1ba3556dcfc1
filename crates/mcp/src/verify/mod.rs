//! A tape against a live server: what has drifted, and does it break anyone?

mod catalogue;
mod drift;
mod ignore;
mod recorded;
mod replay;
mod report;
mod schema;
mod value;

pub use drift::{Drift, DriftFinding, LeftOut, Tier};
pub use ignore::{BadIgnore, Ignore};
pub use replay::replay;
pub use report::{human, json};
