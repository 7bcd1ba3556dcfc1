//! `bench`: how fast and how small is the release build? Ratios and growth, because machines are
//! noisy.

mod inputs;
mod measure;
mod record;
mod wire;

use crate::say;
use measure::{Sample, measure, of_the_other};
use std::path::Path;
use std::process::{Command, ExitCode};

/// A part of the benchmark.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    All,
    Wire,
    /// With this many runs, twice and four times as many.
    Record(usize),
}

/// The number of runs that `bench record` begins with.
const RUNS: usize = 50;

const USAGE: &str = "`bench` takes `wire`, or `record` with a number of runs and `--debug`; and `--against PROGRAM`, another build of mcptest to measure in turns with this one";

pub(crate) fn run(arguments: &[String]) -> Result<ExitCode, String> {
    let options = Options::parse(arguments)?;
    if cfg!(debug_assertions) && !options.is_debug {
        return in_release(arguments);
    }
    build(options.is_debug)?;
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let here = std::env::current_dir().map_err(|error| error.to_string())?;
    let target = std::env::var("CARGO_TARGET_DIR")
        .map_or_else(|_| here.join("target"), std::path::PathBuf::from);
    let profile = if options.is_debug { "debug" } else { "release" };
    let mcptest = target.join(profile).join("mcptest");
    let against = options
        .against
        .map(|other| here.join(other).display().to_string());
    let bench = Benchmark {
        programs: std::iter::once(mcptest.display().to_string())
            .chain(against)
            .collect(),
        at: folder.path(),
    };
    bench.measure_part(options.part, &target)?;
    Ok(ExitCode::SUCCESS)
}

struct Options {
    part: Part,
    is_debug: bool,
    /// Another build of mcptest.
    against: Option<String>,
}

impl Options {
    fn parse(arguments: &[String]) -> Result<Self, String> {
        let mut words: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let is_debug = words.contains(&"--debug");
        words.retain(|word| *word != "--debug");
        let against = match words.iter().position(|word| *word == "--against") {
            Some(flag) if flag + 1 < words.len() => {
                words.drain(flag..flag + 2).nth(1).map(str::to_owned)
            }
            Some(_) => return Err(USAGE.to_owned()),
            None => None,
        };
        let part = match words[..] {
            [] => Part::All,
            ["wire"] => Part::Wire,
            ["record"] => Part::Record(RUNS),
            ["record", runs] => Part::Record(runs.parse().map_err(|_| USAGE.to_owned())?),
            _ => return Err(USAGE.to_owned()),
        };
        if is_debug && !matches!(part, Part::Record(_)) {
            return Err(USAGE.to_owned());
        }
        Ok(Self {
            part,
            is_debug,
            against,
        })
    }
}

fn build(is_debug: bool) -> Result<(), String> {
    let profile: &[&str] = if is_debug { &[] } else { &["--release"] };
    let built = Command::new("cargo")
        .args(["build", "--workspace", "--bin", "mcptest"])
        .args(profile)
        .status();
    if built.is_ok_and(|status| status.success()) {
        Ok(())
    } else {
        Err("the build failed".to_owned())
    }
}

