"""The recorders write what the real clients sent and received."""

from __future__ import annotations

import asyncio
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import anthropic
import openai
import pytest
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from mcptest import Suite, record

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SUITE = Suite.parse("agents: [{ name: weather, golden_path: { calls: [get_weather] } }]")
QUESTION = "Will it rain in Oslo?"
TOOL = {"name": "get_weather", "parameters": {"type": "object", "properties": {}}}


def chat(request: dict[str, Any]) -> dict[str, Any]:
    """Answer as OpenAI's chat completions: a call, then a message."""
    is_done = any(message["role"] == "tool" for message in request["messages"])
    function = {"name": "get_weather", "arguments": '{"city": "Oslo"}'}
    call = {"id": "call_1", "type": "function", "function": function}
    message: dict[str, Any] = {"role": "assistant", "content": "Take an umbrella."}
    if not is_done:
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": request["model"],
        "choices": [
            {
                "index": 0,
                "finish_reason": "stop" if is_done else "tool_calls",
                "message": message,
            },
        ],
        "usage": {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12},
    }


def responses(request: dict[str, Any]) -> dict[str, Any]:
    """Answer as OpenAI's responses."""
    items = request["input"]
    is_done = any(item.get("type") == "function_call_output" for item in items)
    call = {
        "type": "function_call",
        "id": "fc_1",
        "call_id": "call_1",
        "name": "get_weather",
        "arguments": '{"city": "Oslo"}',
        "status": "completed",
    }
    text = {"type": "output_text", "text": "Take an umbrella.", "annotations": []}
    message = {
        "type": "message",
        "id": "msg_1",
        "role": "assistant",
        "status": "completed",
        "content": [text],
    }
    return {
        "id": "resp_2" if is_done else "resp_1",
        "object": "response",
        "created_at": 1,
        "model": request["model"],
        "status": "completed",
        "output": [message if is_done else call],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    }


def messages(request: dict[str, Any]) -> dict[str, Any]:
    """Answer as Anthropic's messages."""
    is_done = len(request["messages"]) > 1
    call = {"type": "tool_use", "id": "toolu_1", "name": "get_weather", "input": {"city": "Oslo"}}
    text = {"type": "text", "text": "Take an umbrella."}
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": request["model"],
        "content": [text if is_done else call],
        "stop_reason": "end_turn" if is_done else "tool_use",
        "stop_sequence": None,
        "usage": {"input_tokens": 9, "output_tokens": 3},
    }


ANSWERS = {"/v1/chat/completions": chat, "/v1/responses": responses, "/v1/messages": messages}


class Provider(BaseHTTPRequestHandler):
    """Answers as the providers do, on this machine."""

    def do_POST(self) -> None:
        """Answer a request."""
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        body = json.dumps(ANSWERS[self.path](request)).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@pytest.fixture
def address() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


def check(path: Path) -> None:
    """Hold the recorded run against the suite: one conversation with one call and its result."""
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert len(lines) == 2
    document = json.dumps(lines)
    SUITE.check([document])
    rows = SUITE.judge([document])
    assert [row["status"] for row in rows if row["kind"] == "verdict"] == ["passed"]
    assert "secret-key" not in path.read_text()


def test_chat_completions_of_openai(address: str, tmp_path: Path) -> None:
    path = tmp_path / "runs" / "chat.jsonl"
    with record.to(path) as recorder:
        client = recorder.openai(openai.OpenAI(base_url=f"{address}/v1", api_key="secret-key"))
        said: list[Any] = [{"role": "user", "content": QUESTION}]
        tools: list[Any] = [{"type": "function", "function": TOOL}]
        first = client.chat.completions.create(model="gpt-5", messages=said, tools=tools)
        said.append(first.choices[0].message.model_dump(exclude_none=True))
        said.append({"role": "tool", "tool_call_id": "call_1", "content": "rain"})
        last = client.chat.completions.create(model="gpt-5", messages=said, tools=tools)
    assert last.choices[0].message.content == "Take an umbrella."
    check(path)
    assert "create" not in vars(client.chat.completions)


