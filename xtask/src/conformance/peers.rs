//! Where are the suite's programs and ours?

use std::path::PathBuf;
use std::process::{Command, Stdio};

const HOME: &str = "target/peers";

/// The programs of the conformance run.
pub(super) struct Peers {
    pub(super) mcptest: PathBuf,
    pub(super) client: PathBuf,
    bin: PathBuf,
}

impl Peers {
    pub(super) fn find() -> Result<Self, String> {
        let here = std::env::current_dir().map_err(|error| error.to_string())?;
        let bin = here.join(HOME).join("node_modules/.bin");
        if !bin.join("conformance").exists() {
            return Err(format!(
                "the conformance suite is not in {HOME}: run tests/peers/install"
            ));
        }
        let target = std::env::var_os("CARGO_TARGET_DIR")
            .map_or_else(|| PathBuf::from("target"), PathBuf::from);
        let (mcptest, client) = (
            target.join("debug/mcptest"),
            target.join("debug/examples/conformance_client"),
        );
        Ok(Self {
            mcptest,
            client,
            bin,
        })
    }

    /// Builds our programs.
    pub(super) fn build() -> Result<(), String> {
        // The selection of `.ci/run`, so that nothing is built twice there.
        let words = ["build", "--quiet", "--workspace", "--bins", "--examples"];
        if !Command::new("cargo")
            .args(words)
            .status()
            .is_ok_and(|status| status.success())
        {
            return Err(format!("`cargo {}` failed", words.join(" ")));
        }
        Ok(())
    }

    /// Runs the suite to its end.
    pub(super) fn conformance(&self, words: &[&str]) -> Result<Played, String> {
        let mut path = self.bin.clone().into_os_string();
        if let Some(rest) = std::env::var_os("PATH") {
            path.push(":");
            path.push(rest);
        }
        let run = Command::new(self.bin.join("conformance"))
            .args(words)
            .env("PATH", path)
            .stdin(Stdio::null())
            .output()
            .map_err(|error| format!("conformance: {error}"))?;
        let printed = String::from_utf8_lossy(&[run.stdout, run.stderr].concat()).into_owned();
        Ok(Played {
            is_success: run.status.success(),
            printed,
        })
    }
}

/// The output of one run of the suite.
pub(super) struct Played {
    pub(super) is_success: bool,
    pub(super) printed: String,
}

impl Played {
    pub(super) fn last_line(&self) -> &str {
        self.printed
            .lines()
            .rfind(|line| !line.trim().is_empty())
            .unwrap_or_default()
    }
}
