//! `dependencies`: does each crate use only crates below it, and which stay free of a command line, an async runtime
//! and TLS?

use crate::say;
use serde_json::Value;
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
        package: "mcptest-compare",
        options: &["--no-default-features"],
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

/// The crates of the product, from the lowest floor to the program. A crate may use the crates before it.
const ORDER: [&str; 19] = [
    "mcptest-stats",
    "mcptest-redact",
    "mcptest-validator",
    "mcptest-files",
    "mcptest-process",
    "mcptest-http",
    "mcptest-core",
    "mcptest-report",
    "mcptest-import",
    "mcptest-mcp",
    "mcptest-mock",
    "mcptest-agent",
    "mcptest-replay",
    "mcptest-command",
    "mcptest-grade",
    "mcptest-run",
    "mcptest-compare",
    "mcptest-toolbox",
    "mcptest",
];

pub(crate) fn run() -> Result<ExitCode, String> {
    let upward = upward_edges(&cargo(&[
        "metadata",
        "--format-version=1",
        "--no-deps",
        "--offline",
    ])?)?;
    for edge in &upward {
        say(edge);
    }
    let mut is_free = upward.is_empty();
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

/// The dependencies of product crates on crates that do not come before them, from the output of
/// `cargo metadata`.
fn upward_edges(metadata: &str) -> Result<Vec<String>, String> {
    let metadata: Value =
        serde_json::from_str(metadata).map_err(|error| format!("cargo metadata: {error}"))?;
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let mut upward = Vec::new();
    for package in list(&metadata["packages"]) {
        let user = package["name"].as_str().unwrap_or_default();
        let Some(floor) = floor_of(user) else {
            continue;
        };
        for dependency in list(&package["dependencies"]) {
            let used = dependency["name"].as_str().unwrap_or_default();
            let is_of_product = dependency["kind"].is_null() && used.starts_with("mcptest");
            if is_of_product && floor_of(used).is_none_or(|below| below >= floor) {
                upward.push(format!("{user} uses {used}, which is not before it"));
            }
        }
    }
    Ok(upward)
}

fn floor_of(package: &str) -> Option<usize> {
    ORDER.iter().position(|known| *known == package)
}

/// The crates that `cargo tree` lists for a build, one on each line.
fn tree(embedded: &Embedded) -> Result<String, String> {
    let mut arguments = vec!["tree", "--edges", "normal", "--prefix", "none"];
    arguments.extend(["--package", embedded.package]);
    arguments.extend(embedded.options);
    cargo(&arguments)
}

fn cargo(arguments: &[&str]) -> Result<String, String> {
    let output = Command::new("cargo")
        .args(arguments)
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
    use super::{crates_in, heavy_in, upward_edges};

    #[test]
    fn a_crate_uses_only_crates_before_it() {
        let metadata = r#"{"packages": [
            {"name": "mcptest-core", "dependencies": [
                {"name": "mcptest-stats", "kind": null},
                {"name": "mcptest-report", "kind": null},
                {"name": "mcptest-mock", "kind": "dev"},
                {"name": "serde", "kind": null}]},
            {"name": "xtask", "dependencies": [{"name": "mcptest", "kind": null}]}]}"#;
        assert_eq!(
            upward_edges(metadata),
            Ok(vec![
                "mcptest-core uses mcptest-report, which is not before it".to_owned()
            ])
        );
    }

    #[test]
    fn a_heavy_crate_is_found_by_its_whole_name() {
        let tree = "mcptest-import v0.1.0\nserde v1.0.0\nclap_lex v1.0.0\nserde v1.0.0 (*)\n";
        assert!(heavy_in(tree).is_empty());
        assert_eq!(crates_in(tree).len(), 3);
        assert_eq!(heavy_in(&format!("{tree}clap v4.6.0\n")), ["clap"]);
    }
}
