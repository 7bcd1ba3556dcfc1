//! `dependencies`: which crates stay free of a command line, an async runtime and TLS?

use crate::say;
use std::collections::BTreeSet;
use std::process::{Command, ExitCode};

/// A way to build a crate that hosts embed.
struct Embedded {
    package: &'static str,
    /// Further options for cargo, such as `--no-default-features`.
    options: &'static [&'static str],
}

const EMBEDDED: &[Embedded] = &[
    Embedded {
        package: "mcptest-core",
        options: &[],
    },
    Embedded {
        package: "mcptest-report",
        options: &[],
    },
    Embedded {
        package: "mcptest-import",
        options: &[],
    },
    Embedded {
        package: "mcptest-toolbox",
        options: &["--no-default-features"],
    },
];

/// The crates that no embedded crate may depend on, directly or indirectly.
const HEAVY: [&str; 8] = [
    "clap",
    "hyper",
    "native-tls",
    "openssl",
    "reqwest",
    "ring",
    "rustls",
    "tokio",
];

pub(crate) fn run() -> Result<ExitCode, String> {
    let mut is_free = true;
    for embedded in EMBEDDED {
        let options = embedded.options.join(" ");
        let name = format!("{} {options}", embedded.package);
        let name = name.trim_end();
        let tree = tree(embedded)?;
        let heavy = heavy_in(&tree);
        if heavy.is_empty() {
            say(&format!("{name}: {} crates", crates_in(&tree).len()));
        } else {
            is_free = false;
            say(&format!("{name}: depends on {}", heavy.join(", ")));
        }
    }
    Ok(ExitCode::from(u8::from(!is_free)))
}

/// The crates that `cargo tree` lists for a build, one on each line.
fn tree(embedded: &Embedded) -> Result<String, String> {
    let output = Command::new("cargo")
        .args(["tree", "--edges", "normal", "--prefix", "none"])
        .args(["--package", embedded.package])
        .args(embedded.options)
        .output()
        .map_err(|error| format!("cargo: {error}"))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn crates_in(tree: &str) -> BTreeSet<&str> {
    tree.lines()
        .filter_map(|line| line.split_whitespace().next())
        .collect()
}

fn heavy_in(tree: &str) -> Vec<&'static str> {
    let crates = crates_in(tree);
    HEAVY
        .into_iter()
        .filter(|heavy| crates.contains(heavy))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{crates_in, heavy_in};

    #[test]
    fn a_heavy_crate_is_found_by_its_whole_name() {
        let tree = "mcptest-import v0.1.0\nserde v1.0.0\nclap_lex v1.0.0\nserde v1.0.0 (*)\n";
        assert!(heavy_in(tree).is_empty());
        assert_eq!(crates_in(tree).len(), 3);
        assert_eq!(heavy_in(&format!("{tree}clap v4.6.0\n")), ["clap"]);
    }
}
