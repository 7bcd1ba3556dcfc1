"""An MCP server on stdio that is slow to start: `slow.py ERA SECONDS`. It counts its starts in the file STARTS.

ERA is `legacy` (refuses what it does not know), `silent` (legacy, and passes over what it does not know) or `modern`.
"""

import json
import os
import sys
import time

era = sys.argv[1]
if log := os.environ.get("STARTS"):
    with open(log, "a") as starts:
        starts.write(era + "\n")
time.sleep(float(sys.argv[2]))


def send(message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def note(method, params):
    send({"method": method, "params": params})


count = 0


def call(message):
    global count
    params = message["params"]
    if params["name"] == "die":
        sys.stderr.write("out of memory\n")
        sys.exit(3)
    count += 1
    if params["name"] == "work":
        token = params["_meta"]["progressToken"]
        for step in (1, 2):
            note("notifications/progress", {"progressToken": token, "progress": step, "total": 2, "message": f"step {step}"})
        note("notifications/message", {"level": "warning", "logger": "work", "data": {"left": 0}})
    if params["name"] == "mumble":
        note("notifications/message", {"message": "data is missing"})
        send({"method": "notifications/message"})
    return {"content": [{"type": "text", "text": f"call {count}"}]}


TOOLS = [{"name": name, "inputSchema": {"type": "object"}} for name in ("count", "die", "work", "mumble")]
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    method = message["method"]
    if method == "server/discover" and era == "modern":
        result = {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}, "logging": {}}}
    elif method == "initialize" and era != "modern":
        result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}, "logging": {}}, "serverInfo": {"name": "slow", "version": "1"}}
    elif method == "tools/list":
        result = {"tools": TOOLS, "ttlMs": 0, "cacheScope": "private"}
    elif method == "tools/call":
        result = call(message)
    elif method == "logging/setLevel":
        result = {}
    elif era == "silent":
        continue
    else:
        send({"id": message["id"], "error": {"code": -32601, "message": "Method not found"}})
        continue
    send({"id": message["id"], "result": {"resultType": "complete", **result}})
