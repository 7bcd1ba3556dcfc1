//! The mock server, served over HTTP from the manifest of everything, before the suite.

use super::peers::Peers;
use super::{Row, Side, checks, exceptions, scenarios};
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};

const MANIFEST: &str = "tests/conformance/everything.yml";

pub(super) fn run(
    peers: &Peers,
    version: &'static str,
    tell: &mut impl FnMut(Row),
) -> Result<(), String> {
    let mock = Mock::start(peers)?;
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let into = folder.path().display().to_string();
    peers.conformance(&[
        "server",
        "--url",
        &mock.url,
        "--requirements",
        version,
        "-o",
        &into,
    ])?;
    for scenario in scenarios::list(peers, version)? {
        if scenario.side == Side::Server && exceptions::is_run(Side::Server, &scenario.name) {
            let verdict = checks::verdict(folder.path(), &format!("server-{}", scenario.name));
            tell(Row {
                side: Side::Server,
                version,
                scenario: scenario.name,
                way: "",
                verdict,
            });
        }
    }
    Ok(())
}

/// A running mock server, which ends on drop.
struct Mock {
    child: Child,
    url: String,
}

impl Mock {
    fn start(peers: &Peers) -> Result<Self, String> {
        let mut child = Command::new(&peers.mcptest)
            .args(["mock", "--tools-from", MANIFEST, "--http", "127.0.0.1:0"])
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| format!("{}: {error}", peers.mcptest.display()))?;
        let stderr = child.stderr.take();
        let mut mock = Self {
            child,
            url: String::new(),
        };
        let mut lines = BufReader::new(stderr.ok_or("the mock server has no standard error")?);
        let mut said = String::new();
        while lines.read_line(&mut said).is_ok_and(|bytes| bytes > 0) {
            if let Some(url) = said
                .lines()
                .last()
                .filter(|line| line.starts_with("http://"))
            {
                url.clone_into(&mut mock.url);
                // Read on, for a full pipe would stop the server.
                std::thread::spawn(move || lines.read_to_end(&mut Vec::new()));
                return Ok(mock);
            }
        }
        Err(format!("the mock server did not start: {said}"))
    }
}

impl Drop for Mock {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
