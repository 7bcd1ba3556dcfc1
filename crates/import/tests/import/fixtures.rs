//! The transcripts of `tests/import`: written by libraries in scripted runs, or by hand after a format's documentation.

use mcptest_import::{IMPORTERS, import};
use mcptest_replay::cassette::{Recording, parse};
use mcptest_replay::clean;
use std::path::{Path, PathBuf};

pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/import")
}

/// Every fixture with the key of its format.
pub(crate) fn all() -> Vec<(&'static str, PathBuf)> {
    let mut all = Vec::new();
    for importer in IMPORTERS {
        let entries = std::fs::read_dir(folder().join(importer.key)).unwrap();
        let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
        files.sort();
        assert!(
            files.len() >= 2,
            "{} has {} fixtures",
            importer.key,
            files.len()
        );
        all.extend(files.into_iter().map(|file| (importer.key, file)));
    }
    all
}

#[test]
fn every_fixture_is_told_by_its_content_alone() {
    for (key, path) in all() {
        let importer = mcptest_import::find(key).unwrap();
        let told = import(&std::fs::read(&path).unwrap(), None)
            .unwrap()
            .fidelity()
            .to_string();
        assert!(
            told.starts_with(&format!("{}: ", importer.name)),
            "{}: {told}",
            path.display()
        );
    }
}

/// Formats of which one also reads values of the other.
const TOGETHER: [[&str; 2]; 2] = [["langchain", "anthropic"], ["openinference", "otel"]];

#[test]
fn two_formats_in_one_file_are_told_apart_and_asked_about() {
    let plain = "openai-chat";
    let mut wrong = Vec::new();
    for (one, first) in all() {
        for (other, second) in all() {
            let is_together = TOGETHER
                .iter()
                .any(|pair| pair.contains(&one) && pair.contains(&other));
            let has_archive = [&first, &second]
                .iter()
                .any(|path| path.extension().is_some_and(|ending| ending == "eval"));
            let is_left = one == other || one == plain || other == plain;
            if is_left || is_together || has_archive {
                continue;
            }
            let text = [
                std::fs::read(&first).unwrap(),
                std::fs::read(&second).unwrap(),
            ]
            .join(&b'\n');
            let told = import(&text, None).map_or_else(
                |error| error.to_string(),
                |read| read.fidelity().to_string(),
            );
            let both = [format!("{one} or {other}"), format!("{other} or {one}")];
            if !both
                .iter()
                .any(|both| told.starts_with(&format!("this could be {both}; choose one with")))
            {
                wrong.push(format!(
                    "{} and {}: {told}",
                    first.display(),
                    second.display()
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_fixture_becomes_the_cassette_that_was_read_over() {
    for (key, path) in all() {
        let imported = import(&std::fs::read(&path).unwrap(), None).unwrap();
        let fidelity = imported.fidelity().to_string();
        let text = format!("{fidelity}\n{}", imported.into_cassette("fixture", &clean));
        let name = format!("{key}-{}", path.file_stem().unwrap().to_string_lossy());
        insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
            insta::assert_snapshot!(name, text);
        });
    }
}

#[test]
fn a_cassette_made_from_a_fixture_has_no_broken_run_and_each_result_answers_its_call() {
    for (_, path) in all() {
        let recording = Recording::open(&path).unwrap();
        assert!(
            recording.fidelity().is_some(),
            "{} was not taken for a transcript",
            path.display()
        );
        let cassette = recording.cassette().unwrap();
        for run in &cassette.runs {
            let trace = run.trace.as_ref().unwrap();
            let indices: Vec<usize> = trace
                .tool_results
                .iter()
                .map(|one| one.call_index.unwrap())
                .collect();
            assert!(
                indices.is_sorted() && indices.iter().all(|index| *index < trace.tool_calls.len())
            );
        }
    }
}

#[test]
fn the_same_bytes_come_out_every_time_and_reading_them_as_a_cassette_is_reading_no_transcript() {
    for (_, path) in all() {
        let bytes = std::fs::read(&path).unwrap();
        let text = import(&bytes, None).unwrap().into_cassette("a", &clean);
        assert_eq!(
            text,
            import(&bytes, None).unwrap().into_cassette("a", &clean)
        );
        let own = tempfile::tempdir().unwrap();
        let file = own.path().join("own.jsonl");
        std::fs::write(&file, &text).unwrap();
        assert!(Recording::open(&file).unwrap().fidelity().is_none());
    }
}

#[test]
fn a_secret_of_known_shape_does_not_reach_the_cassette() {
    let secret = concat!("ghp_", "0123456789abcdefghijABCDEFGHIJ012345");
    let text = format!(
        r#"[{{"role":"user","content":"use {secret}"}},
            {{"role":"assistant","tool_calls":[{{"id":"c","function":{{"name":"push","arguments":"{{\"token\":\"{secret}\"}}"}}}}]}},
            {{"role":"tool","tool_call_id":"c","content":"pushed with {secret}"}},
            {{"role":"assistant","content":"Pushed with {secret}."}}]"#
    );
    let cassette = import(text.as_bytes(), None)
        .unwrap()
        .into_cassette("a", &clean);
    assert!(!cassette.contains(secret), "{cassette}");
    let runs = parse(cassette.as_bytes()).unwrap().runs;
    assert_eq!(runs[0].trace.as_ref().unwrap().tool_calls.len(), 1);
}
