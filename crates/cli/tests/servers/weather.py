"""A small MCP server on stdio (2025-06-18), with tools that behave and tools that do not."""

import json
import os
import sys
import time

SCHEMA = {
    "type": "object",
    "properties": {"degrees": {"type": "number"}, "sky": {"type": "string"}},
    "required": ["degrees", "sky"],
}
CITY = {"type": "object", "properties": {"city": {"type": "string", "description": "Where"}}, "required": ["city"]}
NONE = {"type": "object"}
TOOLS = [
    {"name": "get_weather", "description": "The weather in a city.\nNow.", "inputSchema": CITY, "outputSchema": SCHEMA},
    {"name": "lie", "description": "Breaks its own schema", "inputSchema": NONE, "outputSchema": SCHEMA},
    {"name": "bare", "description": "Has a schema and gives no structure", "inputSchema": NONE, "outputSchema": SCHEMA},
    {"name": "fail", "description": "Says that it failed", "inputSchema": NONE, "outputSchema": SCHEMA},
    {"name": "echo", "inputSchema": {"type": "object", "properties": {"n": {"type": "integer"}, "on": {"type": "boolean"}, "tags": {"type": "array", "items": {"type": "string"}}}}},
    {"name": "secret", "description": "Tells its key", "inputSchema": NONE},
    {"name": "hang", "description": "Never answers", "inputSchema": NONE},
    {"name": "die", "description": "Exits", "inputSchema": NONE},
    {"name": "ask", "description": "Asks for a name", "inputSchema": NONE},
    {"name": "picture", "description": "An image", "inputSchema": NONE},
]


def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def text(words, **more):
    return {"content": [{"type": "text", "text": words}], **more}


def call(id, name, args):
    if log := os.environ.get("CALLS"):
        with open(log, "a") as calls:
            calls.write(name + "\n")
    if name == "get_weather" and "city" not in args:
        return send({"id": id, "error": {"code": -32602, "message": "city is missing"}})
    if name == "get_weather":
        return send({"id": id, "result": text(f"21 degrees in {args['city']}", structuredContent={"degrees": 21, "sky": "clear"})})
    if name == "lie":
        return send({"id": id, "result": text("warm", structuredContent={"degrees": "warm"})})
    if name == "bare":
        return send({"id": id, "result": text("21")})
    if name == "fail":
        return send({"id": id, "result": text("no data for today", isError=True)})
    if name == "echo":
        return send({"id": id, "result": text(json.dumps(args, sort_keys=True))})
    if name == "secret":
        return send({"id": id, "result": text(f"the key is {os.environ.get('API_KEY')}")})
    if name == "hang":
        return time.sleep(60)
    if name == "die":
        sys.stderr.write("out of memory\n")
        sys.exit(3)
    if name == "picture":
        return send({"id": id, "result": {"content": [{"type": "image", "data": "aGVsbG8=", "mimeType": "image/png"}]}})
    if name == "ask":
        send({"id": "ask-1", "method": "elicitation/create", "params": {"message": "Your name?", "requestedSchema": {"type": "object", "properties": {"name": {"type": "string"}}}}})
        answer = json.loads(sys.stdin.readline())
        return send({"id": id, "result": text(json.dumps(answer["result"], sort_keys=True))})
    send({"id": id, "error": {"code": -32602, "message": f"unknown tool {name}"}})


for line in sys.stdin:
    message = json.loads(line)
    id, method, params = message.get("id"), message.get("method"), message.get("params") or {}
    if method == "initialize":
        send({"id": id, "result": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "weather", "version": "1.2.0"}}})
    elif method == "tools/list":
        send({"id": id, "result": {"tools": TOOLS}})
    elif method == "tools/call":
        call(id, params["name"], params.get("arguments") or {})
    elif id is not None and method:
        send({"id": id, "error": {"code": -32601, "message": f"unknown method {method}"}})
