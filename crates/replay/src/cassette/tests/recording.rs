//! Does a recording survive a crash, a resume and a rival?

use super::*;
use crate::cassette::{Recorder, Recording, Reserved, Stopped, WriteError, sealed};
use mcptest_core::trace::Header;
use proptest::prelude::*;
use std::fs;
use std::path::{Path, PathBuf};

fn header() -> Header {
    Header {
        agent: "weather".into(),
        prompt: vec!["Rain?".into()],
        ..Header::default()
    }
}

fn trace(tool: &str) -> String {
    format!(r#"{{"tool_calls":[{{"name":"{tool}"}}]}}"#)
}

fn place() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cassettes/suite/a.jsonl");
    (folder, path)
}

fn traces(path: &Path) -> Vec<String> {
    let recording = Recording::open(path).unwrap();
    let cassette = recording.cassette().unwrap();
    let header = Header {
        seals: true,
        ..header()
    };
    assert_eq!(cassette.header, Some(sealed(&header)));
    cassette
        .runs
        .into_iter()
        .map(|run| run.trace.unwrap().text.to_owned())
        .collect()
}

/// Begins a cassette, replacing any existing one.
fn create(path: &Path) -> Result<Recorder, WriteError> {
    let reserved = Reserved::take(path)?;
    let _there_was_none = fs::remove_file(path);
    reserved.resume(&header())
}

fn resume(path: &Path, header: &Header) -> Result<Recorder, WriteError> {
    Reserved::take(path)?.resume(header)
}

fn missing(path: &Path, of: usize) -> Vec<usize> {
    Recording::open(path)
        .unwrap()
        .cassette()
        .unwrap()
        .missing(of)
}

fn recorded(path: &Path, runs: &[&str]) {
    let mut recorder = create(path).unwrap();
    for (index, tool) in runs.iter().enumerate() {
        recorder.append(index + 1, &trace(tool)).unwrap();
    }
}

#[test]
fn what_is_recorded_is_read_back_and_nothing_else_is_left_in_the_folder() {
    let (_folder, path) = place();
    recorded(&path, &["a", "b"]);
    assert_eq!(traces(&path), [trace("a"), trace("b")]);
    let names = fs::read_dir(path.parent().unwrap())
        .unwrap()
        .map(|entry| entry.unwrap().file_name());
    assert_eq!(names.collect::<Vec<_>>(), ["a.jsonl"]);
}

/// The recorded text of a cassette with two runs.
fn text_of_two() -> String {
    let (_folder, path) = place();
    recorded(&path, &["a", "b"]);
    fs::read_to_string(&path).unwrap()
}

#[test]
fn a_run_that_was_edited_or_written_again_under_another_number_is_an_error_that_names_it() {
    let text = text_of_two();
    let lines: Vec<&str> = text.lines().collect();
    let renumbered = lines[1].replace("\"run\":1", "\"run\":2");
    let (before_seal, rest) = lines[2].split_once(",\"seal\":\"").unwrap();
    let (_, after_seal) = rest.split_once('"').unwrap();
    for (edited, number) in [
        (text.replace("\"name\":\"b\"", "\"name\":\"c\""), 2),
        (text.replace("\"name\":\"a\"", "\"name\": \"a\""), 1),
        (format!("{}\n{}\n{renumbered}\n", lines[0], lines[1]), 2),
        (
            format!("{}\n{}\n{before_seal}{after_seal}\n", lines[0], lines[1]),
            2,
        ),
    ] {
        assert_ne!(edited, text);
        let said = problem(&edited);
        assert!(
            said.contains(&format!("run {number} was edited after it was recorded")),
            "{said}"
        );
    }
}

#[test]
fn a_recording_from_before_seals_is_read_and_goes_on_with_sealed_runs() {
    let (_folder, path) = place();
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let older = serde_json::to_string(&sealed(&header())).unwrap();
    fs::write(&path, format!("{older}\n{}\n", run_line(1, "a"))).unwrap();
    let mut recorder = resume(&path, &header()).unwrap();
    recorder.append(2, &trace("b")).unwrap();
    let recording = Recording::open(&path).unwrap();
    assert_eq!(first_tools(&recording.cassette().unwrap()), ["a", "b"]);
}

