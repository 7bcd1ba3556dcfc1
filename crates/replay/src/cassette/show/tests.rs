//! Is a timeline what a person needs to see of a run?

use super::*;
use crate::cassette::parse;

fn shown(text: &str, options: Options) -> String {
    timeline(&parse(text.as_bytes()).unwrap(), options)
}

const TWO_RUNS: &str = concat!(
    r#"{"format":"mcptest-cassette","version":1,"agent":"weather","model":"m-1","prompt":["Rain in Oslo?"],"#,
    r#""system_prompt":"Be brief.\nBe kind.","parameters":{"max_tokens":100,"temperature":0},"#,
    r#""catalogue":[{"name":"forecast","server":"sky"},{"name":"map"}],"fingerprint":"blake3:00"}"#,
    "\n",
    r#"{"run":1,"trace":{"tool_calls":[{"name":"forecast","server":"sky","args":{"city":"Oslo"},"turn":0},"#,
    r#"{"name":"map","args_text":"{oops","turn":0},{"name":"forecast","server":"sky","args":{},"turn":1}],"#,
    r#""tool_results":[{"call_index":0,"is_error":false,"content":[{"type":"text","text":"rain"}]},"#,
    r#"{"call_index":2,"error":{"code":-32000,"message":"gone"}},{"call_index":1,"is_error":true}],"#,
    r#""faults":[{"name":"slow sky","kind":"slow","call_index":2,"virtual_ms":5,"detected":true}],"#,
    r#""errors":[{"kind":"overloaded"}],"stop_reason":"end_turn","final_response":"Yes.","#,
    r#""conversation":{"tokens":{"prompt":10,"total":12},"duration_ms":7,"turns":["#,
    r#"{"role":"user","content":"Rain in Oslo?"},{"role":"assistant","content":"Let me look."},"#,
    r#"{"role":"tool","content":"rain"},{"role":"assistant","content":[{"type":"text","text":"Again."}]},"#,
    r#"{"role":"assistant","content":"Yes."}]}}}"#,
    "\n",
    r#"{"run":2,"trace":{"tool_calls":[{"name":"a"},{"name":"b","distractor":true}],"#,
    r#""conversation":{"turns":[{"role":"user","content":"Go."},{"role":"assistant","content":"Done."}]}}}"#,
    "\n",
    r#"{"run":3,"trace":{"tool_"#,
);

#[test]
fn a_timeline_shows_the_header_and_each_run_in_the_order_it_happened() {
    insta::assert_snapshot!(shown(TWO_RUNS, Options::default()), @r##"
    agent       weather
    model       m-1
    prompt      Rain in Oslo?
    system      Be brief.\nBe kind.
    parameters  max_tokens 100, temperature 0
    tools       2: sky.forecast, map
    fingerprint blake3:00
                this header was changed after the recording
    runs        2, and an unreadable line

    run 1
      user        Rain in Oslo?
      assistant   Let me look.
      → 1 sky.forecast {"city":"Oslo"}
      ← ok rain
      → 2 map (not JSON) {oops
      ← error
      assistant   Again.
      → 3 sky.forecast {}
      ! fault slow sky (slow, 5 ms)
      ← protocol error -32000 gone
      assistant   Yes.
      error       {"kind":"overloaded"}
      stop        end_turn
      tokens      10 prompt, 12 total
      duration    7 ms

    run 2
      user        Go.
      → 1 a
      → 2 b (distractor)
      assistant   Done.

    line 4
      unreadable  line 4, column 24: the file was cut off in the middle of this line; record it again with `--record`
    "##);
}

#[test]
fn what_came_last_is_last() {
    let trace = concat!(
        r#"{"tool_calls":[{"name":"a","turn":0}],"final_response":"It is sunny.","stop_reason":"end_turn","#,
        r#""conversation":{"duration_ms":7,"turns":[{"role":"user","content":"Go."},{"role":"assistant","content":""}]}}"#,
    );
    let page = shown(trace, Options::default());
    let run = page.split_once("run 1\n").unwrap().1;
    let labels: Vec<&str> = run
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert_eq!(labels, ["user", "→", "final", "stop", "duration"], "{page}");
}

#[test]
fn one_run_can_be_asked_for() {
    let page = shown(
        TWO_RUNS,
        Options {
            run: Some(2),
            ..Options::default()
        },
    );
    assert!(
        page.contains("\nrun 2\n") && !page.contains("\nrun 1\n"),
        "{page}"
    );
    let page = shown(
        TWO_RUNS,
        Options {
            run: Some(9),
            ..Options::default()
        },
    );
    assert!(page.ends_with("This cassette has no run 9.\n"), "{page}");
}

#[test]
fn a_plain_trace_is_shown_as_unpinned_and_clipped_unless_in_full() {
    let long = "word ".repeat(100);
    let text = format!(r#"{{"tool_calls":[],"final_response":"one\ntwo {long}end"}}"#);
    let page = shown(&text, Options::default());
    assert!(
        page.contains("unpinned") && page.contains("one\\ntwo word") && page.contains('…'),
        "{page}"
    );
    let page = shown(
        &text,
        Options {
            full: true,
            ..Options::default()
        },
    );
    assert!(
        page.contains("final       one\n            | two word") && page.contains("word end\n"),
        "{page}"
    );
}

#[test]
fn nothing_in_a_trace_reaches_the_terminal_as_a_command() {
    let hostile = r"\u001b[2J\u0007\u202eevil\u0000\u009b";
    let text = format!(
        r#"{{"tool_calls":[{{"name":"{hostile}","server":"{hostile}","args":{{"k":"{hostile}"}}}}],
            "tool_results":[{{"content":"{hostile}"}}],"errors":["{hostile}"],"stop_reason":"{hostile}",
            "delegations":[{{"from":"{hostile}","to":"b"}}],"final_response":"{hostile}",
            "faults":[{{"name":"{hostile}","kind":"k","call_index":0}}],
            "conversation":{{"turns":[{{"role":"{hostile}","content":"a\n{hostile}"}}]}}}}"#
    );
    for full in [false, true] {
        let page = shown(
            &text,
            Options {
                full,
                ..Options::default()
            },
        );
        let is_hostile = |character: char| {
            (character.is_control() && character != '\n') || character == '\u{202e}'
        };
        assert!(!page.contains(is_hostile), "{page:?}");
    }
}
