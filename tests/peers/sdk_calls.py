"""The official Python SDK calls tools of a server on stdio: what it saw, as JSON on standard output.

    sdk_calls.py legacy|auto|2026-07-28 CALLS COMMAND ARGUMENT...

CALLS is a JSON list of [tool, arguments].
"""

import json
import sys

import anyio
from mcp import Client, StdioServerParameters


async def main(mode, calls, words):
    server = StdioServerParameters(command=words[0], args=words[1:])
    async with Client(server, mode=mode, read_timeout_seconds=20) as client:
        saw = {"version": client.protocol_version, "tools": [tool.name for tool in (await client.list_tools()).tools]}
        saw["results"] = []
        for tool, arguments in calls:
            result = await client.call_tool(tool, arguments)
            data = {"text": result.content[0].text, "data": result.structured_content, "is_error": result.is_error}
            saw["results"].append(data)
    print(json.dumps(saw))


anyio.run(main, sys.argv[1], json.loads(sys.argv[2]), sys.argv[3:])
