//! Is a signal received as soon as code waits for it, and does it end a program whose only thread
//! is busy?

#![cfg(unix)]
#![allow(clippy::unwrap_used, missing_docs)]

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Waits for a signal while the thread is busy.
#[test]
#[ignore = "the other test runs it in a process of its own"]
#[allow(clippy::print_stdout)]
fn deaf() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let busy = async {
            println!("\nbusy");
            std::thread::sleep(Duration::from_secs(600));
        };
        tokio::select! {
            biased;
            _ = mcptest_process::stop_signal() => {}
            () = busy => {}
        }
    });
}

#[test]
fn a_program_that_is_too_busy_to_hear_a_signal_ends_all_the_same() {
    for (signal, code) in [(Signal::SIGTERM, 143), (Signal::SIGINT, 130)] {
        let mut program = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "deaf", "--ignored", "--nocapture"])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = BufReader::new(program.stdout.take().unwrap()).lines();
        assert!(said.any(|line| line.unwrap() == "busy"));
        kill(Pid::from_raw(i32::try_from(program.id()).unwrap()), signal).unwrap();
        let begun = Instant::now();
        let status = loop {
            match program.try_wait().unwrap() {
                Some(status) => break status,
                None if begun.elapsed() > Duration::from_secs(60) => {
                    program.kill().unwrap();
                    break program.wait().unwrap();
                }
                None => std::thread::sleep(Duration::from_millis(20)),
            }
        };
        assert_eq!(status.code(), Some(code), "{signal}");
    }
}

#[test]
fn a_signal_that_comes_when_the_wait_has_just_begun_is_heard() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let heard = runtime.block_on(async {
        let raise = async {
            nix::sys::signal::raise(Signal::SIGTERM).unwrap();
            tokio::time::sleep(Duration::from_secs(60)).await;
        };
        tokio::select! {
            biased;
            signal = mcptest_process::stop_signal() => Some(signal.name),
            () = raise => None,
        }
    });
    assert_eq!(heard, Some("SIGTERM"));
}
