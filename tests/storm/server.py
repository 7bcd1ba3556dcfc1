"""The bad servers of tests/misbehaviour, and those that are bad only to who records agents.

usage: server.py ROW          on stdio
       server.py --http tells   on HTTP; the first line of stdout is the URL
"""

import base64
import http.server
import json
import os
import sys
import time
import urllib.parse

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "misbehaviour"))
sys.dont_write_bytecode = True
import server as bad  # noqa: E402


def large(message):
    text = "x" * 50_000_000
    bad.send({"jsonrpc": "2.0", "id": message["id"], "result": {"content": [{"type": "text", "text": text}]}})


def other_tools(message):
    """Another tool for every process: their number is the length of a file."""
    with open("starts", "a+") as starts:
        starts.write("x")
        number = starts.tell()
    result = {"tools": [bad.tool(), bad.tool(name=f"extra{number}")]}
    bad.send({"jsonrpc": "2.0", "id": message["id"], "result": result})


def slow(method):
    """The second one that is asked, of all processes, takes its time; the file `begun` says that it has."""

    def act(message):
        with open("asked", "a+") as asked:
            asked.write("x")
            is_second = asked.tell() == 2
        if is_second:
            open("begun", "w").close()
            time.sleep(bad.HELD)
        bad.send(bad.answer(message))

    return bad.on(method, act)


def secrets():
    """Every secret that the environment and the command have, in every form."""
    values = [value for name, value in os.environ.items() if name.startswith("OF_") or name.endswith("_API_KEY")]
    return "; ".join(form for value in [*values, *sys.argv[2:]] for form in forms(value))


def forms(value):
    encode = lambda text: base64.b64encode(text.encode()).decode()
    yield from (value, encode(value), encode("user:" + value), encode("x" + value + "y").rstrip("="))
    yield from (base64.urlsafe_b64encode(value.encode()).decode(), urllib.parse.quote(value, safe=""), urllib.parse.quote_plus(value))
    yield from (json.dumps({"inner": json.dumps(value)}), "".join(f"%{byte:02x}" for byte in value.encode()))


def tells(message):
    """Tells all it knows: in what it says of its tools, in results, in errors and when it dies."""
    bad.complain(f"starting with {secrets()}")
    method, ident = message.get("method"), message.get("id")
    name = message.get("params", {}).get("name")
    said = message.get("params", {}).get("arguments")
    reply = {"jsonrpc": "2.0", "id": ident}
    if method == bad.LIST:
        tools = [bad.tool(name=name, description=f"Knows {secrets()}") for name in ("echo", "refuse", "die")]
        bad.send({**reply, "result": {"tools": tools}})
    elif method == bad.CALL and name == "echo":
        known = {"secrets": secrets(), "said": said, "password": "hunter2hunter2", secrets(): 1}
        content = [{"type": "text", "text": f"{json.dumps(known)} Authorization: Bearer abcdefgh12345678"}]
        bad.send({**reply, "result": {"content": content, "structuredContent": known}})
    elif method == bad.CALL and name == "refuse":
        bad.send({**reply, "error": {"code": -32000, "message": f"no: {secrets()}", "data": secrets()}})
    elif method == bad.CALL:
        bad.raw(f"dying with {secrets()}")
        bad.leave(3, f"died of {secrets()}")(message)
    elif (healthy := bad.answer(message)) is not None:
        bad.send(healthy)


class Headers(http.server.BaseHTTPRequestHandler):
    """Answers a call with the headers that it came with."""

    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        reply = bad.answer(message)
        if message.get("method") == bad.CALL:
            values = [form for value in self.headers.values() for form in forms(value)]
            reply["result"]["content"] = [{"type": "text", "text": f"{self.headers} {values}"}]
        body = json.dumps(reply).encode() if reply else b""
        is_probe = message.get("method") == "server/discover"
        self.send_response(400 if is_probe else 200 if reply else 202)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


bad.STDIO |= {
    "tells": tells,
    "tells-and-dies": lambda message: bad.leave(3, f"died of {secrets()}")(message),
    "large-result": bad.on(bad.CALL, large),
    "no-tools": bad.result_of(bad.LIST, {"tools": []}),
    "other-tools-every-time": bad.on(bad.LIST, other_tools),
    "slow-start": slow(bad.INIT),
    "slow-call": slow(bad.CALL),
}

if __name__ == "__main__":
    if sys.argv[1] == "--http":
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Headers)
        print(f"http://127.0.0.1:{server.server_address[1]}/mcp", flush=True)
        server.serve_forever()
    bad.serve_stdio(sys.argv[1])
