//! Replay without network, environment and servers.

use crate::bench::{LiveFolder, MCPTEST, Ran};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// How a process is kept from the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seal {
    /// It runs in an empty network namespace.
    Namespace,
    /// Its system calls are traced and must not use the network.
    Listed,
}

fn seal() -> Seal {
    static SEAL: OnceLock<Seal> = OnceLock::new();
    *SEAL.get_or_init(|| {
        let works = |words: &[&str]| {
            let status = Command::new(words[0]).args(&words[1..]).stderr(Stdio::null()).status();
            status.is_ok_and(|status| status.success())
        };
        if works(&["unshare", "-rn", "true"]) {
            return Seal::Namespace;
        }
        let weaker =
            "NOT AS STRONG AS IT SHOULD BE: `unshare -rn` is not permitted here, so strace stands in for it\n";
        // Not by a macro, whose words are kept back when the test passes.
        std::io::stderr().write_all(weaker.as_bytes()).unwrap();
        assert!(
            works(&["strace", "-f", "-o", "/dev/null", "true"]),
            "neither `unshare -rn` nor strace can be used here: nothing proves that replay needs no network"
        );
        Seal::Listed
    })
}

/// Runs the program without a network and without an environment.
pub(crate) fn run_sealed(bench: &LiveFolder, words: &[&str]) -> Ran {
    let listing = bench.path("strace.txt");
    let mut command = match seal() {
        Seal::Namespace => sealed_command(&["unshare", "-rn", "--"]),
        Seal::Listed => sealed_command(&[
            "strace",
            "-f",
            "-qq",
            "-e",
            "trace=%network",
            "-o",
            &listing.display().to_string(),
        ]),
    };
    let ran = Ran::of(
        &command
            .arg(MCPTEST)
            .args(words)
            .current_dir(bench.folder())
            .output()
            .unwrap(),
    );
    if listing.exists() {
        assert_no_internet(&listing);
        std::fs::remove_file(&listing).unwrap();
    }
    ran
}

fn sealed_command(words: &[&str]) -> Command {
    let folders = ["/usr/bin", "/bin", "/usr/local/bin", "/usr/sbin"].map(Path::new);
    let program = folders
        .map(|folder| folder.join(words[0]))
        .into_iter()
        .find(|program| program.exists());
    let mut command = Command::new(program.unwrap_or_else(|| words[0].into()));
    command.args(&words[1..]).env_clear().stdin(Stdio::null());
    command
}

fn assert_no_internet(listing: &Path) {
    let text = std::fs::read_to_string(listing).unwrap();
    let calls: Vec<&str> = text
        .lines()
        .filter(|line| line.contains("AF_INET"))
        .collect();
    assert!(calls.is_empty(), "replay used the network: {calls:?}");
}

#[test]
fn the_seal_holds() {
    let bench = LiveFolder::new("steps: [{ text: hello }]");
    let suite = format!(
        "providers: {{ p: {{ type: openai, base_url: \"{}/v1\" }} }}\nagents:\n  - name: a\n    model: {{ provider: p, id: m }}\n    prompt: p\n    time_budget: 2s\n    cassette: a.jsonl\n    expect: [{{ target: final_response, matcher: {{ exact: hello }} }}]\n",
        bench.stub.url()
    );
    bench.write("suite.yml", &suite);
    assert_eq!(
        bench.run(&["run", "suite.yml", "--live"]).exit,
        Some(0),
        "without the seal it is reached"
    );
    if seal() == Seal::Namespace {
        let ran = run_sealed(&bench, &["run", "suite.yml", "--live"]);
        assert_eq!(ran.exit, Some(2), "{}{}", ran.stdout, ran.stderr);
        assert_eq!(bench.stub.count(), 1, "nothing came through");
    }
}
