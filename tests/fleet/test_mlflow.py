"""MLflow scores its traces and outputs with a suite."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import mlflow
import pandas as pd
import pytest

import mcptest.mlflow
from mcptest import Suite

if TYPE_CHECKING:
    from pathlib import Path

    from mlflow.entities import Feedback

SUITE = Suite.parse(
    """
agents:
  - name: checkout
    golden_path: { calls: [find_order, charge] }
  - name: never deletes
    tool_edges: { restricted: [delete_order] }
""",
)


@pytest.fixture(autouse=True)
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # The package mlflow-skinny has no database.
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow.set_tracking_uri(tmp_path.as_uri())
    mlflow.set_experiment("mcptest")


def outcomes(feedbacks: list[Feedback]) -> list[tuple[str, Any]]:
    return [(feedback.name, feedback.value) for feedback in feedbacks]


def buy(tools: list[str]) -> str:
    """Run an agent that MLflow traces."""
    with mlflow.start_span("agent", span_type="AGENT") as agent:
        for tool in tools:
            with mlflow.start_span(tool, span_type="TOOL") as span:
                span.set_inputs({"number": "A-17"})
                span.set_outputs("done")
        agent.set_outputs("I charged A-17.")
        return agent.trace_id


def test_the_tool_spans_of_a_trace() -> None:
    scorer = mcptest.mlflow.scorer(SUITE)
    good = mlflow.get_trace(buy(["find_order", "charge"]), flush=True)
    assert outcomes(scorer(trace=good)) == [("checkout", True), ("never deletes", True)]
    deleted = mlflow.get_trace(buy(["find_order", "delete_order"]), flush=True)
    bad = scorer(trace=deleted)
    assert outcomes(bad) == [("checkout", True), ("never deletes", False)]
    assert "delete_order" in bad[1].rationale


def test_the_outputs_of_an_application() -> None:
    scorer = mcptest.mlflow.scorer(SUITE, source="outputs")
    outputs = {"tool_calls": [{"name": "charge"}, {"name": "charge"}]}
    assert outcomes(scorer(outputs=outputs)) == [("checkout", False), ("never deletes", True)]
    (unreadable,) = scorer(outputs={"mood": 1})
    assert "this is not a trace" in unreadable.error.error_message


def test_an_evaluation() -> None:
    outputs = {"tool_calls": [{"name": "find_order"}, {"name": "charge"}]}
    data = pd.DataFrame([{"inputs": {"order": "A-17"}, "outputs": outputs}])
    scorer = mcptest.mlflow.scorer(SUITE, source="outputs")
    result = mlflow.genai.evaluate(data=data, scorers=[scorer])
    assert result.metrics["checkout/mean"] == 1.0


def test_a_suite_that_needs_groups_is_refused() -> None:
    with pytest.raises(ValueError, match="one trace at a time"):
        mcptest.mlflow.scorer(Suite.parse("agents: [{ name: a, stability: {} }]"))
