//! The guarantees of redaction, rule by rule.

use super::*;

const TOKEN: &str = "tok-ABCD\"é/+?x yz1";

fn redactor() -> Redactor {
    Redactor::builder()
        .value("API_TOKEN", TOKEN)
        .value("OTHER", "other-secret")
        .build()
        .unwrap()
}

fn bare() -> Redactor {
    Redactor::builder().build().unwrap()
}

fn with_pattern(pattern: &str) -> Redactor {
    Redactor::builder().pattern(pattern).build().unwrap()
}

fn github() -> String {
    format!("ghp_{}", "a1B2c3D4e5F6".repeat(3))
}

#[test]
fn a_named_value_is_replaced_by_its_name_wherever_it_stands() {
    let text = format!("x{TOKEN}y other-secret");
    assert_eq!(
        redactor().text(&text),
        "x[redacted:API_TOKEN]y [redacted:OTHER]"
    );
}

#[test]
fn nothing_is_copied_when_nothing_is_secret() {
    let redactor = redactor();
    let json = r#"{"a":[1.0,"x\u00e9 50% C:\\dir","[redacted:OTHER]"],"max_tokens":7,"usage":{"token":3}}"#;
    assert!(matches!(redactor.json(json), Cow::Borrowed(same) if same == json));
    assert!(matches!(redactor.text("plain: a=b"), Cow::Borrowed(_)));
    assert!(matches!(redactor.header("Accept", "*/*"), Cow::Borrowed(_)));
}

#[test]
fn short_values_and_numbers_are_not_looked_for() {
    let redactor = Redactor::builder()
        .value("PORT", "80801234")
        .value("MODE", "debug")
        .build()
        .unwrap();
    assert_eq!(redactor.text("debug on 80801234"), "debug on 80801234");
}

