//! A server by hand: does it do what the specification says, and what is its tool surface worth?

#[cfg(feature = "command")]
pub mod check;
