"""Write the traces that every engine judges: native traces, chats and broken lines."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

ALONE = """
agents:
  - name: checkout
    golden_path: { calls: [find_order, charge] }
    tool_edges: { allowed: [find_order, charge], restricted: [delete_order] }
    narrative: {}
    expect:
      - { target: final_response, matcher: { contains: charged } }
  - name: never deletes
    tool_edges: { restricted: [delete_order] }
"""
"""A suite that judges each trace alone."""

GROUPED = """
agents:
  - name: checkout
    golden_path: { calls: [find_order, charge] }
    reliability:
      expect:
        - { target: reliability.pass_rate, matcher: { gte: 0.5 } }
    stability: {}
"""
"""A suite with gates that compare the runs of a group."""

PLANS = (
    ("find_order", "charge"),
    ("find_order", "charge", "charge"),
    ("charge",),
    ("find_order", "delete_order"),
)
RUNS_OF_A_GROUP = 5


def rows(count: int) -> Iterator[dict[str, Any]]:
    """Give each trace as a row with `id`, `group` and `trace`, a JSON text."""
    chance = random.Random(7)
    for number in range(count):
        plan = chance.choice(PLANS)
        order = f"A-{number}"
        if number % 97 == 96:
            text = '{"tool_calls": [{"na'
        elif number % 3 == 2:
            text = json.dumps(openai_chat(plan, order))
        else:
            text = json.dumps(native(plan, order))
        yield {
            "id": f"t{number:07}",
            "group": f"g{number // RUNS_OF_A_GROUP:06}",
            "trace": text,
        }


def native(plan: tuple[str, ...], order: str) -> dict[str, Any]:
    """Return a run as a trace of mcptest."""
    return {
        "tool_calls": [{"name": name, "args": {"number": order}} for name in plan],
        "tool_results": [
            {"is_error": False, "content": [{"type": "text", "text": "done"}]} for _ in plan
        ],
        "final_response": f"I charged order {order} – thank you.",
    }


def openai_chat(plan: tuple[str, ...], order: str) -> dict[str, Any]:
    """Return a run as a conversation with OpenAI's API."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": f"Buy what is in order {order}."}]
    for index, name in enumerate(plan):
        arguments = json.dumps({"number": order})
        call = {
            "id": f"{order}-{index}",
            "type": "function",
            "function": {"name": name, "arguments": arguments},
        }
        messages.append({"role": "assistant", "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": "done"})
    messages.append({"role": "assistant", "content": f"I charged order {order}."})
    return {"messages": messages}
