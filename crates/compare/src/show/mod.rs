//! How is a comparison shown: for people, for machines, for a pull request and for CI servers?

pub mod baseline;
pub mod reports;
#[cfg(test)]
mod sample;
