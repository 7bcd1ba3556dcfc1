//! `cargo xtask fuzz`: a minute of fuzzing for each target, from its saved corpus.

use crate::say;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

const SECONDS_EACH: &str = "60";

pub(crate) fn run(arguments: &[String]) -> Result<ExitCode, String> {
    let (seconds, names) = match arguments {
        [flag, seconds, names @ ..] if flag == "--seconds" => (seconds.as_str(), names),
        names => (SECONDS_EACH, names),
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let known = targets(&root)?;
    if let Some(stranger) = names.iter().find(|name| !known.contains(name)) {
        return Err(format!(
            "unknown fuzz target `{stranger}`; valid targets: {}",
            known.join(", ")
        ));
    }
    let mut failed = Vec::new();
    for target in known
        .iter()
        .filter(|name| names.is_empty() || names.contains(name))
    {
        say(&format!("== {target}"));
        if !fuzz(&root, target, seconds)? {
            failed.push(target.as_str());
        }
    }
    if failed.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    say(&format!(
        "failed: {}; the inputs are under fuzz/artifacts/",
        failed.join(", ")
    ));
    Ok(ExitCode::FAILURE)
}

fn targets(root: &Path) -> Result<Vec<String>, String> {
    let folder = root.join("fuzz/fuzz_targets");
    let entries =
        std::fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let paths = entries.filter_map(|entry| entry.ok().map(|entry| entry.path()));
    let stem = |path: PathBuf| {
        path.file_stem()
            .map(|stem| stem.to_string_lossy().into_owned())
    };
    let mut names: Vec<String> = paths.filter_map(stem).collect();
    names.sort();
    Ok(names)
}

/// Writes new inputs to a separate folder, so that the saved corpus changes only by hand.
fn fuzz(root: &Path, target: &str, seconds: &str) -> Result<bool, String> {
    let found = root.join("target/fuzz-found").join(target);
    std::fs::create_dir_all(&found).map_err(|error| format!("{}: {error}", found.display()))?;
    let status = Command::new("cargo")
        .current_dir(root)
        // The coverage flags need no nightly compiler as long as no sanitizer is asked for.
        .args([
            "fuzz",
            "run",
            "--sanitizer",
            "none",
            "--target-dir",
            "target/fuzz",
            target,
        ])
        .arg(&found)
        .arg(root.join("fuzz/corpus").join(target))
        .args([
            "--",
            &format!("-max_total_time={seconds}"),
            "-max_len=8192",
            "-timeout=10",
            "-verbosity=0",
        ])
        .status()
        .map_err(|error| {
            format!("cargo fuzz: {error}; install it with `cargo install cargo-fuzz`")
        })?;
    Ok(status.success())
}
