//! The stub as a program: prints its base URL and serves until it is ended.

use mcptest_provider_stub::{Script, Stub};
use std::io::Write;
use std::process::ExitCode;

const USAGE: &str = "usage: mcptest-provider-stub [--script FILE] [--port N]";

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            let _closed = writeln!(std::io::stderr(), "{why}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<(), String> {
    let (mut script, mut port) = (Script::default(), 0);
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let value = words.next().ok_or(USAGE)?;
        match word.as_str() {
            "--script" => {
                let text =
                    std::fs::read_to_string(&value).map_err(|error| format!("{value}: {error}"))?;
                script = Script::parse(&text).map_err(|error| format!("{value}: {error}"))?;
            }
            "--port" => {
                port = value
                    .parse()
                    .map_err(|_| format!("{value:?} is not a port; {USAGE}"))?;
            }
            _ => return Err(USAGE.to_owned()),
        }
    }
    let stub = Stub::start_on(port, script).map_err(|error| format!("port {port}: {error}"))?;
    writeln!(std::io::stdout(), "{}", stub.url()).map_err(|error| error.to_string())?;
    loop {
        std::thread::park();
    }
}
