//! How fast are the mock server, the proxy and the client, compared with the rmcp SDK in the same
//! run?

mod http;
mod pipe;

use super::measure::of_the_other;
use super::{Benchmark, joined};
use crate::say;
use http::Load;
use std::path::{Path, PathBuf};
use std::process::Command;

const MANIFEST: &str = r#"
mock_server:
  name: bench
  version: "1"
  tools:
    - name: echo
      description: Gives the text back
      input_schema: {type: object, properties: {text: {type: string}}, required: [text]}
      response: "${args.text}"
"#;

/// The programs that are measured.
struct Programs<'a> {
    /// The release build, and the program for comparison.
    mcptest: &'a [String],
    rmcp: PathBuf,
    manifest: PathBuf,
}

impl Programs<'_> {
    fn mock(&self, mcptest: &str) -> Vec<String> {
        super::command(
            mcptest,
            &["mock", "--tools-from", &self.manifest.display().to_string()],
        )
    }

    fn mock_on_http(&self, mcptest: &str) -> Vec<String> {
        let mut words = self.mock(mcptest);
        words.extend(["--http".to_owned(), "127.0.0.1:0".to_owned()]);
        words
    }

    fn rmcp_on_http(&self) -> Vec<String> {
        vec![
            self.rmcp.display().to_string(),
            "--http".to_owned(),
            "--json".to_owned(),
        ]
    }
}

pub(super) fn run(bench: &Benchmark<'_>, target: &Path) -> Result<(), String> {
    let built = Command::new("cargo")
        .args([
            "build",
            "--release",
            "--workspace",
            "--example",
            "rmcp_echo",
        ])
        .status();
    if !built.is_ok_and(|status| status.success()) {
        return Err("the release build of rmcp_echo failed".to_owned());
    }
    let manifest = bench.at.join("bench.tools.yml");
    std::fs::write(&manifest, MANIFEST).map_err(|error| error.to_string())?;
    let programs = Programs {
        mcptest: &bench.programs,
        rmcp: target.join("release/examples/rmcp_echo"),
        manifest,
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    runtime.block_on(async {
        say("\n| what | measured | beside | bound |\n|---|---|---|---|");
        on_http(&programs).await?;
        flat_memory(&programs).await?;
        pipe::first_answer(&programs).await?;
        pipe::proxy(&programs, bench.at).await?;
        pipe::client(&programs).await
    })
}

/// 200 connections, in turns so that noise affects both.
async fn on_http(programs: &Programs<'_>) -> Result<(), String> {
    let load = Load {
        connections: 200,
        calls: 20_000,
    };
    let mut ours = vec![Vec::new(); programs.mcptest.len()];
    let mut theirs = Vec::new();
    for round in 0..9 {
        for turn in 0..ours.len() {
            let program = (round + turn) % ours.len();
            ours[program].push(
                load.on(&programs.mock_on_http(&programs.mcptest[program]))
                    .await?,
            );
        }
        theirs.push(load.on(&programs.rmcp_on_http()).await?);
    }
    let ours: Vec<_> = ours.into_iter().map(http::median).collect();
    let rates: Vec<f64> = ours.iter().map(|rate| rate.calls_per_second).collect();
    let (ours, theirs) = (ours[0], http::median(theirs));
    let beside = format!(
        "{:.2} times rmcp's {:.0} calls/s; {:.2} of its p99 {:.1} ms",
        ours.calls_per_second / theirs.calls_per_second,
        theirs.calls_per_second,
        ours.p99_ms / theirs.p99_ms,
        theirs.p99_ms
    );
    row(
        "mock on HTTP, 200 connections",
        &format!(
            "{:.0} calls/s, p99 {:.1} ms",
            ours.calls_per_second, ours.p99_ms
        ),
        &joined(beside, &of_the_other(&rates)),
        "1.00 times rmcp",
    );
    Ok(())
}

async fn flat_memory(programs: &Programs<'_>) -> Result<(), String> {
    let server = http::Server::start(&programs.mock_on_http(&programs.mcptest[0])).await?;
    let load = Load {
        connections: 20,
        calls: 10_000,
    };
    load.drive(&server).await?;
    let early = server.memory_mb()?;
    for _ in 0..9 {
        load.drive(&server).await?;
    }
    let late = server.memory_mb()?;
    row(
        "memory of the mock after 100,000 calls",
        &format!("{late:.1} MB"),
        &format!("{early:.1} MB after 10,000"),
        "1.1 times",
    );
    Ok(())
}

fn row(what: &str, measured: &str, beside: &str, bound: &str) {
    say(&format!("| {what} | {measured} | {beside} | {bound} |"));
}
