//! Does the proxy on stdio leave traffic unchanged, and report to each side when the other ends?

#![cfg(unix)]
#![allow(clippy::unwrap_used, missing_docs)]

use mcptest_mcp::fault::{FaultKind, Injector};
use mcptest_mcp::proxy::stdio::{ClientEnd, Patience, Setup, StdioOutcome, run};
use mcptest_mcp::proxy::{ProxyError, redactor};
use mcptest_mcp::tape::{Direction, Event, Tape, TapeServer, Writer};
use proptest::prelude::*;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, DuplexStream, duplex};
use tokio::task::JoinHandle;

struct Proxied {
    input: DuplexStream,
    output: DuplexStream,
    errors: DuplexStream,
    stop: tokio::sync::oneshot::Sender<String>,
    ended: JoinHandle<Result<StdioOutcome, ProxyError>>,
    folder: tempfile::TempDir,
}

impl Proxied {
    fn start(command: &[&str], faults: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let redactor = redactor(&["hush-[0-9]+".to_owned()], std::iter::empty(), &[]).unwrap();
        let tape = Writer::create(
            &folder.path().join("tape.jsonl"),
            TapeServer::default(),
            redactor,
        )
        .unwrap();
        let faults: Vec<FaultKind> = faults.iter().map(|fault| fault.parse().unwrap()).collect();
        let patience = Patience {
            after_client: Duration::from_millis(700),
            to_end: Duration::from_secs(2),
        };
        let setup = Setup {
            command: command.iter().map(|word| (*word).to_owned()).collect(),
            injector: Injector::new(faults),
            patience,
        };
        let (input, client_input) = duplex(1 << 16);
        let (client_output, output) = duplex(1 << 16);
        let (client_errors, errors) = duplex(8 << 20);
        let client = ClientEnd {
            input: client_input,
            output: client_output,
            errors: client_errors,
        };
        let (stop, stopped) = tokio::sync::oneshot::channel::<String>();
        let ended = tokio::spawn(run(setup, client, tape, async move {
            match stopped.await {
                Ok(reason) => reason,
                Err(_) => std::future::pending().await,
            }
        }));
        Self {
            input,
            output,
            errors,
            stop,
            ended,
            folder,
        }
    }

    /// Sends everything, closes the input, and returns the output.
    async fn exchange(mut self, bytes: &[u8]) -> (Vec<u8>, StdioOutcome, Tape, tempfile::TempDir) {
        let sent = bytes.to_vec();
        let mut input = self.input;
        let feed = tokio::spawn(async move {
            let _gone = input.write_all(&sent).await;
        });
        let mut received = Vec::new();
        self.output.read_to_end(&mut received).await.unwrap();
        feed.await.unwrap();
        let outcome = self.ended.await.unwrap().unwrap();
        (received, outcome, tape(&self.folder), self.folder)
    }
}

fn tape(folder: &tempfile::TempDir) -> Tape {
    Tape::read(&std::fs::read_to_string(folder.path().join("tape.jsonl")).unwrap()).unwrap()
}

fn block_on<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap()
        .block_on(future)
}

/// True unless the process is gone, or only waits for its parent to notice.
fn is_alive(pid: &str) -> bool {
    if let Ok(status) = std::fs::read_to_string(format!("/proc/{pid}/stat")) {
        return !status
            .rsplit(')')
            .next()
            .unwrap()
            .trim_start()
            .starts_with('Z');
    }
    let mut kill = std::process::Command::new("kill");
    kill.args(["-0", pid])
        .stderr(std::process::Stdio::null())
        .status()
        .unwrap()
        .success()
}

