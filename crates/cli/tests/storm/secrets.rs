//! Does any secret of a planted list reach a file or an output, in any form?

use crate::place::{Place, Web, own_files, seen, stub, text};
use base64::Engine;
use base64::alphabet;
use base64::engine::{GeneralPurpose, general_purpose::NO_PAD};
use mcptest_report::{REPORTERS, Reporter};
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

/// The values of variables. Servers, agents and providers repeat all of them in every form.
const VALUES: [(&str, &str); 12] = [
    ("OF_PROMPT", "prompt/secret+value=01"),
    ("OF_SYSTEM", "system/secret+value=02"),
    ("OF_SERVER", "server/secret+value=03"),
    ("OF_ARGUMENT", "argument/secret+value=04"),
    ("OF_HEADER", "header/secret+value=05"),
    ("OF_BEARER", "bearer-secret-value-06"),
    ("OF_PROVIDER", "provider-secret-value-07"),
    ("ANTHROPIC_API_KEY", "family-secret-value-08"),
    ("OF_OWN", "own agent/secret+value=09"),
    ("OF_CHORE", "chore/secret+value=10"),
    ("OF_URL", "url-secret-value-11"),
    ("OF_EXPECT", "expected/secret+value=12"),
];

/// Secrets recognised by shape, name, header or the suite's own pattern.
const SHAPES: [&str; 6] = [
    "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
    "sk-ant-api03-AAAAbbbbCCCCddddEEEEffff0000",
    "hunter2hunter2",
    "abcdefgh12345678",
    "TICKET-483920",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
];

