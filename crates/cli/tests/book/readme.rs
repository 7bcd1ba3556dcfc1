//! Do the commands of the README work as typed in a clean folder with an empty home, and do its paths turn red when the
//! server, the model or the agent is broken?

use crate::{Block, blocks, docs};
use mcptest_provider_stub::{Script, Stub};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// The commands that a test cannot type: they install packages and compile the workspace.
const NOT_TYPED: [&str; 1] = ["tests/peers/install && cargo test --workspace"];

/// The commands that serve until they are stopped, each with text that shows that they work.
const SERVING: [(&str, &str); 2] = [
    ("mcptest view", "http://127.0.0.1:"),
    ("mcptest run --watch", " passed"),
];

fn readme() -> String {
    fs::read_to_string(docs().join("../README.md")).unwrap()
}

/// The part of the README below a heading.
fn section(heading: &str) -> String {
    let readme = readme();
    let (_, after) = readme.split_once(&format!("\n## {heading}\n")).unwrap();
    after.split("\n## ").next().unwrap().to_owned()
}

/// The blocks of a section in this language.
fn fenced<'p>(section: &'p str, language: &str) -> Vec<&'p str> {
    let blocks = blocks(section).into_iter();
    blocks
        .filter(|block: &Block<'_>| block.language == language)
        .map(|block| block.text)
        .collect()
}

/// The commands of the blocks for a shell, without their comments.
fn commands(section: &str) -> Vec<String> {
    let lines = fenced(section, "sh").into_iter().flat_map(str::lines);
    lines
        .map(|line| line.split("  #").next().unwrap().trim().to_owned())
        .filter(|line| !line.is_empty())
        .collect()
}

/// The commands within sentences and tables.
fn inline_commands(page: &str) -> Vec<String> {
    let prose: String = page.split("```").step_by(2).collect();
    let code = prose.split('`').skip(1).step_by(2);
    code.filter(|code| code.starts_with("mcptest "))
        .map(str::to_owned)
        .collect()
}

/// A user's machine: a clean folder, an empty home, and stand-ins for the programs that the README names.
struct Machine {
    folder: TempDir,
    variables: BTreeMap<String, String>,
}

impl Machine {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["home", "work", "bin"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        let machine = Self {
            folder,
            variables: BTreeMap::new(),
        };
        let bin = machine.folder.path().join("bin");
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_mcptest"), bin.join("mcptest")).unwrap();
        machine.break_server("everything.py", "");
        machine.program("npx", "everything.py");
        machine.program("node", "shop.py");
        machine.break_server("shop.py", "");
        machine
    }

    /// A machine whose folder has the examples and the demo of the repository.
    fn with_examples() -> Self {
        let machine = Self::new();
        for folder in ["demo", "examples"] {
            let copied = Command::new("cp")
                .arg("-r")
                .args([docs().join("..").join(folder), machine.path(folder)])
                .status();
            assert!(copied.unwrap().success());
        }
        machine
    }

    /// A program in `PATH` that runs a stand-in, whatever its arguments.
    fn program(&self, name: &str, stand_in: &str) {
        let bin = self.folder.path().join("bin");
        let path = bin.join(name);
        let script = format!("#!/bin/sh\nexec python3 {}\n", bin.join(stand_in).display());
        fs::write(&path, script).unwrap();
        let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(path, executable).unwrap();
    }

