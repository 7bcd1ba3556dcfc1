"""A server on stdio that takes everything and tells everything: a defect for each probe that a row of server.py lacks.

The calls of its tools are noted in the file named by CARELESS_CALLS.
"""

import json
import os
import sys
import traceback

READS = {"readOnlyHint": True}
TEXT = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
TOOLS = [
    {"name": "read", "inputSchema": TEXT, "annotations": READS},
    {"name": "write it, please", "inputSchema": {"type": "object"}},
    {"name": "odd", "inputSchema": {"type": "array"}, "outputSchema": {"type": 7}},
]


def send(ident, **answer):
    print(json.dumps({"jsonrpc": "2.0", "id": ident, **answer}), flush=True)


def call(params):
    name, arguments = params.get("name"), params.get("arguments", {})
    with open(os.environ.get("CARELESS_CALLS", os.devnull), "a") as calls:
        calls.write(f"{name}\n")
    path = arguments.get("path")
    if isinstance(path, str) and (len(path) > 1000 or "\0" in path):
        os._exit(1)
    if path == "text":
        try:
            raise ValueError(f"with {dict(os.environ)}")
        except ValueError:
            return {"content": [{"type": "text", "text": traceback.format_exc()}], "isError": True}
    try:
        with open(path) as file:
            return {"content": [{"type": "text", "text": file.read()}]}
    except (OSError, TypeError):
        return {"content": [{"type": "text", "text": "nothing"}]}


for line in sys.stdin:
    message = json.loads(line)
    method, ident = message.get("method"), message.get("id")
    if isinstance(ident, str) and method == "ping":
        continue
    if method == "initialize":
        version = message["params"]["protocolVersion"]
        send(ident, result={"protocolVersion": version, "capabilities": {}, "serverInfo": {"name": "careless"}})
    elif method == "tools/list":
        send(ident, result={"tools": TOOLS})
    elif method == "tools/call":
        send(ident, result=call(message["params"]))
    elif method == "ping":
        send(ident, error={"code": -32601, "message": "no ping"})
    elif method == "server/discover":
        send(ident, error={"code": -32601, "message": "no"})
    elif method != "notifications/initialized":
        send(ident, result={})