/// A server that answers every line as if it were a call with the id 1.
const ANSWERS: &[&str] = &[
    "sh",
    "-c",
    r#"while read -r line; do echo '{"jsonrpc":"2.0","id":1,"result":{"content":[]}}'; done"#,
];
const CALL: &[u8] =
    b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"t\"}}\n";

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]
    #[test]
    fn random_bytes_pass_both_ways_as_they_are(bytes in proptest::collection::vec(any::<u8>(), 0..50_000)) {
        let (received, outcome, ..) = block_on(async { Proxied::start(&["cat"], &[]).exchange(&bytes).await });
        prop_assert!(received == bytes, "{} bytes sent, {} received", bytes.len(), received.len());
        prop_assert_eq!((outcome.code, outcome.lost), (0, None));
    }
}

#[test]
fn a_line_of_100_mb_streams_through_and_the_tape_keeps_its_beginning() {
    let mut bytes = vec![b'x'; 100 << 20];
    bytes.extend_from_slice(b"\n{\"jsonrpc\":\"2.0\",\"method\":\"after\"}\n");
    let (received, outcome, tape, folder) =
        block_on(async { Proxied::start(&["cat"], &[]).exchange(&bytes).await });
    assert!(received == bytes);
    assert_eq!(outcome.lost, None);
    let long: Vec<u64> = tape
        .entries
        .iter()
        .filter_map(|entry| entry.bytes)
        .collect();
    assert_eq!(long, [100 << 20, 100 << 20]);
    assert_eq!(
        tape.entries
            .iter()
            .filter(|entry| entry.message.is_some())
            .count(),
        2
    );
    assert!(folder.path().join("tape.jsonl").metadata().unwrap().len() < 1 << 20);
}

#[test]
fn a_server_that_dies_in_a_call_ends_the_proxy_with_its_code() {
    let died = |script: &str| {
        let (received, outcome, tape, _) = block_on(async {
            Proxied::start(&["sh", "-c", script], &[])
                .exchange(CALL)
                .await
        });
        assert_eq!(received, b"half an ans");
        let last = tape.entries.last().unwrap().event.clone();
        (outcome.code, last)
    };
    let script = "read line; printf 'half an ans'; exit 7";
    assert_eq!(
        died(script),
        (
            7,
            Some(Event::Exit {
                status: "code 7".into()
            })
        )
    );
    let script = "read line; printf 'half an ans'; kill -9 $$";
    assert_eq!(
        died(script),
        (
            137,
            Some(Event::Exit {
                status: "signal 9 (SIGKILL)".into()
            })
        )
    );
}

#[test]
fn what_a_server_starts_and_leaves_behind_does_not_hold_the_proxy() {
    let (received, outcome, ..) = block_on(async {
        Proxied::start(&["sh", "-c", "sleep 600 & echo $!; exit 3"], &[])
            .exchange(b"")
            .await
    });
    assert_eq!(outcome.code, 3);
    let pid = String::from_utf8(received).unwrap();
    assert!(!is_alive(pid.trim()), "the grandchild {pid} lives on");
}

#[test]
fn a_server_that_ignores_its_client_going_is_ended() {
    let script = "trap '' TERM; echo $$; while :; do sleep 0.1; done";
    let (received, outcome, ..) = block_on(async {
        Proxied::start(&["sh", "-c", script], &[])
            .exchange(b"")
            .await
    });
    assert_eq!(outcome.code, 137);
    assert!(!is_alive(String::from_utf8(received).unwrap().trim()));
}

#[test]
fn a_signal_ends_the_server_and_the_tape_says_so() {
    let (outcome, tape) = block_on(async {
        let mut proxied = Proxied::start(&["sh", "-c", "echo up; exec sleep 600"], &[]);
        let mut first = [0; 3];
        proxied.output.read_exact(&mut first).await.unwrap();
        proxied.stop.send("SIGTERM".to_owned()).unwrap();
        let outcome = proxied.ended.await.unwrap().unwrap();
        (outcome, tape(&proxied.folder))
    });
    assert_eq!(outcome.code, 143);
    let events: Vec<&Event> = tape
        .entries
        .iter()
        .filter_map(|entry| entry.event.as_ref())
        .collect();
    assert!(
        events.contains(&&Event::Stopped {
            reason: "SIGTERM".into()
        }),
        "{events:?}"
    );
}

