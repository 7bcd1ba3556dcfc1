//! Wall time and peak memory of a program, from Python's `resource` module, which the system has.

use std::path::Path;
use std::process::Command;

/// The median time and the peak memory of a program.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sample {
    pub(super) ms: f64,
    pub(super) mb: f64,
}

/// The ratio of mcptest's first number to the other program's, in words. Empty without another
/// program.
pub(super) fn of_the_other(ours_and_other: &[f64]) -> String {
    match ours_and_other {
        [ours, other] => format!("{:.2} of the other program's", ours / other),
        _ => String::new(),
    }
}

const PROBE: &str = "
import resource, subprocess, sys, time
start = time.perf_counter()
code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
if code not in (0, 1):
    sys.exit(f'it ended with exit code {code}')
print((time.perf_counter() - start) * 1000, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024)
";

/// The medians of several programs, run in turns so that noise affects all. Every round begins with
/// a different one, and the first program runs last, so that its files can be checked.
pub(super) fn measure(
    at: &Path,
    programs: &[Vec<String>],
    times: usize,
) -> Result<Vec<Sample>, String> {
    let mut samples = vec![Vec::new(); programs.len()];
    for round in 0..times {
        for turn in 0..programs.len() {
            let program = (turn + times - round) % programs.len();
            samples[program].push(probe(at, &programs[program])?);
        }
    }
    Ok(samples.into_iter().map(median).collect())
}

fn probe(at: &Path, command: &[String]) -> Result<Sample, String> {
    let output = Command::new("python3")
        .arg("-c")
        .arg(PROBE)
        .args(command)
        .current_dir(at)
        .output();
    let output = output.map_err(|error| format!("python3: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let numbers: Vec<f64> = text
        .split_whitespace()
        .filter_map(|word| word.parse().ok())
        .collect();
    match numbers[..] {
        [ms, mb] => Ok(Sample { ms, mb }),
        _ => Err(format!(
            "cannot measure {command:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        )),
    }
}

fn median(mut samples: Vec<Sample>) -> Sample {
    samples.sort_by(|a, b| a.ms.total_cmp(&b.ms));
    let mb = samples.iter().map(|sample| sample.mb).fold(0.0, f64::max);
    Sample {
        ms: samples[samples.len() / 2].ms,
        mb,
    }
}