fn suite(web: &str) -> String {
    let program = own_files().join("server.py").display().to_string();
    // A server tells only what it is given.
    let given: Vec<String> = VALUES
        .iter()
        .map(|(name, _)| format!(r#"{name}: "${{{name}:-}}""#))
        .collect();
    let given = given.join(", ");
    format!(
        r#"
redact: [{{ name: ticket, pattern: "TICKET-[0-9]{{6}}" }}]
providers: {{ own: {{ type: openai, base_url: "${{STUB_URL:-http://127.0.0.1:1}}", api_key_env: OF_PROVIDER }} }}
servers:
  teller: {{ command: [python3, {program:?}, tells, "${{OF_ARGUMENT}}"], env: {{ KNOWS: "${{OF_SERVER}}", {given} }}, era: legacy }}
  dying: {{ command: [python3, {program:?}, tells-and-dies, "${{OF_ARGUMENT}}"], env: {{ {given} }}, era: legacy }}
  web: {{ url: "{web}", headers: {{ X-Other: {{ env: OF_HEADER }} }}, auth: {{ bearer_token_env: OF_BEARER }}, era: legacy }}
  nowhere: {{ url: "http://127.0.0.1:1/mcp?token=${{OF_URL}}", connect_timeout: 1s }}
agents:
  - name: model
    model: {{ provider: own, id: m }}
    servers: [teller, web]
    prompt: Use ${{OF_PROMPT:-nothing}} and ghp_16C7e42F292c6912E7710c838347Ae178B4a.
    system_prompt: You are ${{OF_SYSTEM:-nobody}} of sk-ant-api03-AAAAbbbbCCCCddddEEEEffff0000.
    expect: [{{ target: final_response, matcher: {{ exact: x }} }}, {{ target: "tool_calls[0].args", matcher: {{ exact: x }} }}, {{ target: "tool_results[0].content", matcher: {{ exact: x }} }}, {{ target: "tool_results[1].error", matcher: {{ exact: {{ x: 1 }} }} }}]
    golden_path: {{ calls: [echo] }}
    trajectory: {{ mode: strict, calls: [{{ name: echo, args: {{ subset: {{ said: "${{OF_EXPECT:-x}}" }} }} }}] }}
  - {{ name: refused, model: claude-refused, servers: [teller], prompt: refuse, expect: [{{ target: final_response, matcher: {{ exact: x }} }}] }}
  - {{ name: later, model: {{ provider: own, id: m }}, servers: [teller], prompt: fail later, expect: [{{ target: final_response, matcher: {{ exact: x }} }}] }}
  - {{ name: dying, model: {{ provider: own, id: m }}, servers: [dying], prompt: hi, expect: [{{ target: final_response, matcher: {{ exact: x }} }}] }}
  - {{ name: nowhere, model: {{ provider: own, id: m }}, servers: [nowhere], prompt: hi, expect: [{{ target: final_response, matcher: {{ exact: x }} }}] }}
  - name: own
    agent: {{ command: [sh, -c, 'cat; echo "$GIVEN ghp_16C7e42F292c6912E7710c838347Ae178B4a"; printf %s "$GIVEN" | base64; printf %s "$GIVEN" | base64 >&2; exit 3'], env: {{ GIVEN: "${{OF_OWN}}", PASSWORD: hunter2hunter2 }} }}
    servers: [teller]
    prompt: Use ${{OF_PROMPT:-nothing}}.
    expect: [{{ target: final_response, matcher: {{ exact: x }} }}]
  - name: chore
    model: {{ provider: own, id: m }}
    prompt: hi
    setup: [sh, -c, 'printf %s "$0" | base64 >&2; echo "no: $0" >&2; exit 3', "${{OF_CHORE}}"]
    expect: [{{ target: final_response, matcher: {{ exact: x }} }}]
  - name: expects
    model: {{ provider: own, id: m }}
    prompt: hi
    expect: [{{ target: final_response, matcher: {{ exact: "${{OF_EXPECT:-x}}" }} }}]
"#
    )
}

/// A model that repeats its whole input, and a provider that repeats keys.
fn script() -> String {
    let of_no_header = |shape: &&str| !shape.starts_with("hunter") && !shape.starts_with("abc");
    let shapes: Vec<&str> = SHAPES.into_iter().filter(of_no_header).collect();
    let shapes = format!("{} Bearer abcdefgh12345678", shapes.join(" "));
    let keys = "family-secret-value-08 provider-secret-value-07 ZmFtaWx5LXNlY3JldC12YWx1ZS0wOA==";
    format!(
        "rules:
- when: {{ prompt: refuse }}
  steps: [{{ status: 401, message: 'bad key {keys}' }}]
- when: {{ prompt: fail later }}
  steps: [{{ calls: [{{ name: teller__echo }}, {{ name: family-secret-value-08 }}, {{ name: ghp_16C7e42F292c6912E7710c838347Ae178B4a }}] }}, {{ delay_ms: 300, status: 400, message: 'bad key {keys} {{{{last_result}}}}' }}]
- when: {{ prompt: Use }}
  steps:
  - {{ text: 'I use {{{{prompt}}}} {shapes}', calls: [{{ name: teller__echo, args: {{ said: '{{{{prompt}}}}', '{{{{prompt}}}}': 1 }} }}] }}
  - {{ calls: [{{ name: teller__refuse }}, {{ name: web__echo }}] }}
  - {{ calls: [{{ name: teller__die, args_text: 'not JSON: {{{{last_result}}}}' }}] }}
  - {{ calls: [{{ name: teller__die }}] }}
  - {{ text: 'I was told {{{{last_result}}}} of {{{{prompt}}}} {shapes}' }}
- steps: [{{ text: 'expected/secret+value=12 and {keys}' }}]
"
    )
}

/// Every form in which a value could appear.
fn forms(value: &str) -> Vec<String> {
    let hex = |byte: u8| format!("%{byte:02X}");
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
    let quoted: String = value
        .bytes()
        .map(|byte| {
            if is_plain(byte) {
                char::from(byte).to_string()
            } else {
                hex(byte)
            }
        })
        .collect();
    let all: String = value.bytes().map(hex).collect();
    let mut forms = vec![
        value.to_owned(),
        value.replace('/', "\\/"),
        quoted.to_lowercase(),
        all.to_lowercase(),
        quoted,
        all,
    ];
    for alphabet in [&alphabet::STANDARD, &alphabet::URL_SAFE] {
        let engine = GeneralPurpose::new(alphabet, NO_PAD);
        forms.extend((0..3).map(|shift| core(&engine, shift, value)));
    }
    forms
}

/// The characters of base64 that hold only this value after `shift` other bytes.
fn core(engine: &GeneralPurpose, shift: usize, value: &str) -> String {
    let bytes = [&vec![0; shift][..], value.as_bytes()].concat();
    let encoded = engine.encode(&bytes);
    let (start, end) = ((shift * 8).div_ceil(6), bytes.len() * 8 / 6);
    encoded[start..end].to_owned()
}

fn assert_none(place: &str, text: &str) {
    let values = VALUES.iter().map(|(_, value)| *value).chain(SHAPES);
    for value in values {
        for form in forms(value) {
            if let Some(at) = text.find(&form) {
                let around: String = text[..at]
                    .chars()
                    .rev()
                    .take(200)
                    .collect::<Vec<_>>()
                    .into_iter()
                    .rev()
                    .collect();
                panic!("{place} has {value:?} as {form:?} behind …{around}");
            }
        }
    }
}

fn assert_none_in(name: &str, place: &Place, output: &Output) {
    assert_none(&format!("stdout of {name}"), &text(&output.stdout));
    assert_none(&format!("stderr of {name}"), &text(&output.stderr));
    for path in place
        .files()
        .iter()
        .filter(|path| !path.ends_with("mcptest.yml"))
    {
        assert_none(
            &format!("{} after {name}", path.display()),
            &text(&fs::read(path).unwrap()),
        );
    }
}

/// Every report, each to its own file except the first.
fn reporters() -> Vec<&'static str> {
    let file = |reporter: &Reporter| -> &'static str {
        format!("{}=report.{}", reporter.key, reporter.key).leak()
    };
    let files = REPORTERS[1..]
        .iter()
        .flat_map(|reporter| ["--reporter", file(reporter)]);
    ["--verbose", "--reporter", REPORTERS[0].key]
        .into_iter()
        .chain(files)
        .collect()
}