def test_responses_of_openai(address: str, tmp_path: Path) -> None:
    path = tmp_path / "responses.jsonl"
    with record.to(path) as recorder:
        client = recorder.openai(openai.OpenAI(base_url=f"{address}/v1", api_key="secret-key"))
        said: list[Any] = [{"role": "user", "content": QUESTION}]
        first = client.responses.create(model="gpt-5", input=said)
        said += [item.model_dump(exclude_none=True) for item in first.output]
        said.append({"type": "function_call_output", "call_id": "call_1", "output": "rain"})
        client.responses.create(model="gpt-5", input=said)
    check(path)


def test_an_async_client_of_openai(address: str, tmp_path: Path) -> None:
    path = tmp_path / "async.jsonl"

    async def run() -> None:
        with record.to(path) as recorder:
            client = recorder.openai(
                openai.AsyncOpenAI(base_url=f"{address}/v1", api_key="secret-key"),
            )
            said: list[Any] = [{"role": "user", "content": QUESTION}]
            first = await client.chat.completions.create(model="gpt-5", messages=said)
            said.append(first.choices[0].message.model_dump(exclude_none=True))
            said.append({"role": "tool", "tool_call_id": "call_1", "content": "rain"})
            await client.chat.completions.create(model="gpt-5", messages=said)

    asyncio.run(run())
    check(path)


def test_messages_of_anthropic(address: str, tmp_path: Path) -> None:
    path = tmp_path / "messages.jsonl"
    with record.to(path) as recorder:
        client = recorder.anthropic(anthropic.Anthropic(base_url=address, api_key="secret-key"))
        said: list[Any] = [{"role": "user", "content": QUESTION}]
        first = client.messages.create(model="claude-sonnet-4-5", max_tokens=99, messages=said)
        result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "rain"}
        said.append({"role": "assistant", "content": first.content})
        said.append({"role": "user", "content": [result]})
        client.messages.create(model="claude-sonnet-4-5", max_tokens=99, messages=said)
    check(path)


def test_chat_models_of_langchain(address: str, tmp_path: Path) -> None:
    path = tmp_path / "langchain.jsonl"
    with record.to(path) as recorder:
        model = ChatOpenAI(
            model="gpt-5",
            base_url=f"{address}/v1",
            api_key=SecretStr("secret-key"),
        )
        options: Any = {"callbacks": [recorder.langchain()]}
        said: list[Any] = [HumanMessage(QUESTION)]
        said.append(model.invoke(said, options))
        said.append(ToolMessage("rain", tool_call_id="call_1"))
        model.invoke(said, options)
    check(path)


def test_a_stream_is_refused_before_it_is_sent(address: str, tmp_path: Path) -> None:
    with record.to(tmp_path / "stream.jsonl") as recorder:
        client = recorder.openai(openai.OpenAI(base_url=f"{address}/v1", api_key="secret-key"))
        with pytest.raises(NotImplementedError, match="cannot record this stream"):
            client.chat.completions.create(model="gpt-5", messages=[], stream=True)


@pytest.mark.parametrize("helper", ["parse", "stream"])
def test_helpers_that_do_not_create_are_refused(address: str, tmp_path: Path, helper: str) -> None:
    with record.to(tmp_path / "helper.jsonl") as recorder:
        client = recorder.openai(openai.OpenAI(base_url=address, api_key="none"))
        with pytest.raises(NotImplementedError, match=rf"cannot record `{helper}\(\)`"):
            getattr(client.chat.completions, helper)(model="gpt-5", messages=[])


def test_a_recording_is_not_overwritten(tmp_path: Path) -> None:
    record.to(tmp_path / "run.jsonl").close()
    with pytest.raises(FileExistsError):
        record.to(tmp_path / "run.jsonl")
