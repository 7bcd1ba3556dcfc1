"""A scripted bad server: each row of the table misbehaves in its own way and is otherwise healthy.

usage: server.py ROW          on stdio
       server.py --http ROW   on HTTP; the first line of stdout is the URL
Every process that is started appends its id to the file named by MISBEHAVIOUR_PIDS.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time

HELD = 3600


def note_pid(pid):
    path = os.environ.get("MISBEHAVIOUR_PIDS")
    if path:
        with open(path, "a") as pids:
            pids.write(f"{pid}\n")


def tool(**more):
    reads = {"readOnlyHint": True}
    return {"name": "echo", "description": "Says it again", "inputSchema": {"type": "object"}, "annotations": reads, **more}


def answer(message):
    """The healthy answer to a request of the legacy era, or None for a notification."""
    method, ident = message.get("method"), message.get("id")
    if ident is None or method is None:
        return None
    results = {
        "initialize": {
            "protocolVersion": "2025-11-25",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "bad", "version": "1"},
        },
        "tools/list": {"tools": [tool()]},
        "tools/call": {"content": [{"type": "text", "text": "hello"}]},
        "ping": {},
    }
    if method == "tools/call" and message.get("params", {}).get("name") != "echo":
        return {"jsonrpc": "2.0", "id": ident, "error": {"code": -32602, "message": "no such tool"}}
    if method in results:
        return {"jsonrpc": "2.0", "id": ident, "result": results[method]}
    return {"jsonrpc": "2.0", "id": ident, "error": {"code": -32601, "message": f"no method {method}"}}


# stdio ------------------------------------------------------------------------------------------


def send(value):
    raw(value if isinstance(value, str) else json.dumps(value))


def raw(text):
    sys.stdout.buffer.write(text.encode() if isinstance(text, str) else text)
    sys.stdout.buffer.write(b"\n")
    sys.stdout.buffer.flush()


def complain(line):
    print(line, file=sys.stderr, flush=True)


def on(method, act):
    """A row that acts instead of answering one method."""

    def row(message):
        if message.get("method") == method:
            act(message)
        elif (reply := answer(message)) is not None:
            send(reply)

    return row


def instead(method, make):
    return on(method, lambda message: send(make(message)))


def result_of(method, result):
    return instead(method, lambda m: {"jsonrpc": "2.0", "id": m["id"], "result": result})


def declared(schema, result):
    """A row whose tool declares what it answers, and answers this."""

    def row(message):
        results = {LIST: {"tools": [tool(outputSchema=schema)]}, CALL: result}
        found = results.get(message.get("method"))
        on(message.get("method") if found else None, lambda m: send({"jsonrpc": "2.0", "id": m["id"], "result": found}))(
            message
        )

    return row


def leave(status, word):
    def act(_):
        complain(word)
        sys.stdout.flush()
        os._exit(status)

    return act


def late(message):
    def reply():
        time.sleep(1.5)
        send(answer(message))

    threading.Thread(target=reply, daemon=True).start()


def twice(message):
    send(answer(message))
    send(answer(message))


def flood(message):
    for number in range(20000):
        complain(f"noise {number} " + "x" * 100)
    send(answer(message))


def endless_pages(message):
    page = {"tools": [tool(name=f"echo{message['id']}")], "nextCursor": f"page-{message['id']}"}
    send({"jsonrpc": "2.0", "id": message["id"], "result": page})


def close_stdout(_):
    sys.stdout.flush()
    os.close(1)
    time.sleep(HELD)


def leave_grandchild(_):
    child = subprocess.Popen([sys.executable, "-c", f"import time; time.sleep({HELD})"])
    note_pid(child.pid)
    os._exit(4)


def hold_grandchild(message):
    child = subprocess.Popen([sys.executable, "-c", f"import time; time.sleep({HELD})"])
    note_pid(child.pid)
    send(answer(message))


def hold_stray(message):
    child = subprocess.Popen([sys.executable, "-c", f"import time; time.sleep({HELD})"], start_new_session=True)
    note_pid(child.pid)
    send(answer(message))


def hold_daemon(message):
    """A daemon as of old: two forks, a session and an environment of its own."""
    read, write = os.pipe()
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.write(write, str(os.getpid()).encode())
            for descriptor in range(3):
                os.close(descriptor)
            os.execve(sys.executable, [sys.executable, "-c", f"import time; time.sleep({HELD})"], {})
        os._exit(0)
    os.wait()
    note_pid(int(os.read(read, 20)))
    send(answer(message))


def doubling(count):
    """A schema in which each part refers twice to the next."""
    parts = {f"d{at}": {"allOf": [{"$ref": f"#/$defs/d{at + 1}"}] * 2} for at in range(count)}
    return {"type": "object", "$ref": "#/$defs/d0", "$defs": {**parts, f"d{count}": {"type": "object"}}}


def ignore_the_end(message):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    send(answer(message))


def ask_back(message):
    send({"jsonrpc": "2.0", "id": 77, "method": "bogus/request", "params": {}})
    send(answer(message))


CALL, LIST, INIT = "tools/call", "tools/list", "initialize"

STDIO = {
    "healthy": on("none", None),
    "banner-before-the-handshake": on("none", None),
    "text-only": lambda message: raw("Server listening on port 3000") if message.get("method") else None,
    "text-instead-of-the-answer": on(CALL, lambda _: raw("Traceback: something broke")),
    "broken-json": on(CALL, lambda m: raw(json.dumps(answer(m))[:-9])),
    "json-that-is-not-rpc": on(CALL, lambda _: raw('{"ok": true}')),
    "no-jsonrpc": instead(CALL, lambda m: {"id": m["id"], "result": {"content": []}}),
    "wrong-jsonrpc": instead(CALL, lambda m: {"jsonrpc": "1.0", "id": m["id"], "result": {"content": []}}),
    "result-and-error": instead(
        CALL, lambda m: {"jsonrpc": "2.0", "id": m["id"], "result": {}, "error": {"code": 1, "message": "x"}}
    ),
    "neither-result-nor-error": instead(CALL, lambda m: {"jsonrpc": "2.0", "id": m["id"]}),
    "error-that-is-a-text": instead(CALL, lambda m: {"jsonrpc": "2.0", "id": m["id"], "error": "boom"}),
    "error-without-a-code": instead(CALL, lambda m: {"jsonrpc": "2.0", "id": m["id"], "error": {"message": "x"}}),
    "wrong-id": instead(CALL, lambda m: {**answer(m), "id": 4711}),
    "id-as-text": instead(CALL, lambda m: {**answer(m), "id": str(m["id"])}),
    "null-id": instead(CALL, lambda m: {**answer(m), "id": None}),
    "batch": on(CALL, lambda m: raw(json.dumps([answer(m)]))),
    "duplicate-reply": on(CALL, twice),
    "line-past-the-limit": instead(
        CALL, lambda m: {"jsonrpc": "2.0", "id": m["id"], "result": {"content": [{"type": "text", "text": "x" * 200000}]}}
    ),
    "not-utf8": on(CALL, lambda m: raw(b'{"jsonrpc":"2.0","id":%d,"result":"\xff\xfe"}' % m["id"])),
    "cut-in-the-middle-of-a-line": on(
        CALL, lambda m: (sys.stdout.write(json.dumps(answer(m))[:30]), sys.stdout.flush(), os._exit(0))
    ),
    "exit-before-the-handshake": on("none", None),
    "exit-in-the-handshake": on(INIT, leave(5, "fatal: no database")),
    "exit-on-the-list": on(LIST, leave(6, "fatal: lost the database")),
    "exit-in-a-call": on(CALL, leave(7, "panic in echo")),
    "killed-in-a-call": on(CALL, lambda _: os.kill(os.getpid(), signal.SIGKILL)),
    "no-answer-to-initialize": on(INIT, lambda _: complain("waiting for a licence")),
    "no-answer-to-a-call": on(CALL, lambda _: complain("still computing")),
    "answer-after-the-timeout": on(CALL, late),
    "tool-without-a-schema": result_of(LIST, {"tools": [tool(), {"name": "bare", "description": "No schema"}]}),
    "schema-that-is-a-text": result_of(LIST, {"tools": [tool(), tool(name="odd", inputSchema="object")]}),
    "tool-without-a-name": result_of(LIST, {"tools": [tool(), {"inputSchema": {"type": "object"}}]}),
    "tools-that-are-no-list": result_of(LIST, {"tools": {"echo": {}}}),
    "same-tool-twice": result_of(LIST, {"tools": [tool(), tool()]}),
    "repeating-cursor": result_of(LIST, {"tools": [tool()], "nextCursor": "again"}),
    "endless-pages": on(LIST, endless_pages),
    "flood-of-stderr": on(CALL, flood),
    "unknown-protocol-version": result_of(
        INIT, {"protocolVersion": "1999-01-01", "capabilities": {}, "serverInfo": {"name": "bad", "version": "1"}}
    ),
    "initialize-without-a-version": result_of(INIT, {"capabilities": {}}),
    "initialize-refused": instead(
        INIT, lambda m: {"jsonrpc": "2.0", "id": m["id"], "error": {"code": -32000, "message": "no seats left"}}
    ),
    "closed-stdout": on(CALL, close_stdout),
    "grandchild-left-behind": on(CALL, leave_grandchild),
    "grandchild-beside-a-good-answer": on(CALL, hold_grandchild),
    "grandchild-in-its-own-session": on(CALL, hold_stray),
    "daemon-with-an-environment-of-its-own": on(CALL, hold_daemon),
    "ignores-the-end": on(CALL, ignore_the_end),
    "deep-nesting": on(
        CALL, lambda m: raw('{"jsonrpc":"2.0","id":%d,"result":{"content":%s%s}}' % (m["id"], "[" * 5000, "]" * 5000))
    ),
    "result-that-is-a-text": result_of(CALL, "hello"),
    "result-without-content": result_of(CALL, {"greeting": "hello"}),
    "result-of-odd-parts": result_of(
        CALL,
        {"content": [{"type": "text"}, {"type": "txt", "text": "a"}, 7], "structuredContent": None, "isError": "yes"},
    ),
    "result-that-breaks-its-schema": declared(
        {"type": "object", "properties": {"degrees": {"type": "number"}}, "required": ["degrees", "wind"]},
        {"content": [], "structuredContent": {"place": "Oslo", "degrees": "seven"}},
    ),
    "schema-that-doubles": declared(doubling(50), {"content": [], "structuredContent": {}}),
    "result-without-what-its-schema-says": declared(
        {"type": "object"}, {"content": [{"type": "text", "text": "hello"}]}
    ),
    "asks-back-with-an-unknown-method": on(CALL, ask_back),
    "refuses-the-call": instead(
        CALL, lambda m: {"jsonrpc": "2.0", "id": m["id"], "error": {"code": -32602, "message": "no such thing"}}
    ),
}


def serve_stdio(name):
    if name == "exit-before-the-handshake":
        leave(3, "usage: server --config FILE")(None)
    if name == "banner-before-the-handshake":
        raw("Bad server v1.0 ready")
    row = STDIO[name]
    for line in sys.stdin:
        try:
            message = json.loads(line)
        except ValueError:
            raw('{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"not JSON"}}')
            continue
        row(message)
    if name == "ignores-the-end":
        time.sleep(HELD)


# HTTP -------------------------------------------------------------------------------------------


def response(status, body, content_type="application/json", headers=(), length=None):
    body = body.encode() if isinstance(body, str) else body
    lines = [f"HTTP/1.1 {status}", f"Content-Type: {content_type}", "Connection: close"]
    lines.append(f"Content-Length: {len(body) if length is None else length}")
    lines.extend(headers)
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def stream(*events, end=b"0\r\n\r\n"):
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
    parts = [f"data: {event}\n\n".encode() for event in events]
    return head + b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts) + end


def in_call(make):
    return lambda message, reply: make(message, reply) if message.get("method") == CALL else None


def always(make):
    return lambda message, reply: make(message, reply)


PAGE = "<!doctype html><html><head><title>Sign in</title></head><body>Sign in</body></html>"

HTTP = {
    "http-healthy": in_call(lambda m, r: None),
    "http-html": always(lambda m, r: response("200 OK", PAGE, "text/html")),
    "http-html-in-a-call": in_call(lambda m, r: response("200 OK", PAGE, "text/html")),
    "http-redirect": always(
        lambda m, r: response("302 Found", "", headers=["Location: https://login.example.com/start"])
    ),
    "http-401": always(
        lambda m, r: response(
            "401 Unauthorized", '{"error":"no token"}', headers=['WWW-Authenticate: Bearer realm="mcp"']
        )
    ),
    "http-403": always(lambda m, r: response("403 Forbidden", "not for you", "text/plain")),
    "http-404": always(lambda m, r: response("404 Not Found", "nothing here", "text/plain")),
    "http-429": in_call(lambda m, r: response("429 Too Many Requests", "slow down", headers=["Retry-After: 3600"])),
    "http-500": in_call(lambda m, r: response("500 Internal Server Error", "stack trace here", "text/plain")),
    "http-503": in_call(lambda m, r: response("503 Service Unavailable", "down for repairs", "text/plain")),
    "http-cut-body": in_call(lambda m, r: response("200 OK", r[:20], length=len(r) + 50)),
    "http-cut-stream": in_call(lambda m, r: stream('{"jsonrpc":"2.0","method":"notifications/message","params":{}}', end=b"")),
    "http-stream-without-the-answer": in_call(
        lambda m, r: stream('{"jsonrpc":"2.0","method":"notifications/message","params":{}}')
    ),
    "http-garbage-event": in_call(lambda m, r: stream("not json at all")),
    "http-text-type": in_call(lambda m, r: response("200 OK", r, "text/plain")),
    "http-empty-200": in_call(lambda m, r: response("200 OK", "")),
    "http-202-to-a-request": in_call(lambda m, r: response("202 Accepted", "")),
    "http-broken-json": in_call(lambda m, r: response("200 OK", r[:-7])),
    "http-wrong-id": in_call(lambda m, r: response("200 OK", json.dumps({**answer(m), "id": 4711}))),
    "http-large-body": in_call(lambda m, r: response("200 OK", '"' + "x" * 200000 + '"')),
    "http-hang": in_call(lambda m, r: time.sleep(HELD)),
    "http-not-http": always(lambda m, r: b"SSH-2.0-OpenSSH_9.2\r\n"),
    "http-closed-at-once": always(lambda m, r: b""),
    "http-lost-session": in_call(lambda m, r: response("404 Not Found", '{"error":"unknown session"}')),
    "http-stream-that-never-ends": in_call(lambda m, r: hold_stream),
}


def hold_stream(connection):
    connection.sendall(stream(": still here", end=b""))
    time.sleep(HELD)


def read_request(connection):
    data = b""
    while b"\r\n\r\n" not in data:
        piece = connection.recv(65536)
        if not piece:
            return None, b""
        data += piece
    head, body = data.split(b"\r\n\r\n", 1)
    length = next((int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")), 0)
    while len(body) < length:
        body += connection.recv(65536)
    return head.split(b" ", 1)[0], body


def handle(connection, row):
    method, body = read_request(connection)
    if method is None:
        return
    if method != b"POST":
        connection.sendall(response("405 Method Not Allowed", ""))
        return
    try:
        message = json.loads(body)
    except ValueError:
        connection.sendall(response("400 Bad Request", ""))
        return
    if not {"method", "result", "error"} & message.keys():
        connection.sendall(response("400 Bad Request", ""))
        return
    healthy = answer(message)
    reply = json.dumps(healthy) if healthy else ""
    bad = row(message, reply)
    if callable(bad):
        bad(connection)
    elif bad is not None:
        connection.sendall(bad)
    elif healthy is None:
        connection.sendall(response("202 Accepted", ""))
    else:
        session = ["Mcp-Session-Id: s1"] if message.get("method") == INIT else []
        status = "400 Bad Request" if "error" in healthy and message.get("method") == "server/discover" else "200 OK"
        connection.sendall(response(status, reply, headers=session))


def serve_http(name):
    listener = socket.create_server(("127.0.0.1", 0), backlog=64)
    print(f"http://127.0.0.1:{listener.getsockname()[1]}/mcp", flush=True)

    def one(connection):
        with connection:
            try:
                handle(connection, HTTP[name])
            except OSError:
                pass

    while True:
        connection, _ = listener.accept()
        threading.Thread(target=one, args=(connection,), daemon=True).start()


if __name__ == "__main__":
    note_pid(os.getpid())
    if sys.argv[1] == "--http":
        serve_http(sys.argv[2])
    elif sys.argv[1] == "--list":
        print("\n".join([*STDIO, *HTTP]))
    else:
        serve_stdio(sys.argv[1])
