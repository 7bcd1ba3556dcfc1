"""An agent on the official Python SDK (`pip install mcp`), with a few rules where yours has a model.

It gets the prompt on standard input and its servers in the file that MCPTEST_MCP_CONFIG names, and prints its answer.
"""

import asyncio
import json
import os
import re
import sys
from contextlib import AsyncExitStack

from mcp import Client, MCPError, StdioServerParameters


def transport(entry):
    if "url" in entry:
        return entry["url"]
    return StdioServerParameters(command=entry["command"], args=entry["args"], env=entry["env"])


async def call(client, tool, arguments):
    """Calls a tool, and once more when the call itself fails."""
    for attempt in (1, 2):
        try:
            result = await client.call_tool(tool, arguments)
        except MCPError as error:
            print(f"{tool}, attempt {attempt}: {error}", file=sys.stderr)
            continue
        text = " ".join(block.text for block in result.content if block.type == "text")
        return text, not result.is_error
    return "the library does not answer", False


async def lend(title, reader, servers):
    async with AsyncExitStack() as stack:
        owners = {}
        for entry in servers.values():
            client = await stack.enter_async_context(Client(transport(entry)))
            for tool in (await client.list_tools()).tools:
                owners.setdefault(tool.name, client)
        found, is_there = await call(owners["find_book"], "find_book", {"title": title})
        if not is_there:
            return f"Sorry: {found}."
        lent, _ = await call(owners["lend_book"], "lend_book", {"title": title, "reader": reader})
        return f"Done: {lent}."


prompt = sys.stdin.read()
title, reader = re.search(r"Lend (.+) to (\w+)", prompt).groups()
with open(os.environ["MCPTEST_MCP_CONFIG"]) as file:
    servers = json.load(file)["mcpServers"]
print(asyncio.run(lend(title, reader, servers)))
with open(os.environ["MCPTEST_USAGE"], "w") as file:
    json.dump({"prompt_tokens": 210, "completion_tokens": 35, "cost_usd": 0.0004, "model": "rules-1"}, file)
