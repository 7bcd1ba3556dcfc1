"""Write the conversations of a model client as a trace.

    from mcptest import record

    with record.to("runs/checkout.jsonl") as recorder:
        client = recorder.openai(OpenAI())
        run_my_agent(client)

The file has a line for each request with its response, which `mcptest run --traces`,
`mcptest import` and `Suite.judge` read. A file is one run: begin a new one for each run. The
recorder writes each line when its response is complete, so that a run that crashes keeps its lines.
"""

from __future__ import annotations

import functools
import inspect
import json
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from os import PathLike
    from types import TracebackType

    from langchain_core.callbacks import BaseCallbackHandler

Client = TypeVar("Client")

STREAMED = "the recorder cannot record this stream; call the client without `stream=True`"

# Helpers of the clients that send requests without `create`, so that the file would lack them.
HELPERS = ("parse", "stream")


def to(path: str | PathLike[str]) -> Recorder:
    """Return a recorder that writes a run to a new file."""
    return Recorder(path)


class Recorder:
    """Writes the conversations of clients to a file, until it is closed."""

    def __init__(self, path: str | PathLike[str]) -> None:
        """Create the file and its folder. A file that exists is a `FileExistsError`."""
        self.path = Path(path)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._file = self.path.open("x", encoding="utf-8")
        self._lock = threading.Lock()
        self._unwrap: list[Callable[[], None]] = []

    def __enter__(self) -> Recorder:
        """Record until the block ends."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the file, and leave the clients as they were."""
        self.close()

    def close(self) -> None:
        """Close the file, and leave the clients as they were."""
        while self._unwrap:
            self._unwrap.pop()()
        self._file.close()

    def write(self, record: dict[str, Any]) -> None:
        """Write a line."""
        line = json.dumps(record, ensure_ascii=False, default=_plain)
        with self._lock:
            self._file.write(line + "\n")
            self._file.flush()

    def openai(self, client: Client) -> Client:
        """Record the chat completions and responses of a client of OpenAI, sync or async."""
        resources: Any = client
        self._wrap(resources.chat.completions)
        self._wrap(resources.responses)
        return client

    def anthropic(self, client: Client) -> Client:
        """Record the messages of a client of Anthropic, sync or async."""
        resources: Any = client
        self._wrap(resources.messages)
        return client

    def langchain(self) -> BaseCallbackHandler:
        """Return a callback that records chat models of LangChain.

        Pass it with the run: `agent.invoke(input, config={"callbacks": [recorder.langchain()]})`.
        """
        from mcptest.record_langchain import LangChainRecorder

        return LangChainRecorder(self.write, self.path.stem)

    def _wrap(self, resource: Any) -> None:
        """Record what the method `create` of a resource sends and receives."""
        create = resource.create

        @functools.wraps(create)
        def recorded(*arguments: Any, **request: Any) -> Any:
            if request.get("stream"):
                raise NotImplementedError(STREAMED)
            response = create(*arguments, **request)
            if inspect.isawaitable(response):
                return self._when_ready(request, response)
            self.write({"request": _sent(request), "response": _plain(response)})
            return response

        self._replace(resource, "create", recorded)
        for helper in HELPERS:
            if hasattr(resource, helper):
                self._replace(resource, helper, functools.partial(_refused, helper))

    def _replace(self, resource: Any, method: str, replacement: Callable[..., Any]) -> None:
        setattr(resource, method, replacement)
        self._unwrap.append(functools.partial(delattr, resource, method))

    async def _when_ready(self, request: dict[str, Any], response: Any) -> Any:
        ready = await response
        self.write({"request": _sent(request), "response": _plain(ready)})
        return ready


def _refused(helper: str, *_arguments: Any, **_request: Any) -> Any:
    """Refuse a call that the file would lack."""
    message = f"the recorder cannot record `{helper}()`; call `create()`"
    raise NotImplementedError(message)


def _sent(request: dict[str, Any]) -> dict[str, Any]:
    """Return the parts of a request that reach the model, without headers and time limits."""
    local = {"extra_headers", "extra_query", "timeout"}
    sent = {key: value for key, value in request.items() if key not in local}
    sent |= sent.pop("extra_body", None) or {}
    return {key: value for key, value in sent.items() if not _is_omitted(value)}


def _is_omitted(value: object) -> bool:
    """Return true for the marks of clients for arguments that are not given."""
    return type(value).__name__ in {"NotGiven", "Omit"}


def _plain(value: Any) -> Any:
    """Return an object of a client as JSON values."""
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json", exclude_none=True)
    if isinstance(value, dict):
        return dict(value)
    if hasattr(value, "__iter__"):
        items: Iterator[Any] = iter(value)
        return list(items)
    return str(value)
