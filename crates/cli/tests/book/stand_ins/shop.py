"""Stands in for shop-server.js: orders can be found, charged, confirmed and refunded."""
import json
import sys

ORDER = {"type": "object", "required": ["order"], "properties": {"order": {"type": "string"}}}
TOOLS = [{"name": name, "inputSchema": ORDER} for name in ["find_order", "charge", "confirm", "refund"]]


def answer(method, params):
    if method == "initialize":
        info = {"name": "shop", "version": "1"}
        return {"result": {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": info}}
    if method == "tools/list":
        return {"result": {"tools": TOOLS}}
    if method == "tools/call":
        text = f"{params['name']}: order {params['arguments']['order']}"
        return {"result": {"content": [{"type": "text", "text": text}]}}
    return {"error": {"code": -32601, "message": "there is no such method"}}


for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        reply = answer(message["method"], message.get("params"))
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **reply}), flush=True)
