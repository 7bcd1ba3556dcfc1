//! Which shapes of file are a recording?

use super::*;
use std::borrow::Cow;

#[test]
fn a_cassette_gives_its_header_and_its_runs_in_order() {
    let text = [header_line(), run_line(1, "a"), run_line(2, "b")].join("\n") + "\n";
    let cassette = parse(text.as_bytes()).unwrap();
    assert_eq!(cassette.header.as_ref().unwrap().agent, "weather 天気");
    assert!(cassette.is_pinned());
    assert_eq!(first_tools(&cassette), ["a", "b"]);
    let places: Vec<_> = cassette
        .runs
        .iter()
        .map(|run| (run.number, run.line))
        .collect();
    assert_eq!(places, [(1, 2), (2, 3)]);
}

#[test]
fn a_trace_borrows_from_the_file() {
    let text = header_line() + "\n" + &run_line(1, "search");
    let cassette = parse(text.as_bytes()).unwrap();
    let trace = cassette.runs[0].trace.as_ref().unwrap();
    assert!(matches!(trace.tool_calls[0].name, Cow::Borrowed("search")));
    assert!(
        text.as_bytes()
            .as_ptr_range()
            .contains(&trace.text.as_ptr())
    );
    assert!(trace.text.starts_with("{\"tool_calls\"") && trace.text.ends_with("]}"));
}

#[test]
fn a_plain_envelope_or_a_single_trace_is_one_unpinned_run() {
    let plain = r#"{"tool_calls":[{"name":"a"}],"conversation":{}}"#;
    let pretty =
        "{\n\"tool_calls\": [{ \"name\": \"a\" }],\n\"conversation\": {\n\"tokens\": {}\n}\n}\n";
    let nested = format!(r#"{{"agent":"x","trace":{plain}}}"#);
    let nested_pretty = format!("\n\n  {{\r\n  \"trace\":\r\n{plain}\r\n}}\r\n");
    let array_of_objects = "{\"tool_calls\":[\n{ \"name\": \"a\" },\n{ \"name\": \"b\" }\n]}";
    for text in [plain, pretty, &nested, &nested_pretty, array_of_objects] {
        let cassette = parse(text.as_bytes()).unwrap();
        assert!(cassette.header.is_none() && !cassette.is_pinned());
        assert_eq!(first_tools(&cassette), ["a"], "{text}");
        assert_eq!(cassette.runs[0].number, 1);
    }
}

#[test]
fn lines_without_a_header_are_unpinned_runs() {
    let text = format!("{}\n{}\n", run_line(4, "a"), run_line(7, "b"));
    let cassette = parse(text.as_bytes()).unwrap();
    assert_eq!(first_tools(&cassette), ["a", "b"]);
    assert_eq!(
        cassette.runs[1].number, 7,
        "lines put together by hand may have gaps"
    );
    let text =
        "{\"tool_calls\":[{\"name\":\"a\"}]}\n{\"trace\":{\"tool_calls\":[{\"name\":\"b\"}]}}";
    let cassette = parse(text.as_bytes()).unwrap();
    assert_eq!(first_tools(&cassette), ["a", "b"]);
    assert_eq!(cassette.runs[1].number, 2);
}

#[test]
fn a_byte_order_mark_blank_lines_and_windows_line_ends_change_nothing() {
    let text = [
        "\u{feff}",
        "",
        &header_line(),
        "  ",
        &run_line(1, "a"),
        &run_line(2, "b"),
        "",
    ]
    .join("\r\n");
    let cassette = parse(text.as_bytes()).unwrap();
    assert!(cassette.is_pinned());
    assert_eq!(first_tools(&cassette), ["a", "b"]);
    assert!(!cassette.runs[1].trace.as_ref().unwrap().text.contains('\r'));
}

#[test]
fn a_run_line_need_not_be_spaced_or_ordered_as_a_recorder_does_it() {
    let text = [
        header_line(),
        r#"{"trace": {"tool_calls":[{"name":"a"}]}, "run": 1}"#.to_owned(),
        r#"{"run":2,"trace":{"tool_calls":[{"name":"b"}]},"note":{}}"#.to_owned(),
        r#"{ "run" : 3 , "trace" : { "tool_calls" : [ {"name":"c"} ] } }"#.to_owned(),
    ]
    .join("\n");
    let cassette = parse(text.as_bytes()).unwrap();
    assert_eq!(first_tools(&cassette), ["a", "b", "c"]);
    assert_eq!(
        cassette.runs[1].trace.as_ref().unwrap().text,
        r#"{"tool_calls":[{"name":"b"}]}"#
    );
}

#[test]
fn header_fields_of_a_later_release_of_this_version_are_ignored() {
    let header = header_line().replacen('{', r#"{"stopped":{"after":1,"of":3},"#, 1);
    let cassette = header + "\n" + &run_line(1, "a");
    let cassette = parse(cassette.as_bytes()).unwrap();
    assert!(!crate::cassette::is_tampered(
        cassette.header.as_ref().unwrap()
    ));
}

#[test]
fn a_trace_may_have_a_field_named_format() {
    let cassette = parse(br#"{"format":"openai","tool_calls":[{"name":"a"}]}"#).unwrap();
    assert_eq!(first_tools(&cassette), ["a"]);
}

#[test]
fn a_run_in_which_nothing_was_called_is_a_run() {
    for trace in [
        r#"{"tool_calls":[]}"#,
        r#"{"conversation":{"tokens":{"total":1}}}"#,
    ] {
        assert!(
            parse(trace.as_bytes()).unwrap().runs[0].trace.is_ok(),
            "{trace}"
        );
    }
}
