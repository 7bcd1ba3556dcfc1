//! Standard streams: the first answer, the time that the proxy adds to a call, and the client's
//! throughput.

use super::super::joined;
use super::super::measure::of_the_other;
use super::{Programs, row};
use mcptest_mcp::client::{Client, Endpoint, ServerSpec};
use serde_json::value::RawValue;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

/// A server on its standard streams, with one request at a time.
struct Peer {
    stdin: ChildStdin,
    stdout: Lines<BufReader<ChildStdout>>,
    _child: Child,
}

impl Peer {
    fn start(words: &[String]) -> Result<Self, String> {
        let mut child = Command::new(&words[0])
            .args(&words[1..])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| format!("{}: {error}", words[0]))?;
        match (child.stdin.take(), child.stdout.take()) {
            (Some(stdin), Some(stdout)) => Ok(Self {
                stdin,
                stdout: BufReader::new(stdout).lines(),
                _child: child,
            }),
            _ => Err("no streams".to_owned()),
        }
    }

    async fn call(&mut self, number: usize) -> Result<(), String> {
        let request = format!(
            "{}\n",
            r#"{"jsonrpc":"2.0","id":N,"method":"tools/call","params":{"name":"echo","arguments":{"text":"hello"},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#
                .replace('N', &number.to_string())
        );
        self.stdin
            .write_all(request.as_bytes())
            .await
            .map_err(|error| error.to_string())?;
        match self.stdout.next_line().await {
            Ok(Some(line)) if line.contains("hello") => Ok(()),
            other => Err(format!("a bad answer: {other:?}")),
        }
    }
}

/// From starting the mock to its first answer.
pub(super) async fn first_answer(programs: &Programs<'_>) -> Result<(), String> {
    let mut times = vec![Vec::new(); programs.mcptest.len()];
    for _ in 0..21 {
        for (program, times) in programs.mcptest.iter().zip(&mut times) {
            let start = Instant::now();
            Peer::start(&programs.mock(program))?.call(1).await?;
            times.push(start.elapsed());
        }
    }
    let ms: Vec<f64> = times
        .into_iter()
        .map(|times| median(times).as_secs_f64() * 1e3)
        .collect();
    row(
        "mock on stdio, start to first answer",
        &format!("{:.1} ms", ms[0]),
        &of_the_other(&ms),
        "15 ms",
    );
    Ok(())
}

/// A call through the proxy, compared with the call without it.
pub(super) async fn proxy(programs: &Programs<'_>, at: &Path) -> Result<(), String> {
    let tape = at.join("bench.tape.jsonl").display().to_string();
    let mut through = vec![Vec::new(); programs.mcptest.len()];
    let mut plain = Vec::new();
    for _ in 0..5 {
        for (program, times) in programs.mcptest.iter().zip(&mut through) {
            let mut words = super::super::command(program, &["proxy", "--out", &tape, "--"]);
            words.extend(programs.mock(program));
            times.push(median_call(&words).await?);
        }
        plain.push(median_call(&programs.mock(&programs.mcptest[0])).await?);
    }
    let through: Vec<Duration> = through.into_iter().map(median).collect();
    let plain = median(plain);
    let added = through[0].saturating_sub(plain);
    let seconds: Vec<f64> = through.iter().map(Duration::as_secs_f64).collect();
    row(
        "a call through the proxy",
        &format!("{} µs", through[0].as_micros()),
        &joined(
            format!("{} µs more than without", added.as_micros()),
            &of_the_other(&seconds),
        ),
        "1,000 µs more",
    );
    Ok(())
}

async fn median_call(words: &[String]) -> Result<Duration, String> {
    let mut peer = Peer::start(words)?;
    let mut times = Vec::new();
    for number in 0..3_000 {
        let start = Instant::now();
        peer.call(number).await?;
        times.push(start.elapsed());
    }
    Ok(median(times))
}

/// Calls per second over one connection, one at a time and 64 at once.
pub(super) async fn client(programs: &Programs<'_>) -> Result<(), String> {
    let mock = programs.mock(&programs.mcptest[0]);
    let endpoint = Endpoint::Command {
        words: mock.clone(),
        env: Vec::new(),
        cwd: None,
    };
    let spec = ServerSpec::new("bench", endpoint);
    let client = Arc::new(
        Client::connect(&spec, None)
            .await
            .map_err(|error| error.to_string())?,
    );
    let one = rate(&client, 1, 10_000).await?;
    let many = rate(&client, 64, 50_000).await?;
    let mut peer = Peer::start(&mock)?;
    let start = Instant::now();
    for number in 0..10_000 {
        peer.call(number).await?;
    }
    let bare = 10_000.0 / start.elapsed().as_secs_f64();
    row(
        "client on stdio, one call at a time",
        &format!("{one:.0} calls/s"),
        &format!("{:.2} of a bare pipe's {bare:.0}", one / bare),
        "0.5 of a bare pipe",
    );
    row(
        "client on stdio, 64 calls at once",
        &format!("{many:.0} calls/s"),
        "",
        "",
    );
    Ok(())
}

async fn rate(client: &Arc<Client>, at_once: usize, calls: usize) -> Result<f64, String> {
    let start = Instant::now();
    let tasks: Vec<_> = (0..at_once)
        .map(|_| {
            let client = Arc::clone(client);
            tokio::spawn(async move {
                let arguments = RawValue::from_string(r#"{"text":"hello"}"#.to_owned())
                    .map_err(|error| error.to_string())?;
                for _ in 0..calls / at_once {
                    let called = client.call_tool("echo", &arguments, None).await;
                    called.outcome.map_err(|error| error.to_string())?;
                }
                Ok::<(), String>(())
            })
        })
        .collect();
    for task in tasks {
        task.await.map_err(|error| error.to_string())??;
    }
    Ok(calls as f64 / start.elapsed().as_secs_f64())
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}