#[test]
fn a_file_whose_header_has_no_fingerprint_promises_nothing_of_its_runs() {
    let text = text_of_two().replace("\"name\":\"b\"", "\"name\":\"c\"");
    let at = text.find(",\"fingerprint\":").unwrap();
    let end = at + text[at..].find('}').unwrap();
    let unpinned = format!("{}{}", &text[..at], &text[end..]);
    assert_eq!(
        first_tools(&parse(unpinned.as_bytes()).unwrap()),
        ["a", "c"]
    );
}

#[test]
fn a_run_is_in_the_file_as_soon_as_it_is_appended() {
    let (_folder, path) = place();
    let mut recorder = create(&path).unwrap();
    assert!(traces(&path).is_empty());
    recorder.append(1, &trace("a")).unwrap();
    assert_eq!(traces(&path), [trace("a")]);
}

#[test]
fn a_recording_cut_anywhere_resumes_after_its_last_whole_run() {
    let (_folder, path) = place();
    recorded(&path, &["a", "天気"]);
    let whole = fs::read(&path).unwrap();
    let header_end = whole.iter().position(|byte| *byte == b'\n').unwrap();
    for cut in header_end..=whole.len() {
        fs::write(&path, &whole[..cut]).unwrap();
        let mut recorder = resume(&path, &header()).unwrap();
        for run in missing(&path, 2) {
            recorder
                .append(run, &trace(["a", "天気"][run - 1]))
                .unwrap();
        }
        assert_eq!(fs::read(&path).unwrap(), whole, "cut at {cut}");
    }
}

#[test]
fn zeros_that_a_crash_left_at_the_end_are_dropped() {
    let (_folder, path) = place();
    recorded(&path, &["a"]);
    let mut bytes = fs::read(&path).unwrap();
    bytes.extend([0; 100]);
    fs::write(&path, bytes).unwrap();
    resume(&path, &header()).unwrap();
    assert_eq!(missing(&path, 2), [2]);
    assert_eq!(traces(&path), [trace("a")]);
}

#[test]
fn resuming_where_there_is_nothing_begins() {
    let (_folder, path) = place();
    resume(&path, &header()).unwrap();
    assert_eq!(missing(&path, 1), [1]);
    assert!(traces(&path).is_empty());
}

