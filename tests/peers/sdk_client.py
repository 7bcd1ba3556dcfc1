"""The official Python SDK as a client of tests/conformance/everything.yml: what it saw, as JSON on standard output.

    sdk_client.py legacy|auto|2026-07-28 URL
    sdk_client.py legacy|auto|2026-07-28 COMMAND ARGUMENT...
"""

import json
import sys

import anyio
import mcp_types as types
from mcp import Client, MCPError, StdioServerParameters


async def elicited(_context, params):
    fields = params.requested_schema["properties"]
    value = {"string": "Ada", "integer": 36, "number": 1.5, "boolean": True, "array": []}
    return types.ElicitResult(action="accept", content={name: value[field["type"]] for name, field in fields.items()})


async def sampled(_context, _params):
    text = types.TextContent(type="text", text="Paris")
    return types.CreateMessageResult(role="assistant", content=text, model="test", stop_reason="endTurn")


async def listed_roots(_context):
    return types.ListRootsResult(roots=[types.Root(uri="file:///home/ada", name="home")])


def plain(block):
    return block.model_dump(mode="json", exclude_none=True, by_alias=True)


async def refusal(work):
    try:
        await work
    except MCPError as error:
        return error.error.code
    return None


async def tools(client, saw):
    listed = (await client.list_tools()).tools
    saw["tools"] = [tool.name for tool in listed]

    async def call(name, arguments=None, **more):
        return await client.call_tool(name, arguments or {}, **more)

    saw["text"] = [plain(block) for block in (await call("test_simple_text")).content]
    saw["kinds"] = [block.type for block in (await call("test_multiple_content_types")).content]
    saw["is_error"] = (await call("test_error_handling")).is_error
    progress = []

    async def on_progress(done, total, _message):
        progress.append([done, total])

    await call("test_tool_with_progress", progress_callback=on_progress)
    saw["progress"] = progress
    saw["sampling"] = (await call("test_sampling", {"prompt": "The capital of France?"})).content[0].text
    saw["elicitation"] = (await call("test_elicitation", {"message": "Who?"})).content[0].text
    saw["rounds"] = (await call("test_input_required_result_multi_round")).content[0].text
    saw["unknown_tool"] = await refusal(call("nothing_like_it"))
    saw["bad_arguments"] = await refusal(call("test_sampling", {"prompt": 7}))


async def the_rest(client, saw):
    saw["resources"] = [str(resource.uri) for resource in (await client.list_resources()).resources]
    saw["read"] = (await client.read_resource("test://template/123/data")).contents[0].text
    saw["unknown_resource"] = await refusal(client.read_resource("test://nowhere"))
    saw["prompts"] = [prompt.name for prompt in (await client.list_prompts()).prompts]
    prompt = await client.get_prompt("test_prompt_with_arguments", {"arg1": "one", "arg2": "two"})
    saw["prompt"] = [plain(message.content) for message in prompt.messages]


async def listened(client, saw):
    with anyio.fail_after(10):
        async with client.listen(tools_list_changed=True) as subscription:
            await client.call_tool("test_trigger_tool_change", {})
            async for event in subscription:
                saw["event"] = type(event).__name__
                return


async def main(mode, words):
    is_url = words[0].startswith("http://")
    server = words[0] if is_url else StdioServerParameters(command=words[0], args=words[1:])
    callbacks = {
        "elicitation_callback": elicited,
        "sampling_callback": sampled,
        "list_roots_callback": listed_roots,
    }
    async with Client(server, mode=mode, read_timeout_seconds=20, **callbacks) as client:
        saw = {"version": client.protocol_version, "server": client.server_info.name if client.server_info else None}
        await tools(client, saw)
        await the_rest(client, saw)
        if client.protocol_version >= "2026-07-28":
            await listened(client, saw)
    print(json.dumps(saw))


anyio.run(main, sys.argv[1], sys.argv[2:])
