//! A manifest that changes while it is served.

use crate::support::*;
use mcptest_mock::Server;
use serde_json::json;
use std::path::Path;

fn read(path: &Path) -> Result<Vec<u8>, String> {
    std::fs::read(path).map_err(|error| error.to_string())
}

fn manifest(tool: &str) -> String {
    format!("mock_server: {{name: m, tools: [{{name: {tool}, description: d, response: hi}}]}}")
}

#[tokio::test]
async fn a_valid_change_is_served_and_told_and_an_invalid_one_is_only_reported() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.yml");
    std::fs::write(&path, manifest("one")).unwrap();
    let loaded = mcptest_mock::manifest::load(&path, &read);
    let server = Server::new(loaded.manifest.unwrap(), Vec::new());
    let (told, mut reports) = tokio::sync::mpsc::unbounded_channel();
    let report = move |loaded: &mcptest_mock::manifest::Loaded| {
        told.send(loaded.problems.len()).unwrap();
    };
    let _reload = server.reload_from(&path, read, report).unwrap();
    let mut pipe = Pipe::initialized(&server).await;
    let name = |list: &serde_json::Value| {
        list["result"]["tools"][0]["name"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert_eq!(
        name(&pipe.ask(&request(1, "tools/list", json!({}))).await),
        "one"
    );

    std::fs::write(&path, "mock_server: {tools: [{nmae: two}]}").unwrap();
    assert!(soon(reports.recv()).await.unwrap() > 0);
    assert_eq!(
        name(&pipe.ask(&request(2, "tools/list", json!({}))).await),
        "one"
    );

    // As editors do: another file takes its place.
    let other = folder.path().join("m.yml.new");
    std::fs::write(&other, manifest("two")).unwrap();
    std::fs::rename(&other, &path).unwrap();
    assert_eq!(soon(reports.recv()).await, Some(0));
    assert_eq!(
        pipe.next().await["method"],
        "notifications/tools/list_changed"
    );
    assert_eq!(
        name(&pipe.ask(&request(3, "tools/list", json!({}))).await),
        "two"
    );

    std::fs::remove_file(&path).unwrap();
    assert_eq!(
        soon(reports.recv()).await,
        Some(1),
        "that it is gone is said, and once"
    );
    assert_eq!(
        name(&pipe.ask(&request(4, "tools/list", json!({}))).await),
        "two"
    );
    std::fs::write(&path, manifest("three")).unwrap();
    assert_eq!(soon(reports.recv()).await, Some(0));
}
