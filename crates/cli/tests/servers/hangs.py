"""An MCP server on stdio that hangs at a stage: `hangs.py STAGE`.

STAGE is `start` (answers nothing), `list`, `call` (hangs there), `flood` (sends notifications without end in place of
the answer to a call), `late-list` (takes a while to list its tools), `end` (answers, and ignores the end of its input and SIGTERM) or `offline` (has 30 tools, each of
which fails after a while).
"""

import json
import signal
import sys
import time

stage = sys.argv[1]


def send(message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def hang():
    time.sleep(600)


if stage == "end":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
for line in sys.stdin:
    message = json.loads(line)
    if stage == "start":
        hang()
    if "id" not in message:
        continue
    method = message["method"]
    if method == "initialize":
        result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "hangs", "version": "1"}}
    elif method == "tools/list":
        if stage == "list":
            hang()
        if stage == "late-list":
            time.sleep(6)
        tools = [f"wait{number}" for number in range(30)] if stage == "offline" else ["wait"]
        read_only = {"inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}}
        result = {"tools": [{"name": name, **read_only} for name in tools]}
    elif method == "tools/call":
        if stage == "call":
            hang()
        while stage == "flood":
            send({"method": "notifications/message", "params": {"level": "info", "data": "again"}})
        if stage == "offline":
            time.sleep(0.6)
        result = {"content": [], "isError": stage == "offline"}
    else:
        send({"id": message["id"], "error": {"code": -32601, "message": "Method not found"}})
        continue
    send({"id": message["id"], "result": result})
if stage == "end":
    hang()
