//! Wall time and peak memory of a program, taken by Python's `resource`, which the system always has.

use std::path::Path;
use std::process::Command;

/// The median time and the peak memory of a program.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sample {
    pub(super) ms: f64,
    pub(super) mb: f64,
}

const PROBE: &str = "
import resource, subprocess, sys, time
start = time.perf_counter()
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
print((time.perf_counter() - start) * 1000, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024)
";

/// The median of several runs.
pub(super) fn measure(at: &Path, command: &[String], times: usize) -> Result<Sample, String> {
    let samples = (0..times).map(|_| probe(at, command)).collect::<Result<Vec<_>, _>>()?;
    Ok(median(samples))
}

/// Two programs, run in turns so that noise hits both.
pub(super) fn measure_beside(
    at: &Path,
    one: &[String],
    other: &[String],
    times: usize,
) -> Result<(Sample, Sample), String> {
    let mut samples = (Vec::new(), Vec::new());
    for _ in 0..times {
        samples.0.push(probe(at, one)?);
        samples.1.push(probe(at, other)?);
    }
    Ok((median(samples.0), median(samples.1)))
}

fn probe(at: &Path, command: &[String]) -> Result<Sample, String> {
    let output = Command::new("python3").arg("-c").arg(PROBE).args(command).current_dir(at).output();
    let output = output.map_err(|error| format!("python3: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let numbers: Vec<f64> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    match numbers[..] {
        [ms, mb] => Ok(Sample { ms, mb }),
        _ => Err(format!("cannot measure {command:?}: {}", String::from_utf8_lossy(&output.stderr))),
    }
}

fn median(mut samples: Vec<Sample>) -> Sample {
    samples.sort_by(|a, b| a.ms.total_cmp(&b.ms));
    let mb = samples.iter().map(|sample| sample.mb).fold(0.0, f64::max);
    Sample { ms: samples[samples.len() / 2].ms, mb }
}
