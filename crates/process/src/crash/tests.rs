//! Tracebacks and panics that real runtimes wrote.

use super::Crash;

/// More lines than the terminal report shows.
const MOST: usize = 16;

fn read(stderr: &str) -> (String, Vec<String>) {
    let crash = Crash::read(stderr, MOST);
    (crash.cause.unwrap_or_default(), crash.excerpt)
}

fn has(excerpt: &[String], part: &str) -> bool {
    excerpt.iter().any(|line| line.contains(part))
}

#[test]
fn each_language_names_its_cause_and_the_line_of_the_user() {
    for (stderr, cause, own) in [
        (
            include_str!("fixtures/python.txt"),
            "KeyError: 'price'",
            "return order[\"price\"]",
        ),
        (
            include_str!("fixtures/python-syntax.txt"),
            "SyntaxError: '(' was never closed",
            "syntax.py\", line 1",
        ),
        (
            include_str!("fixtures/python-chained.txt"),
            "KeyError: 'fallback' (while handling Declined: order A-17 is not readable)",
            "print({}[\"fallback\"])",
        ),
        (
            include_str!("fixtures/python-long-message.txt"),
            "pydantic_core._pydantic_core.ValidationError: 2 validation errors for Order",
            "Order.model_validate",
        ),
        (
            include_str!("fixtures/python-nested-groups.txt"),
            "ValueError: kein Preis für „Überraschung“ gefunden",
            "nested.py\", line 9, in buy",
        ),
        (
            include_str!("fixtures/python-mcp-client.txt"),
            "KeyError: 'price'",
            "agent.py\", line 6, in price_of",
        ),
        (
            include_str!("fixtures/node-cause.txt"),
            "Error: order A-17 has no price (caused by TypeError: fetch failed)",
            "at priceOf (file:///home/eve/shop/uncaught.mjs:2:27)",
        ),
        (
            include_str!("fixtures/node-system-error.txt"),
            "Error: ENOENT: no such file or directory, open '/no/such/config.json'",
            "reject.mjs:2:1",
        ),
        (
            include_str!("fixtures/rust.txt"),
            "index out of bounds: the len is 1 but the index is 7 (panicked at src/main.rs:1:37)",
            "index out of bounds",
        ),
        (
            include_str!("fixtures/rust-backtrace.txt"),
            "index out of bounds: the len is 1 but the index is 7 (panicked at src/main.rs:1:37)",
            "3: agent::price_of",
        ),
        (
            include_str!("fixtures/go.txt"),
            "panic: runtime error: index out of range [7] with length 1 [recovered]",
            "/home/eve/shop/main.go:14",
        ),
    ] {
        let (found, excerpt) = read(stderr);
        assert_eq!(found, cause, "{stderr}");
        assert!(has(&excerpt, own), "{own} in {excerpt:#?}");
        assert!(excerpt.len() <= MOST + 3, "{excerpt:#?}");
        for library in [
            "site-packages",
            "/usr/lib/python3",
            "/rustc/",
            "/usr/local/go/src",
        ] {
            assert!(!has(&excerpt, library), "{library} in {excerpt:#?}");
        }
    }
}

#[test]
fn an_exception_that_was_raised_again_is_named_once() {
    let chained = include_str!("fixtures/python-chained.txt");
    let stderr = chained.replace(
        "KeyError: 'fallback'",
        "Declined: order A-17 is not readable",
    );
    let (cause, _) = read(&stderr.replace("__main__.Declined", "Declined"));
    assert_eq!(cause, "Declined: order A-17 is not readable");
}

#[test]
fn frames_of_libraries_are_counted_where_they_were() {
    let (_, excerpt) = read(include_str!("fixtures/python-long-message.txt"));
    assert_eq!(
        excerpt[..5],
        [
            "Traceback (most recent call last):",
            "  File \"/home/eve/shop/valid.py\", line 5, in <module>",
            "    Order.model_validate({\"price\": \"zehn €\"})",
            "  … 1 library frame",
            "pydantic_core._pydantic_core.ValidationError: 2 validation errors for Order",
        ]
    );
    let last = excerpt.last().unwrap();
    assert!(
        last.contains("/v/missing"),
        "the end of the standard error is kept: {last}"
    );
}

#[test]
fn a_program_that_is_all_library_keeps_the_innermost_frame() {
    let stderr =
        include_str!("fixtures/python.txt").replace("/home/eve/shop", "/a/site-packages/shop");
    let (_, excerpt) = read(&stderr);
    assert_eq!(
        excerpt[1..3],
        [
            "  … 1 library frame",
            "  File \"/a/site-packages/shop/plain.py\", line 2, in price_of"
        ]
    );
}

/// The first task failed, which cancelled the other.
#[test]
fn of_several_exceptions_one_that_came_of_no_other_is_the_cause() {
    let (cause, excerpt) = read(include_str!("fixtures/python-several.txt"));
    assert_eq!(
        cause,
        "FileNotFoundError: [Errno 2] No such file or directory: '/no/such' (one of 2 exceptions)"
    );
    assert!(
        has(&excerpt, "in open"),
        "the innermost frame stays: {excerpt:#?}"
    );
}

#[test]
fn what_is_no_crash_is_its_last_lines() {
    assert_eq!(
        Crash::read("", MOST).said(),
        " and wrote nothing to its standard error"
    );
    let plain = Crash::read("\nOPENAI_API_KEY is not set – beende mich\n", MOST);
    assert_eq!(plain.cause, None);
    assert_eq!(plain.said(), ": OPENAI_API_KEY is not set – beende mich");
    let table = "  | id | price |\n  +----+-------+\n  | 1  | 2     |";
    assert_eq!(
        read(table),
        (String::new(), table.lines().map(str::to_owned).collect())
    );
}

#[test]
fn a_hundred_thousand_lines_around_a_traceback_keep_it_and_the_end() {
    let noise = format!(
        "{}the last line of a log\n",
        "a line of a log\n".repeat(49_999)
    );
    let stderr = format!("{noise}{}{noise}", include_str!("fixtures/python.txt"));
    let (cause, excerpt) = read(&stderr);
    assert_eq!(cause, "KeyError: 'price'");
    assert_eq!(excerpt[0], "  … 50000 lines");
    assert!(has(&excerpt, "return order[\"price\"]"), "{excerpt:#?}");
    assert_eq!(excerpt.last().unwrap(), "the last line of a log");
    assert!(excerpt.len() <= MOST + 3);
}

#[test]
fn a_report_that_was_cut_off_is_still_read() {
    for stderr in [
        include_str!("fixtures/python-mcp-client.txt"),
        include_str!("fixtures/node-cause.txt"),
        include_str!("fixtures/rust-backtrace.txt"),
        include_str!("fixtures/go.txt"),
    ] {
        for (at, _) in stderr.char_indices() {
            let _start = read(&stderr[at..]);
            let _end = read(&stderr[..at]);
        }
    }
}