/// Builds this program in release mode, because it produces the load.
fn in_release(arguments: &[String]) -> Result<ExitCode, String> {
    let status = Command::new("cargo")
        .args([
            "run",
            "--quiet",
            "--release",
            "--package",
            "xtask",
            "--",
            "bench",
        ])
        .args(arguments)
        .status()
        .map_err(|error| format!("cargo: {error}"))?;
    Ok(if status.success() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

struct Benchmark<'a> {
    /// The release build, and the program for comparison.
    programs: Vec<String>,
    at: &'a Path,
}

/// The sample, the comparison in words, and the samples of the other programs.
type Measured = (Sample, String, Vec<Sample>);

impl Benchmark<'_> {
    fn measure_part(&self, part: Part, target: &Path) -> Result<(), String> {
        if part == Part::Wire {
            return wire::run(self, target);
        }
        say("| what | time | beside | memory | bound |\n|---|---|---|---|---|");
        if let Part::Record(runs) = part {
            return record::run(self, runs);
        }
        self.start()?;
        self.many_agents()?;
        self.long_trace()?;
        self.unordered()?;
        self.growth()?;
        self.stability()?;
        self.night()?;
        record::run(self, RUNS)?;
        wire::run(self, target)
    }

    fn measure(
        &self,
        arguments: &[&str],
        beside: &[Vec<String>],
        times: usize,
    ) -> Result<Measured, String> {
        let ours = self
            .programs
            .iter()
            .map(|program| command(program, arguments));
        let commands: Vec<_> = ours.chain(beside.iter().cloned()).collect();
        let mut samples = measure(self.at, &commands, times)?;
        let beside = samples.split_off(self.programs.len());
        let times: Vec<f64> = samples.iter().map(|sample| sample.ms).collect();
        Ok((samples[0], of_the_other(&times), beside))
    }

    fn replay(&self, what: &str, suite: &str, times: usize, bound: &str) -> Result<(), String> {
        let (sample, other, _) = self.measure(&replay(suite), &[], times)?;
        row(what, sample, &other, bound);
        Ok(())
    }

    /// A tiny replay against starting the process at all.
    fn start(&self) -> Result<(), String> {
        inputs::one_agent(self.at)?;
        let version = command(&self.programs[0], &["--version"]);
        let (ours, other, beside) = self.measure(&replay("one.yml"), &[version], 40)?;
        let more = format!("{:.1} ms more than --version", ours.ms - beside[0].ms);
        row(
            "one-agent replay",
            ours,
            &joined(more, &other),
            "3 ms, 20 MB",
        );
        Ok(())
    }

    fn many_agents(&self) -> Result<(), String> {
        inputs::many_agents(self.at, 1_000)?;
        self.replay("1,000 agents in one suite", "many.yml", 21, "100 ms, 60 MB")
    }

    /// A trace of 50,000 calls, compared with Python reading the same file.
    fn long_trace(&self) -> Result<(), String> {
        inputs::long_trace(self.at, "long", 50_000)?;
        let python = command(
            "python3",
            &[
                "-c",
                "import json,sys; json.load(open(sys.argv[1]))",
                "long.json",
            ],
        );
        for (suite, what) in [("long-pass.yml", "passes"), ("long-fail.yml", "fails")] {
            let (ours, other, beside) =
                self.measure(&replay(suite), std::slice::from_ref(&python), 15)?;
            let theirs = beside[0].ms;
            row(
                &format!("50,000 calls, golden_path and subsequence, {what}"),
                ours,
                &joined(
                    format!("{:.2} of json.load's {theirs:.0} ms", ours.ms / theirs),
                    &other,
                ),
                "1.00 of json.load, 120 MB",
            );
        }
        Ok(())
    }

    fn unordered(&self) -> Result<(), String> {
        inputs::unordered(self.at, 10_000)?;
        for (suite, what) in [
            ("unordered-pass.yml", "passes"),
            ("unordered-fail.yml", "fails"),
        ] {
            let what = format!("unordered, 10,000 expected calls reversed, {what}");
            self.replay(&what, suite, 15, "600 ms, 120 MB")?;
        }
        Ok(())
    }

    fn stability(&self) -> Result<(), String> {
        inputs::stability(self.at)?;
        self.replay(
            "stability, two runs of 50,000 calls",
            "session.yml",
            15,
            "400 ms a trace",
        )?;
        self.replay(
            "stability, 100 runs of 1,000 calls",
            "sessions.yml",
            15,
            "1,000 ms",
        )
    }

    /// Recordings of 20 calls with five gates each: n, 2n and 4n of them.
    fn night(&self) -> Result<(), String> {
        let mut half = None;
        for agents in [2_500, 5_000, 10_000] {
            inputs::night(self.at, agents)?;
            let bound = if agents == 10_000 {
                "1,500 ms, 2.2 per doubling"
            } else {
                "2.2 per doubling"
            };
            let what = format!("{agents} cassettes of 20 calls, five gates each");
            let (sample, other, _) = self.measure(&replay("night.yml"), &[], 9)?;
            row(&what, sample, &joined(growth(half, sample), &other), bound);
            half = Some(sample);
        }
        Ok(())
    }

    /// Time at n, 2n and 4n calls.
    fn growth(&self) -> Result<(), String> {
        let mut half = None;
        for calls in [50_000, 100_000, 200_000] {
            inputs::long_trace(self.at, "grow", calls)?;
            let (sample, other, _) = self.measure(&replay("grow-pass.yml"), &[], 15)?;
            row(
                &format!("{calls} calls"),
                sample,
                &joined(growth(half, sample), &other),
                "2.2 per doubling",
            );
            half = Some(sample);
        }
        Ok(())
    }
}

/// The ratio of the times for the whole and for half of it.
fn growth(half: Option<Sample>, whole: Sample) -> String {
    half.map(|half| format!("{:.2} times the row above", whole.ms / half.ms))
        .unwrap_or_default()
}

fn replay(suite: &str) -> [&str; 4] {
    ["run", suite, "--reporter", "ndjson"]
}

fn command(program: &str, arguments: &[&str]) -> Vec<String> {
    std::iter::once(program)
        .chain(arguments.iter().copied())
        .map(str::to_owned)
        .collect()
}

/// Joins two remarks in one cell.
fn joined(first: String, second: &str) -> String {
    match (first.is_empty(), second.is_empty()) {
        (false, false) => format!("{first}; {second}"),
        _ => first + second,
    }
}

fn row(what: &str, sample: Sample, beside: &str, bound: &str) {
    say(&format!(
        "| {what} | {:.1} ms | {beside} | {:.1} MB | {bound} |",
        sample.ms, sample.mb
    ));
}