#[test]
fn a_value_with_quotes_around_it_is_found_where_it_is_a_text_of_json() {
    let redactor = Redactor::builder()
        .value("KEY", "\"s3cret-key\"")
        .build()
        .unwrap();
    assert_eq!(redactor.text("\"s3cret-key\""), "\"[redacted:KEY]\"");
    assert_eq!(redactor.text("[\"s3cret-key\"]"), "[\"[redacted:KEY]\"]");
    assert_eq!(redactor.text("KEY=\"s3cret-key\";"), "KEY=[redacted:KEY];");
    let redactor = Redactor::builder()
        .value("KEY", r"s3\/cret-key")
        .build()
        .unwrap();
    assert_eq!(redactor.text(r#""s3\/cret-key""#), r#""[redacted:KEY]""#);
}

#[test]
fn escapes_do_not_hide_a_value() {
    let redactor = redactor();
    for written in [
        r#"tok-ABCD\"é/+?x yz1"#,
        r#"tok-ABCD\"\u00e9\/+?x yz1"#,
        r"\u0074ok-ABCD\u0022\u00E9\u002f+?x\u0020yz1",
    ] {
        let json = format!(r#"{{"a":"<\n{written}>"}}"#);
        assert_eq!(
            redactor.json(&json),
            r#"{"a":"<\n[redacted:API_TOKEN]>"}"#,
            "{written}"
        );
        assert_eq!(redactor.text(written), "[redacted:API_TOKEN]");
    }
}

#[test]
fn percent_signs_do_not_hide_a_value() {
    for written in [
        "tok-ABCD%22%C3%A9%2F%2B%3Fx%20yz1",
        "tok-ABCD%22%c3%a9%2f%2b%3fx%20yz1",
        "tok-ABCD%22%C3%A9/%2B%3Fx+yz1",
        "%74ok-ABCD%22%C3%A9%2F%2B%3Fx+yz1",
    ] {
        assert_eq!(
            redactor().text(&format!("a?b={written}&c")),
            "a?b=[redacted:API_TOKEN]&c",
            "{written}"
        );
    }
}

#[test]
fn base64_does_not_hide_a_value() {
    let redactor = Redactor::builder()
        .value("KEY", "hunter2>>>???")
        .build()
        .unwrap();
    for (written, expected) in [
        ("aHVudGVyMj4+Pj8/Pw==", "[redacted:KEY]"),
        ("aHVudGVyMj4-Pj8_Pw", "[redacted:KEY]"),
        ("Ymo6aHVudGVyMj4+Pj8/Pw==", "Ymo6[redacted:KEY]"),
        ("YjpodW50ZXIyPj4+Pz8/", "Yj[redacted:KEY]"),
        ("eDp4Omh1bnRlcjI+Pj4/Pz8K", "eDp4O[redacted:KEY]K"),
    ] {
        assert_eq!(redactor.text(written), expected, "{written}");
    }
}

#[test]
fn a_token_keeps_its_kind_and_a_mark_of_its_own() {
    let redactor = bare();
    let one = redactor.text(&github()).into_owned();
    assert!(one.starts_with("[redacted:github-token:"), "{one}");
    assert_eq!(
        redactor.text(&format!("<{0}, {0}.>", github())),
        format!("<{one}, {one}.>")
    );
    assert_eq!(
        redactor.json(&format!(r#"{{"a":"{}"}}"#, github())),
        format!(r#"{{"a":"{one}"}}"#)
    );
    assert_ne!(redactor.text(&format!("{}x", github())), one);
}

#[test]
fn a_named_token_has_its_name() {
    let redactor = Redactor::builder().value("GH", &github()).build().unwrap();
    assert_eq!(
        redactor.text(&format!("Bearer {}", github())),
        "Bearer [redacted:GH]"
    );
    assert_eq!(
        redactor.json(&format!(r#"{{"token":"{}"}}"#, github())),
        r#"{"token":"[redacted:GH]"}"#
    );
}

#[test]
fn two_names_of_one_value_give_one_placeholder_in_any_order() {
    let one = Redactor::builder()
        .value("B", "same-value")
        .value("A", "same-value")
        .build()
        .unwrap();
    let two = Redactor::builder()
        .value("A", "same-value")
        .value("B", "same-value")
        .build()
        .unwrap();
    assert_eq!(one.text("same-value"), "[redacted:A]");
    assert_eq!(two.text("same-value"), "[redacted:A]");
}

#[test]
fn what_stands_under_a_secret_name_goes() {
    let json = r#"{ "user":"bob", "Password" : "a\"b", "n":{"client_secret":"x","access-token":"12345"} }"#;
    let expected = r#"{ "user":"bob", "Password" : "[redacted:password]", "n":{"client_secret":"[redacted:secret]","access-token":"[redacted:token]"} }"#;
    assert_eq!(bare().json(json), expected);
}

#[test]
fn objects_lists_flags_and_counts_under_a_secret_name_stay() {
    let json = r#"{"password":{"type":"string"},"secret":["a"],"token":5,"api_key":true,"cookie":null,"token":"","tokens":"9","max_tokens":"5"}"#;
    assert_eq!(bare().json(json), json);
}

#[test]
fn a_number_as_password_goes() {
    assert_eq!(
        bare().json(r#"{"password":1234,"a":1234}"#),
        r#"{"password":"[redacted:password]","a":1234}"#
    );
}

#[test]
fn headers_in_lists_go() {
    let json = r#"{"Authorization":["Bearer abc"],"set-cookie":["a=b","c=d",["e"]],"x":["f"]}"#;
    let expected = r#"{"Authorization":["Bearer [redacted:authorization]"],"set-cookie":["[redacted:cookie]","[redacted:cookie]",["e"]],"x":["f"]}"#;
    assert_eq!(bare().json(json), expected);
}

#[test]
fn json_in_a_string_is_read_as_json() {
    let inner = r#"{"password":"hunter2","note":"a\"b"}"#;
    let middle = serde_json::to_string(&serde_json::json!({ "text": inner, "n": 1.5 })).unwrap();
    let outer = serde_json::to_string(&serde_json::json!([middle])).unwrap();
    for text in [inner, &middle, &outer] {
        let redacted = bare().json(text).into_owned();
        assert_eq!(redacted, text.replace("hunter2", "[redacted:password]"));
        assert!(serde_json::from_str::<serde_json::Value>(&redacted).is_ok());
    }
}

#[test]
fn escapes_do_not_hide_a_name_in_a_string_of_json() {
    let inner = r#"{"p\u0061ssword":"hunter2","n":{"pass\u0077d":1234}}"#;
    let outer = serde_json::to_string(&[inner]).unwrap();
    let expected = outer.replace("hunter2", "[redacted:password]");
    assert_eq!(
        bare().json(&outer),
        expected.replace("1234", r#"\"[redacted:password]\""#)
    );
}

#[test]
fn a_reference_to_a_variable_stays() {
    let json =
        r#"{"password":"${DB_PASSWORD}","url":"postgres://app:${DB_PASSWORD}@db/x?token=${T}"}"#;
    assert_eq!(bare().json(json), json);
}

#[test]
fn a_long_value_is_found_too() {
    let value = (0..2000)
        .map(|number| number.to_string())
        .collect::<Vec<_>>()
        .join(",");
    let redactor = Redactor::builder().value("LONG", &value).build().unwrap();
    assert_eq!(redactor.text(&format!("<{value}>")), "<[redacted:LONG]>");
    assert_eq!(redactor.text(&value.replace(',', "%2c")), "[redacted:LONG]");
}

#[test]
fn a_secret_in_a_string_that_is_cut_off_or_prose_goes() {
    for text in [
        r#"{"content":"he said {\"password\": \"hunter2\"} twice"}"#,
        r#"{"a":{"password":"hunter2"#,
    ] {
        assert_eq!(
            bare().json(text),
            text.replace("hunter2", "[redacted:password]")
        );
    }
}

#[test]
fn a_secret_in_a_key_goes() {
    let json = format!(r#"{{"{TOKEN}":1}}"#, TOKEN = "other-secret");
    assert_eq!(redactor().json(&json), r#"{"[redacted:OTHER]":1}"#);
}

#[test]
fn lines_of_json_are_json() {
    let lines = "{\"password\":\"a\"}\n{\"b\":\"other-secret\"}\n";
    assert_eq!(
        redactor().json(lines),
        "{\"password\":\"[redacted:password]\"}\n{\"b\":\"[redacted:OTHER]\"}\n"
    );
}

#[test]
fn a_half_surrogate_is_no_obstacle() {
    assert_eq!(
        redactor().json(r#"["\ud800other-secret"]"#),
        r#"["\ud800[redacted:OTHER]"]"#
    );
}

#[test]
fn headers_that_authenticate_keep_their_scheme_alone() {
    let redactor = redactor();
    for (name, value, expected) in [
        (
            "Authorization",
            "Bearer abc",
            "Bearer [redacted:authorization]",
        ),
        (
            "authorization",
            "Bearer other-secret",
            "Bearer [redacted:OTHER]",
        ),
        (
            "Authorization",
            "Basic dXNlcjpodW50ZXIy",
            "Basic [redacted:basic-credentials]",
        ),
        (
            "Proxy-Authorization",
            "what ever",
            "[redacted:authorization]",
        ),
        ("X-Api-Key", "short", "[redacted:api-key]"),
        ("x-goog-api-key", "short", "[redacted:api-key]"),
        ("Cookie", "a=b; c=d", "[redacted:cookie]"),
        ("Set-Cookie", "sid=1; Path=/", "[redacted:cookie]"),
        ("X-Auth-Token", "abc", "[redacted:token]"),
        ("Authorization", "Bearer ${TOKEN}", "Bearer ${TOKEN}"),
        ("Mcp-Session-Id", "1234", "1234"),
        ("User-Agent", "x other-secret", "x [redacted:OTHER]"),
    ] {
        assert_eq!(redactor.header(name, value), expected, "{name}: {value}");
    }
}

#[test]
fn patterns_of_the_suite_are_hidden() {
    let redactor = with_pattern(r"\b4\d{15}\b");
    let json = r#"{"card":"no 4111111111111111.","bare":4111111111111111,"in":"[4111111111111111]","other":41}"#;
    let expected = r#"{"card":"no [redacted:pattern].","bare":"[redacted:pattern]","in":"[\"[redacted:pattern]\"]","other":41}"#;
    assert_eq!(redactor.json(json), expected);
}

#[test]
fn a_named_group_narrows_a_pattern_and_names_it() {
    let redactor = with_pattern(r"account (?<account>\w+)");
    assert_eq!(
        redactor.text("account A17 of account B"),
        "account [redacted:account] of account [redacted:account]"
    );
}

#[test]
fn every_bad_pattern_is_reported() {
    let problems = Redactor::builder()
        .pattern("(")
        .pattern("ok")
        .pattern("(?=x)")
        .pattern("(a{1000}){1000}")
        .pattern("")
        .build()
        .unwrap_err();
    let messages: Vec<_> = problems.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(messages.join("\n"), @r"
    redaction pattern 1, `(`: this is not a regular expression: unclosed group
    redaction pattern 3, `(?=x)`: this is not a regular expression: look-around, including look-ahead and look-behind, is not supported; patterns run in linear time, so look-around and backreferences are not supported
    redaction pattern 4, `(a{1000}){1000}`: it is too large once it is compiled; repeat less
    redaction pattern 5, ``: it is empty; write the text to hide
    ");
}

#[test]
fn a_pattern_that_eats_its_way_ends_with_the_whole_text() {
    let redactor = with_pattern(r"^a|\]b|redacted");
    let once = redactor.text("abbbbbbbbbbbbbbbbbb").into_owned();
    assert_eq!(redactor.text(&once), once);
    assert!(!once.contains('b'), "{once}");
    let json = redactor
        .json(r#"["abbbbbbbbbbbbbbbbbb","b [redacted:pattern]"]"#)
        .into_owned();
    assert!(json.ends_with(r#","b [redacted:pattern]"]"#), "{json}");
    assert_eq!(redactor.json(&json), json);
}

#[test]
fn a_placeholder_is_never_redacted() {
    let names = Redactor::builder()
        .value("A", "password")
        .value("B", "redacted")
        .pattern(r"\w+")
        .build()
        .unwrap();
    for text in [
        "[redacted:password]",
        "[redacted:A]",
        "[redacted:github-token:012abc]",
        "[redacted:OLD_NAME]",
    ] {
        assert_eq!(names.text(text), text);
    }
    let json = r#"{"x":"[redacted:OLD]"}"#;
    assert_eq!(bare().json(json), json);
}

#[test]
fn a_secret_in_a_false_placeholder_goes() {
    let text = format!("[redacted:{}]", github());
    assert!(!bare().text(&text).contains(&github()));
    assert_eq!(
        redactor().text("[redacted:other-secret]"),
        "[redacted:[redacted:OTHER]]"
    );
}

#[test]
fn secrets_are_found_with_their_kind_and_place() {
    let text = r#"{"a":"x other-secret","password":"p"}"#;
    let expected = [("OTHER".to_owned(), 8..20), ("password".to_owned(), 34..35)];
    assert_eq!(redactor().find(text), expected);
    assert_eq!(redactor().find(&redactor().json(text)), []);
}

#[test]
fn one_redactor_serves_many_threads() {
    fn is_shared<T: Send + Sync + Clone>(_: &T) {}
    is_shared(&bare());
}

#[test]
fn nothing_secret_is_printed_while_debugging() {
    let printed = format!("{:?}", redactor());
    assert!(
        printed.contains("API_TOKEN") && !printed.contains("tok-ABCD"),
        "{printed}"
    );
}

/// Would not end if one of these took quadratic time.
#[test]
fn hostile_texts_settle() {
    let redactor = Redactor::builder().value("A", "aaaaaaaa").build().unwrap();
    for piece in [
        "sk-",
        "eyJ",
        "eyJ.",
        "github_pat_",
        "-----BEGIN PRIVATE KEY-----",
        "://a:",
        "\"token\":\"",
        "aaaaaaaa",
        "\\\"token\\\":\\\"",
        "[redacted:",
        "{\"",
        "[\"{",
        "?token=",
        "Bearer a",
        "\\\\",
        "%25",
        "glc_=",
        "Bearer bearer-",
    ] {
        let text = piece.repeat(200_000 / piece.len());
        let once = redactor.text(&text).into_owned();
        assert_eq!(redactor.text(&once), once, "{piece}");
        let _ = redactor.json(&text);
    }
}

#[test]
fn a_pattern_breaks_no_recording_and_no_report() {
    let redactor = with_pattern("[0-9]{3,}|[a-z_]{10,}|failed");
    let line = r#"{"run":100,"trace":{"tool_calls":[{"args":{"n":1234,"a_word_like_this":1}}],"tool_results":[{"call_index":250}]}}"#;
    let expected = r#"{"run":100,"trace":{"tool_calls":[{"args":{"n":"[redacted:pattern]","[redacted:pattern]":1}}],"tool_results":[{"call_index":250}]}}"#;
    assert_eq!(redactor.json(line), expected);
    let report =
        r#"{"status":"failed","targets":{"score":0.6666666666},"reason":"run 1234 {\"n\":1234}"}"#;
    let expected = r#"{"status":"failed","targets":{"score":0.6666666666},"reason":"run [redacted:pattern] {\"n\":[redacted:pattern]}"}"#;
    assert_eq!(redactor.document(report), expected);
}

#[test]
fn the_name_of_a_pattern_stands_in_its_placeholder() {
    let redactor = Redactor::builder()
        .named_pattern("customer", "no. (?<digits>[0-9]+)")
        .build()
        .unwrap();
    assert_eq!(redactor.text("no. 12"), "no. [redacted:customer]");
}

/// Would not end if building or using one of these took quadratic time.
#[test]
fn values_that_repeat_are_searched_for_in_linear_time() {
    for unit in ["a", "ab", "-", "\\", "%", "/", "é", "abcabd", "=\n"] {
        let value = unit.repeat(20_000 / unit.len());
        let redactor = Redactor::builder().value("LONG", &value).build().unwrap();
        for text in [
            format!("<{}>", value.trim()),
            serde_json::json!([value.trim()]).to_string(),
        ] {
            let redacted = redactor.text(&text).into_owned();
            assert!(redacted.len() < 30, "{unit:?}: {} bytes", redacted.len());
            assert_eq!(redactor.text(&redacted), redacted);
        }
        let almost = &value[..value.len() - unit.len()];
        let _ = redactor.text(&format!("{almost}x{almost}"));
    }
}

#[test]
fn the_lines_of_a_value_go_one_by_one() {
    let key = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0B\r\nAQEFAASCBKcwggSjAgEAAoIB\nshort=\n-----END PRIVATE KEY-----\n";
    for value in [
        key.to_owned(),
        key.replace("\r\n", "\n").replace('\n', "\\n"),
    ] {
        let redactor = Redactor::builder().value("KEY", &value).build().unwrap();
        let text = "stderr | MIIEvQIBADANBgkqhkiG9w0B\nstderr | AQEFAASCBKcwggSjAgEAAoIB\n";
        assert_eq!(
            redactor.text(text),
            "stderr | [redacted:KEY]\nstderr | [redacted:KEY]\n"
        );
        assert!(
            redactor.text(key.trim()).starts_with("[redacted:")
                && redactor.text(key.trim()).len() < 30
        );
        assert_eq!(
            redactor.text("-----BEGIN PRIVATE KEY-----"),
            "-----BEGIN PRIVATE KEY-----"
        );
    }
}

#[test]
fn a_json_pointer_hides_neither_a_value_nor_the_password_of_a_url() {
    let pointer = "/postgres:~1~1app:hunter2@db~1x/0";
    assert_eq!(
        bare().text(pointer),
        "/postgres:~1~1app:[redacted:url-password]@db~1x/0"
    );
    assert_eq!(
        bare().text(r"http:\/\/app:hunter2@db"),
        r"http:\/\/app:[redacted:url-password]@db"
    );
    let redactor = Redactor::builder()
        .value("KEY", "ab/cd~ef/gh")
        .build()
        .unwrap();
    assert_eq!(redactor.text("/x/ab~1cd~0ef~1gh"), "/x/[redacted:KEY]");
}

#[test]
fn what_was_cut_off_goes_too() {
    let redactor = redactor();
    assert_eq!(
        redactor.text("use other-sec… for it"),
        "use [redacted:OTHER]… for it"
    );
    assert_eq!(
        redactor.text("use other… for it"),
        "use other… for it",
        "too short to be told"
    );
    let cut = format!("use {}…", &github()[..12]);
    assert!(
        redactor
            .text(&cut)
            .starts_with("use [redacted:github-token"),
        "{}",
        redactor.text(&cut)
    );
    assert_eq!(redactor.text("use other-sec..."), "use [redacted:OTHER]...");
    assert_eq!(
        redactor.text("Bearer abc123d...")[..28],
        *"Bearer [redacted:bearer-toke"
    );
    assert_eq!(
        redactor.text("Bearer abc123d…"),
        "Bearer [redacted:bearer-token]…"
    );
    assert_eq!(
        redactor.text("http://u:hunter2…"),
        "http://u:[redacted:url-password]…"
    );
    for text in [
        "http://localhost:3000…",
        "the sk-learn… package",
        "hf_…",
        "Bearer …",
        "Basic training…",
        "bearer authentication…",
    ] {
        assert_eq!(redactor.text(text), text);
    }
}
