//! Does recording take only as long as the models do, for any number of runs and concurrency?

use super::measure::Sample;
use super::{Benchmark, joined, row};
use mcptest_provider_stub::{Script, Stub};
use std::path::Path;

/// The duration of a model's answer.
const LATENCY_MS: usize = 50;
/// The answers per run: a call, and the closing message.
const ANSWERS: usize = 2;
const MANIFEST: &str = "mock_server: { tools: [{ name: echo, response: hello }] }\n";

/// Records n, 2n and 4n runs, one, ten and fifty at once, against a provider with a known latency.
pub(super) fn run(bench: &Benchmark<'_>, few: usize) -> Result<(), String> {
    let at = bench.at;
    let step = |what: &str| format!("{{ {what}, delay_ms: {LATENCY_MS} }}");
    let steps = [step("calls: [{ name: echo }]"), step("text: done")].join(", ");
    let script = Script::parse(&format!("keyless: true\nsteps: [{steps}]\n"));
    let stub = Stub::start(script.map_err(|error| error.to_string())?)
        .map_err(|error| error.to_string())?;
    write(at, "record.tools.yml", MANIFEST)?;
    for jobs in [1, 10, 50] {
        let mut first: Option<Sample> = None;
        for runs in [few, 2 * few, 4 * few] {
            write(at, "record.yml", &suite(&stub.url(), runs))?;
            let at_once = jobs.to_string();
            let arguments = [
                "run",
                "record.yml",
                "--record",
                "--quiet",
                "--jobs",
                &at_once,
                "--reporter",
                "ndjson",
            ];
            let (sample, other, _) =
                bench.measure(&arguments, &[], if jobs == 1 { 1 } else { 7 })?;
            refuse_lost_runs(at, runs)?;
            let least = (runs.div_ceil(jobs) * ANSWERS * LATENCY_MS) as f64;
            let growth = first.map(|first| {
                format!(
                    ", {:.2} times the memory of {few} runs",
                    sample.mb / first.mb
                )
            });
            let beside = format!(
                "{:.2} of the latency's {least:.0} ms{}",
                sample.ms / least,
                growth.unwrap_or_default()
            );
            let bound = if jobs == 50 {
                "2.00 of the latency, 1.20 times"
            } else {
                "1.20 of the latency, 1.20 times"
            };
            let what = format!("recording {runs} runs, {jobs} at once");
            row(&what, sample, &joined(beside, &other), bound);
            first = first.or(Some(sample));
        }
    }
    Ok(())
}

fn suite(url: &str, runs: usize) -> String {
    format!(
        "providers: {{ stub: {{ type: anthropic, base_url: {url:?} }} }}
servers: {{ tools: {{ mock: record.tools.yml }} }}
agents:
  - name: recorded
    cassette: record.jsonl
    model: {{ provider: stub, id: m }}
    servers: [tools]
    prompt: go
    runs: {runs}
    expect: [{{ target: final_response, matcher: {{ exact: done }} }}]
"
    )
}

fn refuse_lost_runs(at: &Path, runs: usize) -> Result<(), String> {
    let recorded =
        std::fs::read_to_string(at.join("record.jsonl")).map_err(|error| error.to_string())?;
    match recorded.lines().count().saturating_sub(1) {
        count if count == runs => Ok(()),
        count => Err(format!("{count} of {runs} runs were recorded")),
    }
}

fn write(at: &Path, name: &str, text: &str) -> Result<(), String> {
    std::fs::write(at.join(name), text).map_err(|error| format!("{name}: {error}"))
}