#[test]
fn a_recording_with_another_header_is_not_resumed_and_not_touched() {
    let (_folder, path) = place();
    recorded(&path, &["a"]);
    let before = fs::read(&path).unwrap();
    let other = Header {
        prompt: vec!["Snow?".into()],
        ..header()
    };
    let error = resume(&path, &other).unwrap_err();
    assert!(
        error
            .to_string()
            .contains(r#"(prompt: recorded "Rain?", now "Snow?")"#),
        "{error}"
    );
    let other = Header {
        agent: "other".into(),
        ..header()
    };
    assert!(matches!(
        resume(&path, &other),
        Err(WriteError::Different { .. })
    ));
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn a_damaged_changed_or_unpinned_cassette_is_not_resumed() {
    let (_folder, path) = place();
    recorded(&path, &["a", "b"]);
    let whole = fs::read_to_string(&path).unwrap();
    let refused = |text: &str| {
        fs::write(&path, text).unwrap();
        let error = resume(&path, &header()).unwrap_err();
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
        error
    };
    assert!(matches!(
        refused(&whole.replacen("\"a\"}]", "\"a\"", 1)),
        WriteError::Damaged { .. }
    ));
    assert!(matches!(
        refused(&whole.replacen("Rain?", "Snow?", 1)),
        WriteError::Unpinned { .. }
    ));
    assert!(matches!(refused(&trace("a")), WriteError::Unpinned { .. }));
    assert!(matches!(refused(&whole[..20]), WriteError::Damaged { .. }));
    assert!(matches!(
        refused(&whole.replacen("\"version\":1", "\"version\":2", 1)),
        WriteError::Damaged { .. }
    ));
}

#[test]
fn two_recorders_never_write_one_file() {
    let (_folder, path) = place();
    let first = create(&path).unwrap();
    for second in [create(&path), resume(&path, &header())] {
        assert!(
            second
                .unwrap_err()
                .to_string()
                .ends_with("wait for it, or record to another file")
        );
    }
    let beside = create(&path.with_file_name("b.jsonl")).unwrap();
    drop((first, beside));
    create(&path).unwrap();
}

#[test]
fn runs_are_written_in_any_order_each_once_and_put_in_order_at_the_end() {
    let (_folder, path) = place();
    recorded(&path, &["a", "b", "c", "d"]);
    let ordered = fs::read(&path).unwrap();
    let mut recorder = create(&path).unwrap();
    for (run, tool) in [(3, "c"), (1, "a"), (4, "d"), (2, "b")] {
        recorder.append(run, &trace(tool)).unwrap();
        assert!(
            traces(&path).contains(&trace(tool)),
            "on the disk before the next"
        );
    }
    let error = recorder.append(3, &trace("x")).unwrap_err().to_string();
    assert!(
        error.ends_with("cannot write run 3: it already exists"),
        "{error}"
    );
    assert!(recorder.append(0, &trace("x")).is_err());
    assert_eq!(traces(&path), ["a", "b", "c", "d"].map(trace));
    recorder.finish().unwrap();
    assert_eq!(fs::read(&path).unwrap(), ordered);
}

#[test]
fn a_recording_with_gaps_resumes_with_what_is_missing_wherever_it_was_cut() {
    let (_folder, path) = place();
    let mut recorder = create(&path).unwrap();
    for (run, tool) in [(3, "c"), (1, "a")] {
        recorder.append(run, &trace(tool)).unwrap();
    }
    drop(recorder);
    let whole = fs::read(&path).unwrap();
    let header_end = whole.iter().position(|byte| *byte == b'\n').unwrap();
    for cut in header_end..=whole.len() {
        fs::write(&path, &whole[..cut]).unwrap();
        let mut recorder = resume(&path, &header()).unwrap();
        let missing = missing(&path, 4);
        assert!(missing.contains(&2) && missing.contains(&4), "cut at {cut}");
        for run in missing {
            recorder
                .append(run, &trace(["a", "b", "c", "d"][run - 1]))
                .unwrap();
        }
        recorder.finish().unwrap();
        assert_eq!(
            traces(&path),
            ["a", "b", "c", "d"].map(trace),
            "cut at {cut}"
        );
        let numbers: Vec<String> = fs::read_to_string(&path)
            .unwrap()
            .lines()
            .skip(1)
            .map(|line| line[..8].to_owned())
            .collect();
        assert!(numbers.is_sorted(), "{numbers:?}");
    }
}

#[test]
fn an_early_stop_is_kept_resumed_past_and_gone_once_runs_were_added() {
    let (_folder, path) = place();
    let mut recorder = create(&path).unwrap();
    recorder.append(1, &trace("a")).unwrap();
    recorder.stop(Stopped { after: 1, of: 3 }).unwrap();
    drop(recorder);
    let stopped = |path: &Path| Recording::open(path).unwrap().cassette().unwrap().stopped;
    assert_eq!(stopped(&path), Some(Stopped { after: 1, of: 3 }));
    let whole = fs::read(&path).unwrap();
    let run_end = whole.len() - "{\"stopped\":{\"after\":1,\"of\":3}}\n".len();
    for cut in run_end..=whole.len() {
        fs::write(&path, &whole[..cut]).unwrap();
        resume(&path, &header()).unwrap();
        assert_eq!(missing(&path, 2), [2], "cut at {cut}");
        assert_eq!(
            stopped(&path).is_some(),
            cut + 1 >= whole.len(),
            "cut at {cut}"
        );
    }
    let mut recorder = resume(&path, &header()).unwrap();
    recorder.stop(Stopped { after: 1, of: 3 }).unwrap();
    assert_eq!(
        fs::read(&path).unwrap(),
        whole,
        "the same stop is written once"
    );
    recorder.append(2, &trace("b")).unwrap();
    assert_eq!(stopped(&path), None);
    recorder.finish().unwrap();
    assert_eq!(
        fs::read_to_string(&path)
            .unwrap()
            .matches("stopped")
            .count(),
        0
    );
    let mut recorder = resume(&path, &header()).unwrap();
    recorder.stop(Stopped { after: 2, of: 5 }).unwrap();
    recorder.finish().unwrap();
    assert_eq!(stopped(&path), Some(Stopped { after: 2, of: 5 }));
    assert_eq!(traces(&path), [trace("a"), trace("b")]);
}

#[test]
fn what_could_not_be_read_back_is_not_written() {
    let (_folder, path) = place();
    let mut recorder = create(&path).unwrap();
    for bad in [
        "{}",
        "[]",
        "",
        "{\"tool_calls\":[]} {}",
        "{\"trace\":{\"tool_calls\":[]}}",
        "{\"tool_calls\":[\"\\ud800\"]}",
    ] {
        assert!(
            matches!(
                recorder.append(1, bad),
                Err(WriteError::BadTrace { run: 1, .. })
            ),
            "{bad}"
        );
    }
    assert!(traces(&path).is_empty());
}

#[test]
fn a_trace_over_many_lines_is_written_on_one() {
    let (_folder, path) = place();
    let pretty = "\n{\r\n  \"tool_calls\": [\n    {\"name\": \"a\\n\"}\n  ]\n}\n";
    create(&path).unwrap().append(1, pretty).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap().lines().count(), 2);
    let recording = Recording::open(&path).unwrap();
    assert_eq!(first_tools(&recording.cassette().unwrap()), ["a\n"]);
}

#[test]
fn a_first_run_takes_the_place_of_a_cassette_in_one_step() {
    let (_folder, path) = place();
    recorded(&path, &["a", "b"]);
    let recorded = fs::read(&path).unwrap();
    let create_with = |text: &str| Reserved::take(&path)?.create_with(&header(), 1, text);
    create_with(&trace("a"))
        .unwrap()
        .append(2, &trace("b"))
        .unwrap();
    assert_eq!(fs::read(&path).unwrap(), recorded);
    assert!(create_with("{}").is_err());
    assert_eq!(
        fs::read(&path).unwrap(),
        recorded,
        "a failure leaves what was there"
    );
}

#[test]
fn a_folder_in_the_way_is_an_error() {
    let (_folder, path) = place();
    fs::create_dir_all(&path).unwrap();
    let error = create(&path).unwrap_err().to_string();
    assert!(
        error.contains("the cassette cannot be written: it is a folder"),
        "{error}"
    );
}

#[cfg(unix)]
#[test]
fn a_cassette_can_be_read_by_others_as_far_as_the_umask_allows() {
    use std::os::unix::fs::PermissionsExt;
    let (folder, path) = place();
    recorded(&path, &[]);
    let plain = folder.path().join("plain");
    fs::write(&plain, "").unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
    assert_eq!(mode(&path), mode(&plain));
}

fn any_json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        any::<f64>().prop_map(Into::into),
        any::<String>().prop_map(Into::into),
    ];
    leaf.prop_recursive(4, 20, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Into::into),
            prop::collection::vec((any::<String>(), inner), 0..4)
                .prop_map(|fields| serde_json::Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn traces_come_back_byte_for_byte(names in prop::collection::vec((any::<String>(), any_json()), 0..5)) {
        let (_folder, path) = place();
        let written: Vec<String> = names
            .iter()
            .map(|(name, args)| serde_json::json!({"tool_calls": [{"name": name, "args": args}]}).to_string())
            .collect();
        let mut recorder = create(&path).unwrap();
        for (index, trace) in written.iter().enumerate() {
            recorder.append(index + 1, trace).unwrap();
        }
        prop_assert_eq!(traces(&path), written);
    }
}
