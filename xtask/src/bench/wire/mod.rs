//! How fast are the mock server, the proxy and the client, beside the rmcp SDK in the same run?

mod http;
mod pipe;

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
struct Programs {
    mcptest: PathBuf,
    rmcp: PathBuf,
    manifest: PathBuf,
}

impl Programs {
    fn mock(&self) -> Vec<String> {
        let words = [&self.mcptest, Path::new("mock"), Path::new("--tools-from"), &self.manifest];
        words.iter().map(|word| word.display().to_string()).collect()
    }

    fn mock_on_http(&self) -> Vec<String> {
        let mut words = self.mock();
        words.extend(["--http".to_owned(), "127.0.0.1:0".to_owned()]);
        words
    }

    fn rmcp_on_http(&self) -> Vec<String> {
        vec![self.rmcp.display().to_string(), "--http".to_owned(), "--json".to_owned()]
    }
}

pub(super) fn run(target: &Path, at: &Path) -> Result<(), String> {
    let built =
        Command::new("cargo").args(["build", "--release", "--package", "mcptest-mcp", "--examples"]).status();
    if !built.is_ok_and(|status| status.success()) {
        return Err("the release build of the examples failed".to_owned());
    }
    let manifest = at.join("bench.tools.yml");
    std::fs::write(&manifest, MANIFEST).map_err(|error| error.to_string())?;
    let programs = Programs {
        mcptest: target.join("release/mcptest"),
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
        pipe::proxy(&programs, at).await?;
        pipe::client(&programs).await
    })
}

/// 200 connections, in turns so that noise hits both.
async fn on_http(programs: &Programs) -> Result<(), String> {
    let load = Load { connections: 200, calls: 20_000 };
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..3 {
        ours.push(load.on(&programs.mock_on_http()).await?);
        theirs.push(load.on(&programs.rmcp_on_http()).await?);
    }
    let (ours, theirs) = (http::median(ours), http::median(theirs));
    row(
        "mock on HTTP, 200 connections",
        &format!("{:.0} calls/s, p99 {:.1} ms", ours.calls_per_second, ours.p99_ms),
        &format!(
            "{:.2} times rmcp's {:.0} calls/s; {:.2} of its p99 {:.1} ms",
            ours.calls_per_second / theirs.calls_per_second,
            theirs.calls_per_second,
            ours.p99_ms / theirs.p99_ms,
            theirs.p99_ms
        ),
        "1.00 times rmcp",
    );
    Ok(())
}

async fn flat_memory(programs: &Programs) -> Result<(), String> {
    let server = http::Server::start(&programs.mock_on_http()).await?;
    let load = Load { connections: 20, calls: 10_000 };
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
