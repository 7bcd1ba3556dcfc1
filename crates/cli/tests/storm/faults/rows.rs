//! The table of failures.

pub(super) struct Row {
    pub(super) name: &'static str,
    /// The provider's steps for the bad agent, in which `CALL` is a call of the tool. If empty, the
    /// agent calls the tool and repeats its result.
    pub(super) steps: &'static str,
    pub(super) server: Server,
    /// The rest of the bad agent's entry.
    pub(super) agent: &'static str,
    pub(super) environment: &'static [(&'static str, &'static str)],
}

/// The bad agent's server.
pub(super) enum Server {
    Mock,
    /// A row of `tests/storm/server.py` or `tests/misbehaviour/server.py`.
    Python(&'static str),
    /// A server with too little time to answer a call.
    Hurried(&'static str, &'static str),
    /// A server with too little time to start.
    Awaited(&'static str, &'static str),
    /// A server that is shared by all runs.
    Shared(&'static str),
    /// A row of `tests/misbehaviour/server.py` on HTTP.
    Http(&'static str),
    /// An entry of `servers:`, verbatim.
    Entry(&'static str),
}

const MODEL: &str = "model: claude-bad\n    servers: [bad]";
const HASTY: &str = "model: claude-bad\n    servers: [bad]\n    time_budget: 3s";

const fn row(name: &'static str, steps: &'static str, server: Server, agent: &'static str) -> Row {
    Row {
        name,
        steps,
        server,
        agent,
        environment: &[],
    }
}

const fn provider(name: &'static str, steps: &'static str) -> Row {
    row(name, steps, Server::Mock, MODEL)
}

const fn hasty(name: &'static str, steps: &'static str) -> Row {
    row(name, steps, Server::Mock, HASTY)
}

const fn server(name: &'static str) -> Row {
    row(name, "", Server::Python(name), MODEL)
}

const fn hurried(name: &'static str) -> Row {
    row(name, "", Server::Hurried(name, "1s"), MODEL)
}

const fn http(name: &'static str) -> Row {
    row(name, "", Server::Http(name), MODEL)
}

const fn entry(name: &'static str, entry: &'static str) -> Row {
    row(name, "", Server::Entry(entry), MODEL)
}

pub(super) const ROWS: &[Row] = &[
    hasty("provider-hangs", "[{ fault: hang }]"),
    hasty("provider-hangs-later", "[{ CALL }, { fault: hang }]"),
    hasty("provider-closes", "[{ fault: close, times: 99 }]"),
    hasty(
        "provider-closes-later",
        "[{ CALL }, { fault: close, times: 99 }]",
    ),
    hasty("provider-cuts", "[{ fault: cut, times: 99 }]"),
    hasty("provider-html", "[{ fault: html, times: 99 }]"),
    hasty(
        "provider-html-later",
        "[{ CALL }, { fault: html, times: 99 }]",
    ),
    hasty(
        "provider-html-502",
        "[{ fault: html, status: 502, times: 99 }]",
    ),
    hasty("provider-truncated", "[{ fault: truncated, times: 99 }]"),
    hasty(
        "provider-truncated-later",
        "[{ CALL }, { fault: truncated, times: 99 }]",
    ),
    provider(
        "provider-html-at-last",
        "[{ CALL }, { fault: html }, { text: hello }]",
    ),
    provider(
        "provider-error-under-200-at-last",
        r#"[{ raw: '{"error":{"code":502,"message":"upstream"}}' }, { CALL }, { text: hello }]"#,
    ),
    row(
        "provider-hangs-for-one-answer",
        "[{ CALL }, { fault: hang }, { fault: hang }, { text: hello }]",
        Server::Mock,
        "model: claude-bad\n    servers: [bad]\n    request_timeout: 300ms",
    ),
    provider(
        "provider-429-soon",
        "[{ status: 429, retry_after_ms: 1, times: 99 }]",
    ),
    provider(
        "provider-429-soon-later",
        "[{ CALL }, { status: 429, retry_after_ms: 1, times: 99 }]",
    ),
    provider(
        "provider-429-at-last",
        "[{ status: 429, retry_after_ms: 1, times: 4 }, { CALL }, { text: hello }]",
    ),
    hasty("provider-429", "[{ status: 429, times: 99 }]"),
    hasty(
        "provider-429-in-an-hour",
        "[{ status: 429, retry_after: '3600' }]",
    ),
    hasty(
        "provider-429-in-an-hour-later",
        "[{ CALL }, { status: 429, retry_after: '3600' }]",
    ),
    provider("provider-401", "[{ status: 401 }]"),
    provider(
        "provider-400-later",
        "[{ CALL }, { status: 400, message: 'prompt is too long: 210000 tokens > 200000 maximum' }]",
    ),
    provider(
        "provider-529-at-last",
        "[{ status: 529, retry_after_ms: 1, times: 2 }, { CALL }, { text: hello }]",
    ),
    provider(
        "provider-529-later",
        "[{ CALL }, { status: 529, retry_after_ms: 1, times: 99 }]",
    ),
    Row {
        environment: &[("MISTRAL_BASE_URL", "http://127.0.0.1:1")],
        ..row(
            "provider-is-not-there",
            "",
            Server::Mock,
            "model: mistral-bad\n    time_budget: 3s",
        )
    },
    Row {
        environment: &[("MISTRAL_API_KEY", "")],
        ..row(
            "provider-without-a-key",
            "",
            Server::Mock,
            "model: mistral-bad",
        )
    },
    row(
        "no-answer-to-initialize",
        "",
        Server::Awaited("no-answer-to-initialize", "10s"),
        MODEL,
    ),
    server("exit-before-the-handshake"),
    server("exit-in-the-handshake"),
    server("exit-on-the-list"),
    hurried("no-answer-to-a-call"),
    row(
        "answer-after-the-timeout",
        "[{ CALL }, { text: 'done: {{last_result}}', delay_ms: 2500 }]",
        Server::Hurried("answer-after-the-timeout", "1s"),
        MODEL,
    ),
    server("exit-in-a-call"),
    server("killed-in-a-call"),
    server("flood-of-stderr"),
    server("duplicate-reply"),
    hurried("wrong-id"),
    server("banner-before-the-handshake"),
    hurried("text-instead-of-the-answer"),
    hurried("broken-json"),
    server("not-utf8"),
    server("deep-nesting"),
    server("cut-in-the-middle-of-a-line"),
    server("closed-stdout"),
    server("ignores-the-end"),
    server("grandchild-left-behind"),
    server("grandchild-beside-a-good-answer"),
    server("grandchild-in-its-own-session"),
    server("refuses-the-call"),
    server("result-of-odd-parts"),
    server("result-that-is-a-text"),
    row(
        "large-result",
        "[{ CALL }, { text: hello }]",
        Server::Python("large-result"),
        MODEL,
    ),
    row(
        "no-tools",
        "[{ text: hello }]",
        Server::Python("no-tools"),
        MODEL,
    ),
    row(
        "same-tool-twice",
        "",
        Server::Python("same-tool-twice"),
        MODEL,
    ),
    row(
        "other-tools-every-time",
        "",
        Server::Python("other-tools-every-time"),
        "model: claude-bad\n    servers: [bad]\n    runs: 3",
    ),
    row(
        "shared-server-dies",
        "",
        Server::Shared("exit-in-a-call"),
        "model: claude-bad\n    servers: [bad]\n    runs: 3",
    ),
    http("http-401"),
    http("http-500"),
    http("http-429"),
    http("http-hang"),
    http("http-cut-stream"),
    http("http-html-in-a-call"),
    http("http-lost-session"),
    entry("no-such-command", "{ command: [no-such-command-anywhere] }"),
    entry(
        "unset-variable",
        "{ command: [python3], env: { KEY: '${NOT_SET_ANYWHERE}' } }",
    ),
    entry(
        "nobody-listens",
        "{ url: 'http://127.0.0.1:1/mcp', connect_timeout: 1s }",
    ),
    entry("no-such-manifest", "{ mock: no-such-manifest.yml }"),
    row(
        "setup-fails",
        "",
        Server::Mock,
        "model: claude-bad\n    setup: [sh, -c, 'echo no database >&2; exit 3']",
    ),
    row(
        "setup-is-not-there",
        "",
        Server::Mock,
        "model: claude-bad\n    setup: [no-such-command-anywhere]",
    ),
    row(
        "teardown-fails",
        "",
        Server::Mock,
        "model: claude-bad\n    teardown: [sh, -c, 'echo no database >&2; exit 3']",
    ),
    row(
        "own-agent-fails",
        "",
        Server::Mock,
        "agent: { command: [sh, -c, 'echo hello; echo out of memory >&2; exit 3'] }",
    ),
    row(
        "own-agent-hangs",
        "",
        Server::Mock,
        "agent: { command: [sleep, '600'] }\n    time_budget: 3s",
    ),
    row(
        "own-agent-is-not-there",
        "",
        Server::Mock,
        "agent: { command: [no-such-command-anywhere] }",
    ),
];
