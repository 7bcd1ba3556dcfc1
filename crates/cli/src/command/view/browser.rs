//! How is the user's browser opened?

use std::io::IsTerminal;
use std::process::{Command, Stdio};

/// Opens this address in the browser that the system or `BROWSER` names. Returns false without a terminal, or if no
/// program opens addresses.
pub(super) fn open(address: &str) -> bool {
    if !std::io::stderr().is_terminal() {
        return false;
    }
    let own = std::env::var("BROWSER").ok().filter(|own| !own.is_empty());
    own.is_some_and(|own| start(&own, &[address]))
        || OPENERS.iter().any(|(program, words)| {
            let words: Vec<&str> = words.iter().copied().chain([address]).collect();
            start(program, &words)
        })
}

/// The programs that open an address, with the words before it.
#[cfg(target_os = "macos")]
const OPENERS: &[(&str, &[&str])] = &[("open", &[])];
#[cfg(windows)]
const OPENERS: &[(&str, &[&str])] = &[("rundll32", &["url.dll,FileProtocolHandler"])];
#[cfg(not(any(target_os = "macos", windows)))]
const OPENERS: &[(&str, &[&str])] = &[("xdg-open", &[]), ("wslview", &[])];

fn start(program: &str, words: &[&str]) -> bool {
    let started = Command::new(program)
        .args(words)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let Ok(mut child) = started else {
        return false;
    };
    // Nobody waits for it, so that it would stay as a zombie.
    std::thread::spawn(move || child.wait());
    true
}
