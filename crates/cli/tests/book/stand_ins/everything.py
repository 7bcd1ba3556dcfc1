"""Stands in for @modelcontextprotocol/server-everything, without the network. BROKEN says how it misbehaves."""
import json
import sys

BROKEN = ""
NUMBERS = {"type": "object", "required": ["a", "b"], "properties": {"a": {"type": "number"}, "b": {"type": "number"}}}
TEXT = {"type": "object", "required": ["message"], "properties": {"message": {"type": "string"}}}
READ_ONLY = {"readOnlyHint": True, "openWorldHint": False}
TOOLS = [
    {"name": "echo", "description": "Echoes a message.", "inputSchema": TEXT, "annotations": READ_ONLY},
    {"name": "get-sum", "description": "Adds two numbers.", "inputSchema": NUMBERS, "annotations": READ_ONLY},
]


def call(name, arguments):
    if BROKEN == "fails":
        return {"content": [{"type": "text", "text": "out of memory"}], "isError": True}
    if name == "echo":
        text = f"Echo: {arguments['message']}"
    else:
        wrong = 10 if BROKEN == "adds wrongly" else 0
        text = f"The sum of {arguments['a']} and {arguments['b']} is {arguments['a'] + arguments['b'] + wrong}."
    return {"content": [{"type": "text", "text": text}]}


def answer(method, params):
    if method == "initialize":
        info = {"name": "mcp-servers/everything", "version": "1"}
        return {"result": {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": info}}
    if method == "tools/list":
        return {"result": {"tools": TOOLS}}
    if method == "tools/call" and params["name"] in [tool["name"] for tool in TOOLS]:
        return {"result": call(params["name"], params["arguments"])}
    return {"error": {"code": -32602, "message": "there is no such thing"}}


for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        reply = answer(message["method"], message.get("params"))
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **reply}), flush=True)
