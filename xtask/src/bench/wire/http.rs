//! How fast is a load of keep-alive connections that repeatedly call one tool with the modern protocol?

use std::process::Stdio;
use std::time::{Duration, Instant};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::process::{Child, Command};

/// The number of connections, and the number of calls over all of them.
#[derive(Clone, Copy)]
pub(super) struct Load {
    pub(super) connections: usize,
    pub(super) calls: usize,
}

/// The results of a load.
#[derive(Clone, Copy)]
pub(super) struct Rate {
    pub(super) calls_per_second: f64,
    pub(super) p99_ms: f64,
}

/// A server that prints its address first.
pub(super) struct Server {
    address: String,
    child: Child,
}

impl Server {
    pub(super) async fn start(words: &[String]) -> Result<Self, String> {
        let mut child = Command::new(&words[0])
            .args(&words[1..])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| format!("{}: {error}", words[0]))?;
        let (Some(stdout), Some(stderr)) = (child.stdout.take(), child.stderr.take()) else {
            return Err("no output to read".to_owned());
        };
        let (mut out, mut err) = (
            BufReader::new(stdout).lines(),
            BufReader::new(stderr).lines(),
        );
        loop {
            let line = tokio::select! {
                Ok(Some(line)) = out.next_line() => line,
                Ok(Some(line)) = err.next_line() => line,
                () = tokio::time::sleep(Duration::from_secs(10)) => return Err(format!("{words:?} names no address")),
            };
            if let Some(rest) = line.split("http://").nth(1) {
                let address = rest.split('/').next().unwrap_or_default().to_owned();
                tokio::spawn(async move { while let Ok(Some(_)) = err.next_line().await {} });
                return Ok(Self { address, child });
            }
        }
    }

    /// The memory of the process, as the system reports it.
    pub(super) fn memory_mb(&self) -> Result<f64, String> {
        let path = format!("/proc/{}/status", self.child.id().unwrap_or_default());
        let status = std::fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix("VmRSS:"))
            .unwrap_or_default();
        let kilobytes: f64 = line
            .trim()
            .trim_end_matches(" kB")
            .parse()
            .map_err(|_| "no VmRSS".to_owned())?;
        Ok(kilobytes / 1024.0)
    }
}

impl Load {
    pub(super) async fn on(self, words: &[String]) -> Result<Rate, String> {
        let server = Server::start(words).await?;
        self.drive(&server).await
    }

    pub(super) async fn drive(self, server: &Server) -> Result<Rate, String> {
        let start = Instant::now();
        let tasks: Vec<_> = (0..self.connections)
            .map(|_| {
                tokio::spawn(one_connection(
                    server.address.clone(),
                    self.calls / self.connections,
                ))
            })
            .collect();
        let mut latencies = Vec::new();
        for task in tasks {
            latencies.extend(task.await.map_err(|error| error.to_string())??);
        }
        let elapsed = start.elapsed().as_secs_f64();
        latencies.sort();
        let p99 = latencies[latencies.len() * 99 / 100];
        Ok(Rate {
            calls_per_second: latencies.len() as f64 / elapsed,
            p99_ms: p99.as_secs_f64() * 1e3,
        })
    }
}

pub(super) fn median(mut rates: Vec<Rate>) -> Rate {
    rates.sort_by(|a, b| a.calls_per_second.total_cmp(&b.calls_per_second));
    rates[rates.len() / 2]
}

async fn one_connection(address: String, calls: usize) -> Result<Vec<Duration>, String> {
    let stream = TcpStream::connect(&address)
        .await
        .map_err(|error| format!("{address}: {error}"))?;
    stream
        .set_nodelay(true)
        .map_err(|error| error.to_string())?;
    let mut stream = BufReader::new(stream);
    let mut latencies = Vec::with_capacity(calls);
    for number in 0..calls {
        let request = request(&address, number);
        let start = Instant::now();
        stream
            .write_all(request.as_bytes())
            .await
            .map_err(|error| error.to_string())?;
        let body = read_answer(&mut stream)
            .await
            .map_err(|error| error.to_string())?;
        latencies.push(start.elapsed());
        if !body.contains("hello from the bench") {
            return Err(format!("an answer without the text: {body}"));
        }
    }
    Ok(latencies)
}

fn request(address: &str, number: usize) -> String {
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":{number},"method":"tools/call","params":{{"name":"echo","arguments":{{"text":"hello from the bench"}},"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{{}},"io.modelcontextprotocol/clientInfo":{{"name":"bench","version":"1"}}}}}}}}"#
    );
    format!(
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: echo\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

async fn read_answer(stream: &mut BufReader<TcpStream>) -> std::io::Result<String> {
    let (mut length, mut line) = (None, String::new());
    loop {
        line.clear();
        if stream.read_line(&mut line).await? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        let header = line.trim_end().to_ascii_lowercase();
        if let Some(value) = header.strip_prefix("content-length:") {
            length = value.trim().parse().ok();
        }
        if header.is_empty() {
            break;
        }
    }
    match length {
        Some(length) => read_exactly(stream, length).await,
        None => read_chunks(stream).await,
    }
}

async fn read_exactly(stream: &mut BufReader<TcpStream>, length: usize) -> std::io::Result<String> {
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await?;
    Ok(String::from_utf8_lossy(&body).into_owned())
}

async fn read_chunks(stream: &mut BufReader<TcpStream>) -> std::io::Result<String> {
    let mut body = String::new();
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await?;
        let length = usize::from_str_radix(line.trim_end(), 16).unwrap_or(0);
        body.push_str(&read_exactly(stream, length + 2).await?);
        if length == 0 {
            return Ok(body);
        }
    }
}