#[test]
fn no_planted_secret_reaches_a_file_or_an_output() {
    let web = Web::start(&own_files().join("server.py"), "tells");
    let place = Place::new(&suite(&web.url));
    let stub = stub(&script());
    let run = |words: &[&str]| {
        let words = [&["run"], words, &reporters()].concat();
        let mut command = place.asking(&stub, &words);
        command.env("STUB_URL", stub.url()).envs(VALUES);
        command.output().unwrap()
    };
    let recorded = run(&["--record"]);
    assert_none_in("--record", &place, &recorded);
    let said = seen(&recorded);
    let kept: String = place
        .files()
        .iter()
        .map(|path| text(&fs::read(path).unwrap()))
        .collect();
    for name in VALUES
        .iter()
        .map(|(name, _)| *name)
        .chain(["ticket", "password", "bearer-token"])
    {
        let word = format!("[redacted:{name}]");
        assert!(
            said.contains(&word) || kept.contains(&word),
            "{word} does not stand where it was told: {said}"
        );
    }
    let rows = [
        place.row("report.json", "model"),
        place.row("report.json", "later"),
        place.row("report.json", "own"),
    ];
    let status = |row: &serde_json::Value| row["status"].as_str().unwrap().to_owned();
    assert_eq!(
        rows.each_ref().map(status),
        ["failed", "error", "failed"],
        "{said}"
    );
    assert_none_in("replay", &place, &run(&[]));
    for row in &rows {
        assert_eq!(
            *row,
            place.row("report.json", row["name"].as_str().unwrap()),
            "replayed with the same environment"
        );
    }
    let words = [&["run"], &reporters()[..]].concat();
    let bare = place.command(&words).output().unwrap();
    assert_none_in("replay without an environment", &place, &bare);
    assert!(!seen(&bare).contains("stale"), "{}", seen(&bare));
    for row in &rows {
        let replayed = place.row("report.json", row["name"].as_str().unwrap());
        assert_eq!(status(row), status(&replayed), "{}", seen(&bare));
        assert_eq!(row["runs"], replayed["runs"], "{}", seen(&bare));
    }
    assert_none_in("--live", &place, &run(&["--live"]));
    assert_none_in("--record=failed", &place, &run(&["--record=failed"]));
    let mut watched = on_a_terminal(&[&["run", "--live"], &reporters()[..]].concat());
    place.prepare(&mut watched);
    let watched = watched
        .envs(stub.environment())
        .env("STUB_URL", stub.url())
        .envs(VALUES)
        .output()
        .unwrap();
    assert!(
        seen(&watched).contains("\u{1b}["),
        "a terminal is watched: {}",
        seen(&watched)
    );
    assert_none_in("a terminal", &place, &watched);
    assert_none_in_what_cassettes_show(&place);
    place.assert_clean();
}

