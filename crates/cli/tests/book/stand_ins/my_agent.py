"""An agent that buys an order. BROKEN says how it misbehaves."""
import json
import os
import sys
import urllib.request

BROKEN = ""
URL = os.environ["MCPTEST_SERVER_SHOP_URL"]


def call(tool):
    """One call, as from a shell: one plain request."""
    params = {"name": tool, "arguments": {"order": "A-17"}}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode()
    with urllib.request.urlopen(urllib.request.Request(URL, body)) as response:
        answer = json.load(response)
    return "result" in answer and not answer["result"].get("isError")


sys.stdin.read()
if BROKEN == "crashes":
    raise KeyError("order")
if BROKEN != "skips a step":
    call("find_order")
if BROKEN == "confirms first":
    call("confirm")
if BROKEN != "never charges":
    is_charged = call("charge")
    if not is_charged and BROKEN != "gives up":
        call("charge")
if BROKEN == "charges twice":
    call("charge")
if BROKEN == "refunds":
    call("refund")
if BROKEN != "confirms first":
    call("confirm")
print("I charged order A-17 and confirmed it.")
