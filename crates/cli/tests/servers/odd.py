"""A server of odd tools: `odd.py KIND [WORD…]`, where KIND says which."""

import json
import os
import sys

READ_ONLY = {"readOnlyHint": True}


def tool(name, schema=None, **more):
    return {"name": name, "inputSchema": schema or {"type": "object"}, "annotations": READ_ONLY, **more}


def needs(name, **property):
    return {"type": "object", "required": [name], "properties": {name: property}}


CITY = {"type": "object", "required": ["name"], "properties": {"name": {"enum": ["Ålesund", "Oslo"]}}}
TOOLS = {
    "names": [
        tool("plain"),
        tool("with space", description="It has\n# a comment: in its description"),
        tool("héllo.wörld: 天気 😀"),
        tool("line\nbreak\u202e"),
        tool("${HOME}"),
        tool("${open"),
        tool("true"),
        tool(" "),
    ],
    "schemas": [
        tool("ref", {"type": "object", "required": ["city"], "properties": {"city": {"$ref": "#/$defs/city"}}, "$defs": {"city": CITY}}),
        tool("endless", {"type": "object", "required": ["a"], "properties": {"a": {"$ref": "#"}}}),
        tool("pattern", needs("id", type="string", pattern="^[0-9]{9}$")),
        tool("broken", needs("x", type="nonsense")),
        tool("dollar", needs("q", type="string", default="costs ${PRICE} or $${X}")),
    ],
    "answers": [
        tool("random"),
        tool("liar", outputSchema={"type": "object", "required": ["a"]}),
        tool("nothing"),
        tool("refuses"),
        tool("fails"),
        tool("crash"),
        tool("tell_all"),
    ],
    "many": [tool(f"tool_{number}", description="long " * 100) for number in range(200)],
    "none": [],
    "helpful": [
        tool("status", needs("repo_path", type="string")),
        tool("clock", needs("timezone", type="string")),
        tool("branches", needs("branch_type", type="string", description="Whether to list local ('local'), remote ('remote') or all branches('all').")),
        tool("soft", needs("id", type="string")),
        {"name": "order", "inputSchema": {"type": "object", "required": ["book", "copies"], "properties": {"book": {"type": "string"}, "copies": {"type": "integer"}, "gift": {"type": "boolean"}}}},
    ],
    "writer": [{"name": "write", "inputSchema": {"type": "object"}}],
    # It answers a call to any tool.
    "obliging": [{"name": "write", "inputSchema": {"type": "object"}}],
}[sys.argv[1]]


def result(name, arguments):
    text = f"called {name} with {json.dumps(arguments, ensure_ascii=False)}"
    if name == "random":
        text = os.urandom(8).hex()
    if name == "tell_all":
        text = " ".join([*sys.argv[2:], os.environ.get("MY_KEY", "")])
    if name == "fails":
        return {"isError": True, "content": [{"type": "text", "text": "not like this\nat all"}]}
    if name == "soft":
        text = f"Error: there is no {arguments['id']}"
    if name == "nothing":
        return {"content": []}
    return {"content": [{"type": "text", "text": text}], **({"structuredContent": {"b": 1}} if name == "liar" else {})}


def answer(method, params):
    if method == "initialize":
        info = {"name": "Odd Server", "version": "1"}
        return {"result": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": info}}
    if method == "tools/list":
        return {"result": {"tools": TOOLS}}
    if method == "tools/call" and params["name"] == "crash":
        sys.exit(9)
    if method == "tools/call" and sys.argv[1] == "obliging":
        return {"result": result("any", {})}
    if method == "tools/call" and params["name"] != "refuses" and params["name"] in [one["name"] for one in TOOLS]:
        return {"result": result(params["name"], params.get("arguments"))}
    return {"error": {"code": -32602, "message": "there is no such thing"}}


for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        reply = answer(message["method"], message.get("params"))
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **reply}), flush=True)
