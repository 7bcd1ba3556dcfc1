//! `bench`: how fast and how small is the release build? Ratios and growth, since machines are noisy.

mod inputs;
mod measure;
mod record;
mod wire;

use crate::say;
use measure::{Sample, measure, measure_beside};
use std::path::Path;
use std::process::{Command, ExitCode};

/// What is measured.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    All,
    Wire,
    /// With this many runs, twice and four times as many.
    Record(usize),
}

/// How many runs `bench record` begins with.
const RUNS: usize = 50;

pub(crate) fn run(arguments: &[String]) -> Result<ExitCode, String> {
    let usage =
        || "`bench` takes no argument but `wire`, or `record` with a number of runs and `--debug`".to_owned();
    let is_debug = arguments.last().is_some_and(|last| last == "--debug");
    let words: Vec<&str> = arguments.iter().map(String::as_str).filter(|word| *word != "--debug").collect();
    let part = match words[..] {
        [] => Part::All,
        ["wire"] => Part::Wire,
        ["record"] => Part::Record(RUNS),
        ["record", runs] => Part::Record(runs.parse().map_err(|_| usage())?),
        _ => return Err(usage()),
    };
    if is_debug && !matches!(part, Part::Record(_)) {
        return Err(usage());
    }
    if cfg!(debug_assertions) && !is_debug {
        return in_release(arguments);
    }
    let profile: &[&str] = if is_debug { &[] } else { &["--release"] };
    let built = Command::new("cargo").args(["build", "--package", "mcptest"]).args(profile).status();
    if !built.is_ok_and(|status| status.success()) {
        return Err("the build failed".to_owned());
    }
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let at = folder.path();
    let here = std::env::current_dir().map_err(|error| error.to_string())?;
    let target =
        std::env::var("CARGO_TARGET_DIR").map_or_else(|_| here.join("target"), std::path::PathBuf::from);
    let mcptest = target.join(if is_debug { "debug/mcptest" } else { "release/mcptest" });
    let bench = Bench { mcptest: mcptest.display().to_string(), at };
    if part == Part::Wire {
        wire::run(&target, at)?;
        return Ok(ExitCode::SUCCESS);
    }
    say("| what | time | beside | memory | bound |\n|---|---|---|---|---|");
    if let Part::Record(runs) = part {
        record::run(&bench.mcptest, at, runs)?;
        return Ok(ExitCode::SUCCESS);
    }
    bench.start()?;
    bench.many_agents()?;
    bench.long_trace()?;
    bench.unordered()?;
    bench.growth()?;
    bench.stability()?;
    bench.night()?;
    record::run(&bench.mcptest, at, RUNS)?;
    wire::run(&target, at)?;
    Ok(ExitCode::SUCCESS)
}

/// The load comes from this program, so it must not be the slow part.
fn in_release(arguments: &[String]) -> Result<ExitCode, String> {
    let status = Command::new("cargo")
        .args(["run", "--quiet", "--release", "--package", "xtask", "--", "bench"])
        .args(arguments)
        .status()
        .map_err(|error| format!("cargo: {error}"))?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

struct Bench<'a> {
    mcptest: String,
    at: &'a Path,
}

impl Bench<'_> {
    fn run(&self, suite: &str) -> Vec<String> {
        vec![
            self.mcptest.clone(),
            "run".to_owned(),
            suite.to_owned(),
            "--reporter".to_owned(),
            "ndjson".to_owned(),
        ]
    }

    /// A tiny replay against starting the process at all.
    fn start(&self) -> Result<(), String> {
        inputs::one_agent(self.at)?;
        let version = vec![self.mcptest.clone(), "--version".to_owned()];
        let (replay, version) = measure_beside(self.at, &self.run("one.yml"), &version, 40)?;
        row(
            "one-agent replay",
            replay,
            &format!("{:.1} ms more than --version", replay.ms - version.ms),
            "3 ms, 20 MB",
        );
        Ok(())
    }

    fn many_agents(&self) -> Result<(), String> {
        inputs::many_agents(self.at, 1_000)?;
        row("1,000 agents in one suite", measure(self.at, &self.run("many.yml"), 7)?, "", "100 ms, 60 MB");
        Ok(())
    }

    /// A 50,000-call trace against Python reading the same file.
    fn long_trace(&self) -> Result<(), String> {
        inputs::long_trace(self.at, "long", 50_000)?;
        let python = ["python3", "-c", "import json,sys; json.load(open(sys.argv[1]))", "long.json"]
            .map(str::to_owned)
            .to_vec();
        for (suite, what) in [("long-pass.yml", "passes"), ("long-fail.yml", "fails")] {
            let (ours, theirs) = measure_beside(self.at, &self.run(suite), &python, 7)?;
            let beside = format!("{:.2} of json.load's {:.0} ms", ours.ms / theirs.ms, theirs.ms);
            row(
                &format!("50,000 calls, golden_path and subsequence, {what}"),
                ours,
                &beside,
                "1.00 of json.load, 120 MB",
            );
        }
        Ok(())
    }

    fn unordered(&self) -> Result<(), String> {
        inputs::unordered(self.at, 10_000)?;
        for (suite, what) in [("unordered-pass.yml", "passes"), ("unordered-fail.yml", "fails")] {
            let sample = measure(self.at, &self.run(suite), 5)?;
            row(&format!("unordered, 10,000 expected calls reversed, {what}"), sample, "", "600 ms, 120 MB");
        }
        Ok(())
    }

    fn stability(&self) -> Result<(), String> {
        inputs::stability(self.at)?;
        let long = measure(self.at, &self.run("session.yml"), 5)?;
        row("stability, two runs of 50,000 calls", long, "", "400 ms a trace");
        row(
            "stability, 100 runs of 1,000 calls",
            measure(self.at, &self.run("sessions.yml"), 5)?,
            "",
            "1,000 ms",
        );
        Ok(())
    }

    /// Recordings of 20 calls with five gates each: n, 2n and 4n of them.
    fn night(&self) -> Result<(), String> {
        let mut before: Option<Sample> = None;
        for agents in [2_500, 5_000, 10_000] {
            inputs::night(self.at, agents)?;
            let sample = measure(self.at, &self.run("night.yml"), 3)?;
            let beside = before
                .map(|before| format!("{:.2} times the row above", sample.ms / before.ms))
                .unwrap_or_default();
            let bound = if agents == 10_000 { "1,500 ms, 2.2 per doubling" } else { "2.2 per doubling" };
            row(&format!("{agents} cassettes of 20 calls, five gates each"), sample, &beside, bound);
            before = Some(sample);
        }
        Ok(())
    }

    /// Time at n, 2n and 4n calls.
    fn growth(&self) -> Result<(), String> {
        let mut before: Option<Sample> = None;
        for calls in [50_000, 100_000, 200_000] {
            inputs::long_trace(self.at, "grow", calls)?;
            let sample = measure(self.at, &self.run("grow-pass.yml"), 5)?;
            let beside = before
                .map(|before| format!("{:.2} times the row above", sample.ms / before.ms))
                .unwrap_or_default();
            row(&format!("{calls} calls"), sample, &beside, "2.2 per doubling");
            before = Some(sample);
        }
        Ok(())
    }
}

fn row(what: &str, sample: Sample, beside: &str, bound: &str) {
    say(&format!("| {what} | {:.1} ms | {beside} | {:.1} MB | {bound} |", sample.ms, sample.mb));
}