#[test]
fn secrets_pass_on_the_wire_and_are_kept_off_the_tape() {
    let line = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\",\"params\":{\"api_key\":\"abcdef0123456789\",\"t\":\"hush-42\"}}\nhush-43\n";
    let (received, _, tape, folder) = block_on(async {
        Proxied::start(&["sh", "-c", "echo hush-44 >&2; cat"], &[])
            .exchange(line.as_bytes())
            .await
    });
    assert_eq!(received, line.as_bytes());
    let text = std::fs::read_to_string(folder.path().join("tape.jsonl")).unwrap();
    assert!(
        !text.contains("hush-") && !text.contains("abcdef0123456789"),
        "{text}"
    );
    assert_eq!(
        tape.entries
            .iter()
            .filter(|entry| entry.from == Some(Direction::Client))
            .count(),
        2
    );
}

#[test]
fn standard_error_is_passed_on_and_recorded() {
    let (errors, tape) = block_on(async {
        let mut proxied = Proxied::start(&["sh", "-c", "printf 'one\\ntwo' >&2"], &[]);
        proxied.input.shutdown().await.unwrap();
        proxied.ended.await.unwrap().unwrap();
        let mut errors = String::new();
        proxied.errors.read_to_string(&mut errors).await.unwrap();
        (errors, tape(&proxied.folder))
    });
    assert_eq!(errors, "one\ntwo");
    let lines: Vec<_> = tape
        .entries
        .iter()
        .filter_map(|entry| match &entry.event {
            Some(Event::Stderr { line }) => Some(line.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(lines, ["one", "two"]);
}

#[test]
fn each_fault_does_to_the_answer_what_it_says() {
    let answer = r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#;
    let lines = |fault: &str| {
        let (received, _, tape, _) =
            block_on(async { Proxied::start(ANSWERS, &[fault]).exchange(CALL).await });
        let faults = tape
            .entries
            .iter()
            .filter(|entry| matches!(entry.event, Some(Event::Fault { .. })))
            .count();
        assert_eq!(faults, 1, "{fault}");
        let text = String::from_utf8(received).unwrap();
        text.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(lines("slow:20"), [answer]);
    assert_eq!(lines("duplicate-reply"), [answer, answer]);
    assert_eq!(lines("lost-response"), Vec::<String>::new());
    assert_eq!(lines("hang"), Vec::<String>::new());
    assert_eq!(lines("disconnect"), Vec::<String>::new());
    assert!(lines("wrong-id")[0].contains("1000004"));
    assert!(answer.starts_with(&lines("malformed")[0]));
    assert!(lines("error:-32050")[0].contains(r#""code":-32050"#));
}

#[test]
fn with_faults_on_everything_else_still_passes_as_it_is() {
    let bytes = b"no json\r\n\xff\xfe\n\n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"} \nthe end";
    let (received, ..) =
        block_on(async { Proxied::start(&["cat"], &["hang"]).exchange(bytes).await });
    assert_eq!(received, bytes);
}

#[test]
fn an_answer_comes_in_spite_of_its_cancel() {
    let seen = block_on(async {
        let mut proxied = Proxied::start(
            &[
                "sh",
                "-c",
                r#"read -r call; echo '{"jsonrpc":"2.0","id":1,"result":{}}'; read -r next; echo "$next""#,
            ],
            &["reply-after-cancel:50"],
        );
        let cancel = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1}}\n";
        proxied.input.write_all(CALL).await.unwrap();
        proxied.input.write_all(cancel.as_bytes()).await.unwrap();
        let mut lines = BufReader::new(&mut proxied.output).lines();
        let answer = lines.next_line().await.unwrap().unwrap();
        proxied.input.write_all(b"later\n").await.unwrap();
        (answer, lines.next_line().await.unwrap().unwrap())
    });
    assert_eq!(
        seen,
        (
            r#"{"jsonrpc":"2.0","id":1,"result":{}}"#.to_owned(),
            "later".to_owned()
        )
    );
}
