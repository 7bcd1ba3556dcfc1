//! What does each kind of broken recording say?

use super::*;
use crate::cassette::{Fault, Recording, Stopped};
use mcptest_core::json::document::TextFault;

fn in_second_run(trace: &str) -> String {
    let bad = format!(r#"{{"run":2,"trace":{trace}}}"#);
    [header_line(), run_line(1, "a"), bad, run_line(3, "c")].join("\n") + "\n"
}

fn texts() -> Vec<(&'static str, String)> {
    let deep = format!(
        r#"{{"tool_calls":[{{"name":"a","args":{}{}}}]}}"#,
        "[".repeat(5000),
        "]".repeat(5000)
    );
    vec![
        ("nothing", String::new()),
        ("blank", "\u{feff} \r\n\n".to_owned()),
        ("cut in the header", header_line()[..40].to_owned()),
        (
            "cut in a run",
            format!("{}\n{}", header_line(), &run_line(1, "a")[..50]),
        ),
        (
            "cut in a document",
            "{\n \"tool_calls\": [\n  {\"name\": \"a\"".to_owned(),
        ),
        ("array", "[{\"tool_calls\":[]}]".to_owned()),
        ("array over lines", "[\n{\"tool_calls\":[]}\n]".to_owned()),
        ("array as a run", format!("{}\n[]\n", header_line())),
        ("string", "\"cassette\"".to_owned()),
        ("words", "hello there".to_owned()),
        (
            "not a number",
            in_second_run(r#"{"tool_calls":[{"name":"日","args":{"x":NaN}}]}"#),
        ),
        (
            "infinity",
            r#"{"tool_calls":[],"conversation":{"cost_usd":-Infinity}}"#.to_owned(),
        ),
        (
            "large number",
            r#"{"tool_calls":[{"name":"a","args":1e999}]}"#.to_owned(),
        ),
        (
            "lone surrogate",
            in_second_run(r#"{"tool_calls":[{"name":"a","args":{"x":"\ud83d!"}}]}"#),
        ),
        (
            "lone surrogate in a name",
            r#"{"tool_calls":[{"name":"\udc00"}]}"#.to_owned(),
        ),
        ("deep", in_second_run(&deep)),
        (
            "deep header",
            header_line().replacen(
                '{',
                &format!(r#"{{"parameters":{{"x":{}}},"#, "[".repeat(200)),
                1,
            ),
        ),
    ]
}

fn headers_and_runs() -> Vec<(&'static str, String)> {
    vec![
        (
            "newer",
            header_line().replace("\"version\":1", "\"version\":2"),
        ),
        ("no version", header_line().replace("\"version\":1,", "")),
        (
            "version of text",
            header_line().replace("\"version\":1", "\"version\":\"1\""),
        ),
        (
            "other format",
            header_line().replace("mcptest-cassette", "vcr"),
        ),
        (
            "no agent",
            r#"{"format":"mcptest-cassette","version":1}"#.to_owned(),
        ),
        (
            "prompt of one text",
            r#"{"format":"mcptest-cassette","version":1,"agent":"a","prompt":"p"}"#.to_owned(),
        ),
        ("header over lines", header_line().replace(',', ",\n")),
        ("two headers", format!("{0}\n{0}\n", header_line())),
        (
            "documents over lines",
            "{\n\"tool_calls\": []\n}\n{\n\"tool_calls\": []\n}\n".to_owned(),
        ),
        (
            "run twice",
            format!(
                "{}\n{}\n{}\n",
                header_line(),
                run_line(1, "a"),
                run_line(1, "a")
            ),
        ),
        (
            "run zero",
            format!("{}\n{}\n", header_line(), run_line(0, "a")),
        ),
        (
            "run by name",
            format!(
                "{}\n{}\n",
                header_line(),
                run_line(1, "a").replace(":1", ":\"one\"")
            ),
        ),
        (
            "another JSON file",
            r#"{"name":"left-pad","version":"1.0.0"}"#.to_owned(),
        ),
        (
            "run without a trace",
            format!("{}\n{{\"run\":1}}\n", header_line()),
        ),
        ("trace of text", r#"{"trace":"x"}"#.to_owned()),
        ("calls of text", in_second_run(r#"{"tool_calls":"none"}"#)),
        (
            "call without a name",
            r#"{"tool_calls":[{"args":{}}]}"#.to_owned(),
        ),
        (
            "the same field twice",
            r#"{"tool_calls":[],"tool_calls":[]}"#.to_owned(),
        ),
        (
            "control character in a string",
            in_second_run("{\"tool_calls\":[{\"name\":\"a\u{1}\"}]}"),
        ),
    ]
}

fn said_of(cases: &[(&str, String)]) -> String {
    let said: Vec<_> = cases
        .iter()
        .map(|(name, text)| format!("{name}\n    {}", problem(text)))
        .collect();
    said.join("\n")
}

#[test]
fn each_problem_of_a_text_says_where_it_is_and_what_to_do() {
    insta::assert_snapshot!(said_of(&texts()), @r##"
    nothing
        the file is empty; record it again with `--record`
    blank
        the file is empty; record it again with `--record`
    cut in the header
        line 1, column 40: the file was cut off in the middle of this line; record it again with `--record`
    cut in a run
        line 2, column 50: the file was cut off in the middle of this line; record it again with `--record`
    cut in a document
        line 3, column 14: the file was cut off in the middle of this line; record it again with `--record`
    array
        line 1, column 1: found an array here; a cassette is one JSON object per line, or a single trace as one JSON object
    array over lines
        line 1, column 1: found an array here; a cassette is one JSON object per line, or a single trace as one JSON object
    array as a run
        line 2, column 1: found an array here; a cassette is one JSON object per line, or a single trace as one JSON object
    string
        line 1, column 1: found a string here; a cassette is one JSON object per line, or a single trace as one JSON object
    words
        line 1, column 1: this is not JSON (expected value); restore the line, or record it again with `--record`
    not a number
        line 3, column 57: `NaN` is not a JSON number; write null, or omit the field
    infinity
        line 1, column 45: `-Infinity` is not a JSON number; write null, or omit the field
    large number
        line 1, column 35: this number is too large to compare; write it as a string, or make it smaller
    lone surrogate
        line 3, column 58: `\ud83d` is half of a surrogate pair, not a character; write \ufffd instead
    lone surrogate in a name
        line 1, column 25: `\udc00` is half of a surrogate pair, not a character; write \ufffd instead
    deep
        line 3, column 176: this is nested more than 127 levels deep; shorten the value, or record it again with `--record`
    deep header
        line 1, column 145: this is nested more than 127 levels deep; shorten the value, or record it again with `--record`
    "##);
}

#[test]
fn each_problem_of_headers_and_runs_says_where_it_is_and_what_to_do() {
    insta::assert_snapshot!(said_of(&headers_and_runs()), @r##"
    newer
        line 1, column 1: this file has version 2, but this mcptest reads only versions up to 1; update mcptest
    no version
        line 1, column 1: the version is missing, which is not a version of the format; record it again with `--record`
    version of text
        line 1, column 1: the version is "1", which is not a version of the format; record it again with `--record`
    other format
        line 1, column 1: the format is "vcr", not "mcptest-cassette"; is this another program's file?
    no agent
        line 1, column 41: cannot read the header (missing field `agent`); record the cassette again with `--record`
    prompt of one text
        line 1, column 65: cannot read the header (invalid type: string "p", expected a sequence); record the cassette again with `--record`
    header over lines
        line 1, column 1: cannot read the header (it is not on one line; `jq -c .` fixes that); record the cassette again with `--record`
    two headers
        line 2, column 1: this is a second header; keep each cassette in a separate file
    documents over lines
        line 4, column 1: a second JSON document begins here; put each on a separate line (`jq -c .` does that)
    run twice
        line 3, column 1: run 1 is recorded a second time here; delete one of the two lines
    run zero
        line 2, column 8: `run` is 0; runs are numbered 1, 2, 3
    run by name
        line 2, column 8: `run` is "one"; runs are numbered 1, 2, 3
    another JSON file
        line 1, column 1: this is not a recorded run: it has neither `tool_calls` nor `conversation`; name a cassette or a trace
    run without a trace
        line 2, column 1: this is not a recorded run: it has neither `tool_calls` nor `conversation`; name a cassette or a trace
    trace of text
        line 1, column 10: found a string here; a cassette is one JSON object per line, or a single trace as one JSON object
    calls of text
        line 3, column 37: this is not a valid run (invalid type: string "none", expected a sequence); correct it, or record again with `--record`
    call without a name
        line 1, column 26: this is not a valid run (missing field `name`); correct it, or record again with `--record`
    the same field twice
        line 1, column 29: this is not a valid run (duplicate field `tool_calls`); correct it, or record again with `--record`
    control character in a string
        line 3, column 42: this is not JSON (control character (\u0000-\u001F) found while parsing a string); restore the line, or record it again with `--record`
    "##);
}

#[test]
fn a_bad_run_does_not_cost_the_others() {
    for bad in [
        "{\"tool_calls\":",
        "{\"tool_calls\":[}",
        "{\"x\":1}",
        "{\"tool_calls\":[{\"name\":\"\\ud800\"}]}",
        "7",
    ] {
        let text = in_second_run(bad);
        let cassette = parse(text.as_bytes()).unwrap();
        assert_eq!(first_tools(&cassette), ["a", "c"], "{bad}");
        assert_eq!(cassette.runs[1].number, 2);
        assert_eq!(
            cassette.runs[1]
                .trace
                .as_ref()
                .unwrap_err()
                .place
                .unwrap()
                .line,
            3
        );
    }
}

#[test]
fn a_bad_first_line_does_not_cost_the_others_either() {
    let text = format!(
        "{}\n{}\n{}\n",
        &run_line(1, "a")[..30],
        run_line(2, "b"),
        run_line(3, "c")
    );
    let cassette = parse(text.as_bytes()).unwrap();
    assert_eq!(first_tools(&cassette), ["b", "c"]);
    assert_eq!(
        cassette.runs[0].trace.as_ref().unwrap_err().fault,
        Fault::Text(TextFault::CutOff)
    );
}

#[test]
fn a_byte_that_is_not_utf_8_is_named_and_costs_one_run() {
    let mut bytes = in_second_run(r#"{"tool_calls":[{"name":"@"}]}"#).into_bytes();
    let offset = bytes.iter().rposition(|byte| *byte == b'@').unwrap();
    bytes[offset] = 0xff;
    let cassette = parse(&bytes).unwrap();
    assert_eq!(first_tools(&cassette), ["a", "c"]);
    let problem = cassette.runs[1].trace.as_ref().unwrap_err();
    assert_eq!(problem.fault, Fault::Text(TextFault::NotUtf8 { offset }));
    assert_eq!(problem.place.unwrap().line, 3);
    let with_mark = [
        b"\xef\xbb\xbf{\"tool_calls\":[],\n\"x\":\"".as_slice(),
        b"\xc3(\"}",
    ]
    .concat();
    assert!(
        parse(&with_mark)
            .unwrap_err()
            .to_string()
            .starts_with("line 2, column 6: byte 26 of the file")
    );
    assert!(problem_of_utf_16().contains("byte 0 of the file is not UTF-8"));
}

fn problem_of_utf_16() -> String {
    problem(
        "\u{feff}{\"tool_calls\":[]}"
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect::<Vec<_>>(),
    )
}

#[test]
fn every_truncation_gives_the_whole_runs_and_never_another_number_of_them() {
    let lines = [
        header_line(),
        run_line(1, "a"),
        run_line(2, "b"),
        run_line(3, "c"),
    ];
    let text = lines.join("\n") + "\n";
    let mut ends = Vec::new();
    for line in &lines {
        ends.push(ends.last().map_or(line.len(), |end| end + 1 + line.len()));
    }
    for cut in 0..=text.len() {
        let whole = ends.iter().filter(|end| **end <= cut).count();
        match parse(&text.as_bytes()[..cut]) {
            Err(problem) => {
                assert_eq!(whole, 0, "{cut}: {problem}");
                assert!(
                    matches!(
                        problem.fault,
                        Fault::Text(TextFault::CutOff | TextFault::Empty)
                    ),
                    "{cut}: {problem}"
                );
            }
            Ok(cassette) => {
                let readable = cassette.runs.iter().filter(|run| run.trace.is_ok()).count();
                assert_eq!(readable + 1, whole, "{cut}");
                let faults = cassette
                    .runs
                    .iter()
                    .filter_map(|run| run.trace.as_ref().err());
                let faults: Vec<_> = faults.map(|problem| problem.fault.clone()).collect();
                let is_between_lines = ends.contains(&cut) || ends.contains(&cut.wrapping_sub(1));
                assert_eq!(
                    faults,
                    vec![Fault::Text(TextFault::CutOff); usize::from(!is_between_lines)],
                    "{cut}"
                );
            }
        }
    }
}

#[test]
fn every_truncation_of_a_document_is_a_problem() {
    let text = "{\n  \"tool_calls\": [\n    {\"name\": \"天気\", \"args\": {\"q\": [1, -2.5e3, true, null]}}\n  ]\n}";
    assert!(parse(text.as_bytes()).is_ok());
    for cut in 0..text.len() {
        assert!(parse(&text.as_bytes()[..cut]).is_err(), "{cut}");
    }
}

#[test]
fn a_text_of_100_megabytes_is_a_run_like_any_other() {
    let long = "x".repeat(100_000_000);
    let text = format!(
        "{}\n{{\"run\":1,\"trace\":{{\"tool_calls\":[],\"final_response\":\"{long}\"}}}}\n",
        header_line()
    );
    drop(long);
    let cassette = parse(text.as_bytes()).unwrap();
    let trace = cassette.runs[0].trace.as_ref().unwrap();
    assert_eq!(trace.final_response.as_ref().unwrap().len(), 100_000_000);
    drop(cassette);
    let cassette = parse(&text.as_bytes()[..text.len() - 4]).unwrap();
    assert_eq!(
        cassette.runs[0].trace.as_ref().unwrap_err().fault,
        Fault::Text(TextFault::CutOff)
    );
}

#[test]
fn a_huge_value_of_the_wrong_type_is_quoted_only_at_its_start() {
    let said = problem(format!(r#"{{"tool_calls":"{}"}}"#, "天".repeat(1_000_000)));
    assert!(
        said.contains("(invalid type: string \"天天") && said.contains("…);"),
        "{}",
        said.len()
    );
    assert!(said.len() < 1000, "{}", said.len());
}

#[test]
fn many_bad_lines_are_each_named() {
    let text = header_line() + "\n" + &"{\"run\":1,\"trace\":{\n".repeat(200_000);
    let cassette = parse(text.as_bytes()).unwrap();
    assert_eq!(cassette.runs.len(), 200_000);
    let last = cassette.runs[199_999].trace.as_ref().unwrap_err();
    assert_eq!(
        (last.place.unwrap().line, &last.fault),
        (200_001, &Fault::Text(TextFault::CutOff))
    );
    assert!(parse("{\n".repeat(200_000).as_bytes()).is_err());
}

#[test]
fn an_unreadable_run_takes_a_number_that_no_other_has() {
    let text = [
        &header_line(),
        &run_line(1, "a"),
        "{",
        &run_line(4, "d"),
        &run_line(2, "b"),
    ]
    .join("\n");
    let cassette = parse(text.as_bytes()).unwrap();
    let read: Vec<_> = cassette
        .runs
        .iter()
        .map(|run| (run.number, run.line, run.trace.is_ok()))
        .collect();
    assert_eq!(
        read,
        [(1, 2, true), (2, 5, true), (3, 3, false), (4, 4, true)]
    );
    let plain = ["{", r#"{"tool_calls":[]}"#, r#"{"tool_calls":[]}"#].join("\n");
    let cassette = parse(plain.as_bytes()).unwrap();
    assert_eq!(
        cassette
            .runs
            .iter()
            .map(|run| run.trace.is_ok())
            .collect::<Vec<_>>(),
        [false, true, true]
    );
}

#[test]
fn runs_are_read_in_the_order_of_their_numbers_and_gaps_are_missing() {
    let lines = [
        header_line(),
        run_line(5, "e"),
        run_line(1, "a"),
        run_line(2, "b"),
    ];
    let text = lines.join("\n");
    let cassette = parse(text.as_bytes()).unwrap();
    assert_eq!(first_tools(&cassette), ["a", "b", "e"]);
    assert_eq!(cassette.missing(6), [3, 4, 6]);
    let by_hand = [run_line(2, "b"), run_line(7, "a")].join("\n");
    assert_eq!(
        parse(by_hand.as_bytes()).unwrap().missing(3),
        [3],
        "numbered as one likes"
    );
}

#[test]
fn a_stop_counts_at_the_end_and_runs_after_it_make_it_void() {
    let stop = r#"{"stopped":{"after":2,"of":9}}"#;
    let with = |lines: &[&str]| {
        let text = [&[header_line().as_str()], lines].concat().join("\n");
        parse(text.as_bytes()).unwrap().stopped
    };
    let (one, two) = (run_line(1, "a"), run_line(2, "b"));
    assert_eq!(with(&[&one, &two, stop]), Some(Stopped { after: 2, of: 9 }));
    assert_eq!(with(&[&one, stop, &two]), None);
    assert!(
        problem([&header_line(), r#"{"stopped":{"after":-2}}"#].join("\n")).contains("early stop")
    );
}

#[test]
fn what_is_not_a_file_is_said_to_be_none() {
    let folder = tempfile::tempdir().unwrap();
    let said = |name: &str| {
        let error = Recording::open(&folder.path().join(name))
            .unwrap_err()
            .to_string();
        error.replace(folder.path().to_str().unwrap(), "")
    };
    std::fs::create_dir(folder.path().join("a.jsonl")).unwrap();
    assert_eq!(
        said("a.jsonl"),
        "/a.jsonl: this is a folder, not a cassette; name a file in it, or all of them with `/a.jsonl/*.jsonl`"
    );
    assert_eq!(
        said("b.jsonl"),
        "/b.jsonl: this cassette does not exist; record it with `--record`"
    );
    let path = folder.path().join("c.jsonl");
    std::fs::write(&path, "{\n\"tool_calls\": 5}").unwrap();
    let error = Recording::open(&path)
        .unwrap()
        .cassette()
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("/c.jsonl:2:15: this is not a valid run (invalid type: integer `5`"),
        "{error}"
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_device_is_not_read_without_end() {
    let error = Recording::open(std::path::Path::new("/dev/zero"))
        .unwrap_err()
        .to_string();
    assert_eq!(
        error,
        "/dev/zero: cannot read the cassette: it is a device, not a file"
    );
}

proptest::proptest! {
    #[test]
    fn no_bytes_make_the_reader_panic(bytes: Vec<u8>) {
        let _ = parse(&bytes);
    }

    #[test]
    fn no_damaged_byte_makes_the_reader_panic(at in 0_usize..400, byte: u8) {
        let mut bytes = in_second_run(r#"{"tool_calls":[{"name":"\ud83d\ude00","args":[1e5]}]}"#).into_bytes();
        let length = bytes.len();
        bytes[at % length] = byte;
        if let Ok(cassette) = parse(&bytes) {
            let _ = crate::cassette::timeline(&cassette, crate::cassette::Options::default());
        }
    }
}