fn on_a_terminal(words: &[&str]) -> Command {
    let mut command = Command::new("python3");
    let script = "import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)";
    command
        .args(["-c", script, env!("CARGO_BIN_EXE_mcptest")])
        .args(words);
    command
}

fn assert_none_in_what_cassettes_show(place: &Place) {
    let is_cassette = |path: &PathBuf| {
        path.extension()
            .is_some_and(|extension| extension == "jsonl")
    };
    let cassettes: Vec<PathBuf> = place.files().into_iter().filter(is_cassette).collect();
    assert_eq!(cassettes.len(), 4, "{cassettes:?}");
    for cassette in cassettes.iter().map(|path| path.to_str().unwrap()) {
        let shown = place
            .command(&["show", "--full", cassette])
            .output()
            .unwrap();
        assert_none_in("show", place, &shown);
        let mut check = place.command(&[
            "show",
            "--check-secrets",
            "--config",
            "mcptest.yml",
            cassette,
        ]);
        let checked = check.envs(VALUES).output().unwrap();
        assert_eq!(checked.status.code(), Some(0), "{}", seen(&checked));
    }
}

#[test]
fn a_secret_in_what_is_known_of_a_tool_makes_no_recording_stale() {
    let place = Place::new(
        "redact: ['TICKET-[0-9]+']
servers: { healthy: { mock: tools.yml }, other: { command: [x], env: { REGION: '${OF_SERVER}' } } }
agents:
  - { name: a, cassette: a.jsonl, model: claude-a, servers: [healthy], prompt: go, runs: 2,
      expect: [{ target: final_response, matcher: { contains: hello } }] }
",
    );
    let description = "Talks to server/secret+value=03 about TICKET-1 with ghp_16C7e42F292c6912E7710c838347Ae178B4a";
    place.write(
        "tools.yml",
        &format!("mock_server: {{ tools: [{{ name: echo, description: {description} }}] }}\n"),
    );
    let stub = stub("steps: [{ text: hello }]");
    let recorded = place
        .asking(&stub, &["run", "--record", "--quiet"])
        .envs(VALUES)
        .output()
        .unwrap();
    assert_eq!(recorded.status.code(), Some(0), "{}", seen(&recorded));
    assert_none("the recording", &place.read("a.jsonl"));
    let replayed = place.command(&["run"]).output().unwrap();
    assert_eq!(replayed.status.code(), Some(0), "{}", seen(&replayed));
    place.write(
        "tools.yml",
        "mock_server: { tools: [{ name: echo, description: Talks to nobody }] }\n",
    );
    let stale = place.command(&["run"]).output().unwrap();
    assert!(
        seen(&stale).contains("tools.healthy.echo.description: recorded"),
        "{}",
        seen(&stale)
    );
}
