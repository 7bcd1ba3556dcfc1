//! The reference servers: does a drafted suite pass, offline and when it is recorded again?

use crate::installed::{node, path, peer};
use crate::programs::{mcptest, start_on_a_free_port};
use std::path::Path;
use std::process::Command;

/// Drafts a suite in a new folder, judges it without the server, records it again, and returns it.
fn drafted(server: &[&str], env: &[(String, String)]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let run = |words: &[&str], env: &[(String, String)]| {
        let mut command = mcptest(words);
        let output = command
            .current_dir(folder.path())
            .envs(env.iter().cloned())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert!(output.status.success(), "{server:?} {words:?}: {said}");
        said
    };
    run(&[&["init"], server].concat(), env);
    run(&["validate", "--deny-warnings"], &[]);
    let offline = run(&["run"], &[("PATH".to_owned(), String::new())]);
    assert!(offline.contains(" passed, "), "{offline}");
    run(&["run", "--record"], env);
    std::fs::read_to_string(folder.path().join("mcptest.yml")).unwrap()
}

fn holds(suite: &str, parts: &[&str]) {
    for part in parts {
        assert!(suite.contains(part), "{part}\n{suite}");
    }
}

#[test]
fn a_suite_of_the_everything_server_passes() {
    let program = node("mcp-server-everything");
    let suite = drafted(&["--", &program, "stdio"], &[path()]);
    holds(
        &suite,
        &[
            "  everything:\n    command: [",
            "matcher: { exact: \"Echo: text\" } }",
            "{ target: result.structuredContent, matcher: { equals-json: { conditions: Cloudy, humidity: 82, temperature: 33 } } }",
            "#   get-env: its answer may contain secrets",
            "#   trigger-long-running-operation: called with {}, no answer",
        ],
    );
}

#[test]
fn a_suite_of_a_server_with_an_address_passes() {
    let mut command = Command::new(node("mcp-server-everything"));
    let (name, value) = path();
    command.arg("streamableHttp").env(name, value);
    let running = start_on_a_free_port(command);
    let suite = drafted(&["--url", &running.url, "--timeout", "2s"], &[]);
    holds(
        &suite,
        &[
            &format!("    url: \"{}\"\n", running.url),
            "    tool: get-sum\n",
        ],
    );
}

#[test]
fn a_suite_of_the_filesystem_server_uses_the_folder_it_was_given() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("note.txt"), "from a file").unwrap();
    let program = node("mcp-server-filesystem");
    let given = folder.path().display().to_string();
    let suite = drafted(&["--server", "files", "--", &program, &given], &[path()]);
    holds(
        &suite,
        &[
            "  files:\n",
            "    tool: list_directory\n    args: { path: ",
            "{ target: result.structuredContent, matcher: { equals-json: { content: \"[FILE] note.txt\" } } }",
            "#   read_text_file: called with { path: ",
            "#   write_file ",
        ],
    );
    assert!(!Path::new(&given).join("text").exists());
}

#[test]
fn suites_of_the_memory_and_time_servers_pass() {
    let folder = tempfile::tempdir().unwrap();
    let memory = format!(
        "MEMORY_FILE_PATH={}",
        folder.path().join("memory.json").display()
    );
    let suite = drafted(
        &["--env", &memory, "--", &node("mcp-server-memory")],
        &[path()],
    );
    holds(
        &suite,
        &["    tool: read_graph\n", "      MEMORY_FILE_PATH: "],
    );
    let suite = drafted(&["--", &peer("python/bin/mcp-server-time")], &[]);
    holds(
        &suite,
        &[
            "    args: { timezone: America/New_York }\n",
            "timezone: America/New_York }, except: [datetime] } }",
        ],
    );
}
