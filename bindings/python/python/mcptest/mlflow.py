"""Judge the outputs and traces of MLflow.

import mcptest.mlflow

mlflow.genai.evaluate(data=mlflow.search_traces(), scorers=[mcptest.mlflow.scorer("gates.yml")])
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from mcptest.suite import Suite

if TYPE_CHECKING:
    from os import PathLike

    from mlflow.entities import Feedback, Span, Trace
    from mlflow.genai.scorers import Scorer


def scorer(
    suite: Suite | str | PathLike[str],
    source: Literal["trace", "outputs"] = "trace",
    *,
    name: str = "mcptest",
) -> Scorer:
    """Return a scorer with a feedback for each agent of the suite, and the reason of a failure.

    With the source `trace`, it judges the spans of kind TOOL in the MLflow trace. With `outputs`,
    it judges the outputs, which are a trace of mcptest or a transcript that `mcptest import` reads.
    """
    from mlflow.genai.scorers import scorer as mlflow_scorer

    loaded = Suite.of(suite)
    if loaded.needs_groups:
        raise ValueError(f"MLflow scores one trace at a time: {loaded.needs_groups[0]}")

    if source == "outputs":

        def judge_outputs(outputs: Any) -> list[Feedback]:
            return _feedbacks(loaded, outputs)

        return mlflow_scorer(judge_outputs, name=name)

    def judge_trace(trace: Trace) -> list[Feedback]:
        return _feedbacks(loaded, from_mlflow(trace))

    return mlflow_scorer(judge_trace, name=name)


def from_mlflow(trace: Trace) -> dict[str, Any]:
    """Return an MLflow trace as a trace of mcptest, with a call for each span of kind TOOL."""
    spans = [span for span in trace.data.spans if span.span_type == "TOOL"]
    spans.sort(key=lambda span: span.start_time_ns)
    return {
        "trace_id": trace.info.trace_id,
        "tool_calls": [{"name": span.name, "args": span.inputs} for span in spans],
        "tool_results": [_result(span) for span in spans],
        "final_response": trace.data.response,
    }


def _result(span: Span) -> dict[str, Any]:
    return {
        "is_error": span.status.status_code.value == "ERROR",
        "structured": span.outputs,
    }


def _feedbacks(suite: Suite, trace: Any) -> list[Feedback]:
    from mlflow.entities import Feedback

    rows = suite.judge([trace], jobs=1)
    return [
        Feedback(name=row["agent"], value=row["status"] == "passed", rationale=row["message"])
        if row["status"] in {"passed", "failed"}
        else Feedback(name=row["agent"] or "mcptest", error=row["message"])
        for row in rows
        if row["kind"] in {"verdict", "input"}
    ]
