//! Which evidence is too weak for a test to pass?

use clap::Args;

/// Options that fail tests with weak evidence.
#[derive(Debug, Args)]
pub struct Deny {
    /// Fail gates that measured nothing (`not exercised`) and suites that skip every test.
    #[arg(help_heading = "Verdict", long)]
    pub deny_vacuous: bool,
    /// Fail tests whose recording has no fingerprint (`unpinned`).
    #[arg(help_heading = "Verdict", long)]
    pub deny_unpinned: bool,
}
