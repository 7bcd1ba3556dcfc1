"""Record the chat models of LangChain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.load import dumpd

if TYPE_CHECKING:
    from collections.abc import Callable
    from uuid import UUID

    from langchain_core.messages import BaseMessage
    from langchain_core.outputs import LLMResult


class LangChainRecorder(BaseCallbackHandler):
    """Writes each answer of a chat model, in the form in which LangSmith exports runs."""

    def __init__(self, write: Callable[[dict[str, Any]], None], run: str) -> None:
        """Write lines with this function, as parts of this run."""
        self._write = write
        self._run = run
        self._begun: dict[UUID, dict[str, Any]] = {}
        self._count = 0

    def on_chat_model_start(
        self,
        serialized: dict[str, Any],
        messages: list[list[BaseMessage]],
        *,
        run_id: UUID,
        **context: Any,
    ) -> None:
        """Keep the messages until the model answers."""
        self._count += 1
        self._begun[run_id] = {
            "id": str(run_id),
            "trace_id": self._run,
            "run_type": "llm",
            "name": (serialized.get("id") or ["chat model"])[-1],
            "dotted_order": f"{self._run}.{self._count:08}",
            "extra": {"invocation_params": context.get("invocation_params") or {}},
            "inputs": {"messages": [[dumpd(message) for message in one] for one in messages]},
        }

    def on_llm_end(self, response: LLMResult, *, run_id: UUID, **_: Any) -> None:
        """Write the request with its answer."""
        begun = self._begun.pop(run_id, None)
        if begun is not None:
            self._write(begun | {"outputs": {"generations": _generations(response)}})

    def on_llm_error(self, error: BaseException, *, run_id: UUID, **_: Any) -> None:
        """Write the request with its error."""
        begun = self._begun.pop(run_id, None)
        if begun is not None:
            self._write(begun | {"error": repr(error)})


def _generations(response: LLMResult) -> list[list[dict[str, Any]]]:
    return [
        [
            {
                "text": generation.text,
                "generation_info": generation.generation_info,
                "message": dumpd(generation.message),
            }
            for generation in generations
            if hasattr(generation, "message")
        ]
        for generations in response.generations
    ]
