from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, final

__all__ = [
    "Report",
    "Suite",
    "SuiteError",
    "agent_stability",
    "agent_stability_across",
    "drift_flags",
    "escape_lines",
    "golden_path_coverage",
    "score_golden_path",
    "score_narrative",
    "score_recovery",
    "score_recovery_in_trace",
    "score_tool_edges",
    "score_trajectory_axes",
    "tool_calls_from_envelope",
    "validate_trace",
]

_Json = Any

class SuiteError(ValueError): ...

@final
class Suite:
    @staticmethod
    def load(path: str | PathLike[str]) -> Suite: ...
    @staticmethod
    def parse(text: str, path: str | PathLike[str]) -> Suite: ...
    @staticmethod
    def from_source(source: bytes) -> Suite: ...
    @property
    def source(self) -> bytes: ...
    @property
    def path(self) -> str: ...
    @property
    def agents(self) -> list[str]: ...
    @property
    def warnings(self) -> list[str]: ...
    @property
    def needs_groups(self) -> list[str]: ...
    def judge_lines(
        self,
        traces: Sequence[str | bytes],
        ids: Sequence[str | None] | None,
        groups: Sequence[str | None] | None,
        jobs: int | None,
    ) -> bytes: ...
    def judge_columns(
        self,
        traces: Sequence[str | bytes],
        ids: Sequence[str | None] | None,
        groups: Sequence[str | None] | None,
        jobs: int | None,
    ) -> dict[str, list[Any]]: ...
    def report(
        self,
        traces: Sequence[str | bytes],
        ids: Sequence[str | None] | None,
        groups: Sequence[str | None] | None,
        jobs: int | None,
    ) -> Report: ...

@final
class Report:
    @staticmethod
    def from_json(text: str) -> Report: ...
    def render(self, format: str) -> bytes: ...
    @property
    def exit_code(self) -> int: ...

def escape_lines(lines: str) -> str: ...
def score_golden_path(calls: Sequence[_Json], settings: _Json) -> dict[str, Any]: ...
def golden_path_coverage(calls: Sequence[_Json], golden: list[str]) -> float: ...
def score_narrative(answer: str, calls: Sequence[_Json], settings: _Json) -> dict[str, Any]: ...
def score_trajectory_axes(calls: Sequence[_Json], settings: _Json) -> dict[str, Any]: ...
def score_tool_edges(envelopes: Sequence[_Json], settings: _Json) -> dict[str, Any]: ...
def score_recovery(
    call_start_ms: int,
    detected_at_ms: int | None,
    recovered_at_ms: int | None,
    limits: _Json,
) -> dict[str, Any]: ...
def score_recovery_in_trace(
    envelope: _Json, injected: list[str], limits: _Json
) -> dict[str, Any]: ...
def agent_stability(envelope: _Json) -> dict[str, float]: ...
def drift_flags(scores: Mapping[str, float], floors: Mapping[str, float]) -> list[str]: ...
def agent_stability_across(envelopes: Sequence[_Json]) -> dict[str, Any]: ...
def validate_trace(
    calls: Sequence[_Json], expected: Sequence[_Json], mode: str
) -> dict[str, Any]: ...
def tool_calls_from_envelope(envelope: _Json) -> list[dict[str, Any]]: ...