    /// A stand-in for a server, broken in this way.
    fn break_server(&self, name: &str, how: &str) {
        fs::write(self.folder.path().join("bin").join(name), broken(name, how)).unwrap();
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join("work").join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn command(&self, line: &str) -> Command {
        let mut command = Command::new("sh");
        let path = std::env::var("PATH").unwrap();
        let bin = self.folder.path().join("bin");
        command
            .args(["-c", &format!("exec 2>&1; {line}")])
            .current_dir(self.folder.path().join("work"))
            .env_clear()
            .env("HOME", self.folder.path().join("home"))
            .env("PATH", format!("{}:{path}", bin.display()))
            .envs(&self.variables)
            .stdin(Stdio::null());
        command
    }

    /// Types a command, and returns what it prints.
    fn types(&self, line: &str, code: i32) -> String {
        let Output { status, stdout, .. } = self.command(line).output().unwrap();
        let text = String::from_utf8(stdout).unwrap();
        assert_eq!(status.code(), Some(code), "$ {line}\n{text}");
        text
    }

    /// Types a command of the README, which succeeds, or serves until it is stopped.
    fn succeeds(&self, line: &str) {
        let serving = SERVING.iter().find(|(served, _)| line.starts_with(served));
        let Some((_, shown)) = serving else {
            self.types(line, 0);
            return;
        };
        let mut child = self
            .command(&format!("exec {line}"))
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (mut text, mut stdout) = (String::new(), child.stdout.take().unwrap());
        let mut bytes = [0; 1024];
        while !text.contains(shown) {
            let read = stdout.read(&mut bytes).unwrap();
            assert!(read > 0, "$ {line}\n{text}");
            text.push_str(&String::from_utf8_lossy(&bytes[..read]));
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }

    /// Types commands of the README, one after the other.
    fn all_succeed(&self, lines: &[String]) {
        for line in lines {
            self.succeeds(line);
        }
    }

    /// Types git commands that commit everything.
    fn commit(&self) {
        let user = "git -c user.name=Ada -c user.email=ada@localhost -c commit.gpgsign=false";
        self.types("git init -q -b main", 0);
        self.types("git add -A", 0);
        self.types(&format!("{user} commit -q -m recorded"), 0);
    }
}

/// A stand-in that misbehaves in this way. `how` is empty for one that works.
fn broken(name: &str, how: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/book/stand_ins");
    let text = fs::read_to_string(path.join(name)).unwrap();
    let broken = text.replace("BROKEN = \"\"", &format!("BROKEN = \"{how}\""));
    let knows = how.is_empty() || text.contains(&format!("BROKEN == \"{how}\""));
    assert!(
        knows || text.contains(&format!("BROKEN != \"{how}\"")),
        "{how}"
    );
    broken
}

/// A model whose runs take these steps.
fn model(script: &Value) -> Stub {
    Stub::start(Script::parse(&script.to_string()).unwrap()).unwrap()
}

const SERVER_PATH: &str = "You have an MCP server";
const AGENT_PATH: &str = "You have an agent";
const PLATFORM_PATH: &str = "You run a platform";

fn adds() -> Value {
    json!([{ "calls": [{ "name": "get-sum", "args": { "a": 2, "b": 3 } }] }, { "text": "It is 5." }])
}

#[test]
fn the_path_of_a_server_works_as_typed() {
    let section = section(SERVER_PATH);
    let (mut machine, lines) = (Machine::new(), commands(&section));
    let (of_init, of_suite) = lines.split_at(2);
    machine.all_succeed(of_init);
    let provider = model(&json!({ "steps": adds() }));
    machine.variables = provider.environment();
    machine.write("mcptest.yml", fenced(&section, "yaml")[0]);
    machine.all_succeed(of_suite);
}

#[test]
fn the_path_of_a_server_turns_red_when_the_server_or_the_model_is_broken() {
    let section = section(SERVER_PATH);
    for how in ["adds wrongly", "fails"] {
        let machine = Machine::new();
        let lines = commands(&section);
        machine.all_succeed(&lines[..2]);
        machine.break_server("everything.py", how);
        machine.types("mcptest run --record", 1);
        machine.write("mcptest.yml", fenced(&section, "yaml")[0]);
        machine.types("mcptest run --record --filter adds", 1);
    }
    let another = json!([{ "calls": [{ "name": "echo", "args": { "message": "2 + 3" } }] }, { "text": "It is 5." }]);
    let none = json!([{ "text": "It is 5." }]);
    let every_other = json!({ "when": { "run": 0, "every": 2 }, "steps": none });
    for script in [
        json!({ "steps": another }),
        json!({ "steps": none }),
        json!({ "rules": [every_other], "steps": adds() }),
    ] {
        let (mut machine, provider) = (Machine::new(), model(&script));
        machine.variables = provider.environment();
        machine.write("mcptest.yml", fenced(&section, "yaml")[0]);
        machine.types("mcptest run --record --max-cost 2 --runs 2", 1);
    }
}

/// A machine with the suite of an agent, recorded while the agent still worked.
fn with_recorded_agent() -> Machine {
    let machine = Machine::new();
    machine.write("mcptest.yml", fenced(&section(AGENT_PATH), "yaml")[0]);
    machine.write("my_agent.py", &broken("my_agent.py", ""));
    machine.types("mcptest run --record", 0);
    machine.commit();
    machine
}

#[test]
fn the_path_of_an_agent_works_as_typed() {
    let machine = with_recorded_agent();
    let lines = commands(&section(AGENT_PATH));
    machine.all_succeed(&lines);
    machine.types("mcptest run --deny-vacuous", 0);
}

#[test]
fn the_path_of_an_agent_turns_red_when_the_agent_is_broken() {
    let machine = with_recorded_agent();
    for how in [
        "skips a step",
        "never charges",
        "charges twice",
        "confirms first",
        "refunds",
        "gives up",
        "crashes",
    ] {
        machine.write("my_agent.py", &broken("my_agent.py", how));
        machine.types("mcptest run --record", 1);
        machine.types("mcptest run", 1);
        let compared = machine.types("mcptest compare main . --fail-on worse", 1);
        assert!(compared.contains("passed, now failed"), "{how}: {compared}");
    }
}

/// A conversation in which an agent buys an order with these calls.
fn conversation(calls: &[&str]) -> String {
    let mut messages = vec![json!({ "role": "user", "content": "Buy what is in order A-17." })];
    for (number, name) in calls.iter().enumerate() {
        let id = format!("call_{number}");
        let function = json!({ "name": name, "arguments": "{\"order\": \"A-17\"}" });
        let call = json!({ "id": id, "type": "function", "function": function });
        messages.push(json!({ "role": "assistant", "tool_calls": [call] }));
        messages.push(json!({ "role": "tool", "tool_call_id": id, "content": "done" }));
    }
    messages.push(json!({ "role": "assistant", "content": "I charged order A-17." }));
    json!({ "messages": messages }).to_string()
}

const RIGHT: &[&str] = &["find_order", "charge", "confirm"];
const WRONG: [&[&str]; 5] = [
    &["find_order"],
    &["find_order", "charge", "charge", "confirm"],
    &["charge", "find_order", "confirm"],
    &["find_order", "refund", "confirm"],
    &[],
];

/// Writes six conversations into a folder. The last makes these calls.
fn write_conversations(machine: &Machine, folder: &str, last: &[&str]) {
    for number in 1..6 {
        machine.write(
            &format!("{folder}/checkout-{number}.json"),
            &conversation(RIGHT),
        );
    }
    machine.write(&format!("{folder}/checkout-6.json"), &conversation(last));
}

#[test]
fn recorded_conversations_are_judged_as_typed_and_turn_red_when_the_agent_is_broken() {
    let machine = Machine::new();
    machine.write("mcptest.yml", fenced(&section(AGENT_PATH), "yaml")[1]);
    write_conversations(&machine, "logs", RIGHT);
    machine.types("mcptest run --deny-vacuous", 0);
    for calls in WRONG {
        write_conversations(&machine, "logs", calls);
        machine.types("mcptest run", 1);
    }
}

#[test]
fn the_path_of_a_platform_works_as_typed_and_turns_red_when_an_agent_is_broken() {
    let (machine, section) = (Machine::new(), section(PLATFORM_PATH));
    let lines = commands(&section);
    let [judge, compare, view] = lines.as_slice() else {
        panic!("{lines:?}");
    };
    machine.write("gates.yml", fenced(&section, "yaml")[0]);
    write_conversations(&machine, "nightly", RIGHT);
    machine.succeeds(judge);
    fs::copy(machine.path("night.json"), machine.path("monday.json")).unwrap();
    machine.succeeds(compare);
    machine.succeeds(view);
    for calls in WRONG {
        write_conversations(&machine, "nightly", calls);
        machine.types(judge, 1);
        machine.types(compare, 1);
    }
}

/// A command of the README with a server, a tool and its arguments in place of the words for them.
fn with_a_server(command: &str) -> String {
    let server = "mcptest mock --tools-from examples/servers/weather.tools.yml";
    command
        .replace("COMMAND…", server)
        .replace("TOOL key=value", "get_forecast city=Oslo")
        .replace("cargo run -- ", "mcptest ")
}

#[test]
fn every_other_command_of_the_readme_works_as_typed() {
    let machine = Machine::with_examples();
    // What the commands refer to: a suite that is recorded, and a session of a server.
    machine.types(&with_a_server("mcptest init -o mcptest.yml -- COMMAND…"), 0);
    machine.types(
        &with_a_server(
            "mcptest call TOOL key=value -- mcptest proxy --out session.jsonl -- COMMAND…",
        ),
        0,
    );
    let readme = readme();
    let paths = [SERVER_PATH, AGENT_PATH, PLATFORM_PATH];
    let of_paths: Vec<String> = paths.map(|path| commands(&section(path))).concat();
    let others = commands(&readme)
        .into_iter()
        .chain(inline_commands(&readme))
        .filter(|line| !of_paths.contains(line) && !NOT_TYPED.contains(&line.as_str()));
    for line in others {
        let typed = with_a_server(&line);
        match typed.as_str() {
            // The demo is red, and one of its recordings is stale.
            _ if typed.contains("demo/red") => drop(machine.types(&typed, 2)),
            // Its commands follow.
            "mcptest model-baseline" => drop(machine.types("mcptest model-baseline --help", 0)),
            _ => machine.succeeds(&typed),
        }
    }
}

#[test]
fn the_examples_that_the_help_ends_with_work_as_typed() {
    let page = fs::read_to_string(docs().join("reference/cli.md")).unwrap();
    let examples = page
        .lines()
        .filter_map(|line| line.strip_prefix("Example: `")?.strip_suffix('`'));
    let of_repository: Vec<&str> = examples
        .filter(|line| line.contains(" examples/"))
        .collect();
    assert!(of_repository.len() > 8, "{of_repository:?}");
    let machine = Machine::with_examples();
    for line in of_repository {
        machine.succeeds(line);
    }
}
