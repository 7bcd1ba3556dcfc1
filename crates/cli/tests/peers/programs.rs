//! Programs that run beside a test, and end with it.

use std::io::{BufRead, BufReader, Read};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A server with an address; it ends on drop.
pub(crate) struct Running {
    child: Child,
    pub(crate) url: String,
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The binary under test.
pub(crate) fn mcptest(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcptest"));
    command
        .args(words)
        .current_dir(crate::installed::repository())
        .stdin(Stdio::null());
    command
}

/// Starts a server that prints its address in the first line of standard output or standard error.
pub(crate) fn start(mut command: Command, says_on_stderr: bool) -> Running {
    command.stdin(Stdio::null());
    if says_on_stderr {
        command.stderr(Stdio::piped());
    } else {
        command.stdout(Stdio::piped());
    }
    let mut child = command.spawn().unwrap();
    let output: Box<dyn Read + Send> = if says_on_stderr {
        Box::new(child.stderr.take().unwrap())
    } else {
        Box::new(child.stdout.take().unwrap())
    };
    let mut running = Running {
        child,
        url: String::new(),
    };
    let mut lines = BufReader::new(output);
    let mut line = String::new();
    lines.read_line(&mut line).unwrap();
    let url = line
        .split_whitespace()
        .find(|word| word.starts_with("http://"));
    url.unwrap_or_else(|| panic!("no address in {line:?}"))
        .clone_into(&mut running.url);
    // Read on, for a full pipe would stop it.
    std::thread::spawn(move || lines.read_to_end(&mut Vec::new()));
    running
}

/// Starts a server that takes its port from the environment, and waits until it listens.
pub(crate) fn start_on_a_free_port(mut command: Command) -> Running {
    let port = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    command
        .env("PORT", port.to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let running = Running {
        child: command.spawn().unwrap(),
        url: format!("http://127.0.0.1:{port}/mcp"),
    };
    for _ in 0..300 {
        if TcpStream::connect(("127.0.0.1", port)).is_ok() {
            return running;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    panic!("nothing listens on port {port}");
}

impl Running {
    /// Interrupts it like a user, and waits for its end.
    pub(crate) fn interrupt(mut self) {
        let killed = Command::new("kill")
            .args(["-INT", &self.child.id().to_string()])
            .status()
            .unwrap();
        assert!(killed.success());
        self.child.wait().unwrap();
    }
}
