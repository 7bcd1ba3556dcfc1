"""Each gate as a function over JSON values.

A call is a dictionary with `name` and, where known, `server`, `args`, `turn`, `result` and
`is_error`. An envelope is a trace: a dictionary with `tool_calls`.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from mcptest import _mcptest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Call = dict[str, Any]
"""A recorded call: `{"name": "search", "args": {"q": "rust"}}`."""

Envelope = dict[str, Any]
"""A trace: `{"tool_calls": […], "final_response": "…"}`."""

MatchMode = Literal["strict", "subsequence", "unordered", "superset", "subset", "set"]
"""How `validate_trace` compares the expected calls with the recorded calls."""


@dataclass(frozen=True)
class PathScore:
    """The result of comparing calls with a golden path."""

    passed: bool
    """True if the calls have no counted waste."""
    extra_steps: int
    """Calls beyond the length of the path."""
    backtracks: int
    """Returns to an earlier tool."""
    repeated_tools: int
    """Calls to the same tool as the previous call."""
    penalty: float
    """`1 / (1 + 0.5 w)` over the counted waste `w`."""


def score_golden_path(
    calls: Sequence[Call],
    golden: Sequence[str],
    *,
    allow_extra_steps: bool = False,
    penalize_backtracking: bool = True,
    penalize_repeated_tools: bool = True,
) -> PathScore:
    """Score calls against an ideal sequence of tools.

    >>> calls = [{"name": "search"}, {"name": "search"}, {"name": "open"}]
    >>> score = score_golden_path(calls, ["search", "open"])
    >>> score.passed, score.extra_steps, score.repeated_tools
    (False, 1, 1)
    """
    settings = {
        "golden": list(golden),
        "allow_extra_steps": allow_extra_steps,
        "penalize_backtracking": penalize_backtracking,
        "penalize_repeated_tools": penalize_repeated_tools,
    }
    return PathScore(**_mcptest.score_golden_path(calls, settings))


def golden_path_coverage(calls: Sequence[Call], golden: Sequence[str]) -> float:
    """Return the share of a golden path that the calls walked in order; 1 for an empty path.

    >>> golden_path_coverage([{"name": "search"}], ["search", "open"])
    0.5
    """
    return _mcptest.golden_path_coverage(calls, list(golden))


@dataclass(frozen=True)
class NarrativeScore:
    """The result of comparing an answer with the calls of its run."""

    claims: list[str]
    """The distinct claimed actions as stems, in order."""
    claimed_but_absent: int
    """Claims that no successful call supports."""
    claimed_but_failed: int
    """Absent claims whose calls failed."""
    unverified: int
    """Claims that the calls can neither show nor refute."""
    present_but_unclaimed: int
    """Calls that the answer never mentions."""
    arg_mismatch: int
    """Stated argument values that differ from the recorded values."""
    denied_but_present: int
    """Denials that a successful call contradicts."""
    divergence_score: float
    """`min(1, (absent + unclaimed + mismatches) / (calls + claims))`, 0 for 0/0."""
    mutating_divergence_score: float
    """The divergence over mutating calls and claims only."""
    gate_passed: bool
    """True if no claim or denial is refuted and the divergence is within its ceiling."""


def score_narrative(
    answer: str,
    calls: Sequence[Call],
    *,
    mutating_tools: Sequence[str] = (),
    readonly_tools: Sequence[str] = (),
    max_divergence_score: float | None = None,
    extra_verbs: Sequence[str] = (),
    synonyms: Mapping[str, Sequence[str]] | None = None,
    extraction: Literal["rules", "literal"] = "rules",
) -> NarrativeScore:
    """Compare an answer with the calls of its run.

    >>> answer = "I created the issue and closed the ticket."
    >>> score = score_narrative(answer, [{"name": "create_issue"}])
    >>> score.claims, score.claimed_but_absent, score.gate_passed
    (['create_issue', 'close_ticket'], 1, False)
    """
    settings = {
        "mutating_tools": list(mutating_tools),
        "readonly_tools": list(readonly_tools),
        "max_divergence_score": max_divergence_score,
        "extra_verbs": list(extra_verbs),
        "synonyms": {verb: list(words) for verb, words in (synonyms or {}).items()},
        "extraction": extraction,
    }
    return NarrativeScore(**_mcptest.score_narrative(answer, calls, settings))


@dataclass(frozen=True)
class AxesScore:
    """The satisfied share of dependencies and of the order in a run."""

    dependency_satisfaction: int
    """The percentage of satisfied dependencies, rounded down; 100 without dependencies."""
    order_satisfaction: int
    """The percentage of satisfied order edges, rounded down; 100 without order edges."""


def score_trajectory_axes(
    calls: Sequence[Call],
    *,
    dependencies: Sequence[tuple[str, str]] = (),
    order: Sequence[tuple[str, str]] = (),
    require_present: bool = False,
) -> AxesScore:
    """Check that each call came after the calls it builds on.

    A dependency is a pair of producer and consumer, and an order edge a pair of the first tool and
    the second.

    >>> calls = [{"name": "search", "turn": 0}, {"name": "fetch_page", "turn": 1}]
    >>> score_trajectory_axes(calls, dependencies=[("search", "fetch_page")])
    AxesScore(dependency_satisfaction=100, order_satisfaction=100)
    """
    settings = {
        "dependencies": [list(pair) for pair in dependencies],
        "order": [list(pair) for pair in order],
        "require_present": require_present,
    }
    return AxesScore(**_mcptest.score_trajectory_axes(calls, settings))


@dataclass(frozen=True)
class EdgesScore:
    """The result of comparing runs with a policy for tools and hand-offs."""

    allowed_pct: int
    """Percentage of the allowed tools that any run called, rounded down; 100 without a list."""
    restricted_attempts: int
    """Calls to restricted tools in all runs."""
    delegation_pct: int
    """Percentage of the expected hand-offs in the worst run, rounded down; 100 without a list."""
    undeclared_delegations: int
    """Recorded hand-offs that are not expected, in all runs."""
    gate_passed: bool
    """True if the runs did nothing forbidden."""
    unlisted_calls: int
    """Calls to tools that are neither allowed nor restricted, in all runs."""


def score_tool_edges(
    envelopes: Sequence[Envelope],
    *,
    allowed: Sequence[str] = (),
    restricted: Sequence[str] = (),
    delegation: Sequence[tuple[str, str]] = (),
    closed: bool = False,
) -> EdgesScore:
    """Compare the runs of an agent with the tools that it may and must not call.

    A hand-off in `delegation` is a pair of the agent that hands over and the agent that takes over.

    >>> run = {"tool_calls": [{"name": "search"}, {"name": "delete_repo"}]}
    >>> score = score_tool_edges(
    ...     [run], allowed=["search", "summarize"], restricted=["delete_repo"]
    ... )
    >>> score.allowed_pct, score.restricted_attempts, score.gate_passed
    (50, 1, False)
    """
    settings = {
        "allowed": list(allowed),
        "restricted": list(restricted),
        "delegation": [list(pair) for pair in delegation],
        "closed": closed,
    }
    return EdgesScore(**_mcptest.score_tool_edges(envelopes, settings))


@dataclass(frozen=True)
class RecoveryReport:
    """The outcome of a failed call."""

    time_to_detection_ms: int | None
    """From the call to its detection; None without detection."""
    time_to_recovery_ms: int | None
    """From the call to recovery; None if the agent did not recover."""
    user_visible_hang_ms: int
    """From the call to detection or recovery, otherwise the time budget of the call."""
    recovered: bool
    """True if the agent recovered."""
    clean_timeout: bool
    """True if the agent noticed within the time budget of the call."""
    gate_passed: bool
    """True without a failure."""
    reasons: list[str]
    """The failures, in order, such as `not_recovered`."""


@dataclass(frozen=True)
class RunRecovery:
    """The effects of the injected faults on one run."""

    exercised: bool
    """True if every injected fault made a call fail."""
    report: RecoveryReport | None
    """The worst encounter with a fault; None if no call failed by a fault."""
    gate_passed: bool
    """True without a failure."""
    reasons: list[str]
    """The failures, in order."""


def score_recovery(
    *,
    call_start_ms: int = 0,
    detected_at_ms: int | None = None,
    recovered_at_ms: int | None = None,
    max_detection_ms: int,
    max_recovery_ms: int | None = None,
    require_clean_timeout: bool = False,
) -> RecoveryReport:
    """Score how soon an agent noticed and overcame a failed call.

    >>> report = score_recovery(
    ...     detected_at_ms=9000,
    ...     recovered_at_ms=9500,
    ...     max_detection_ms=3000,
    ...     require_clean_timeout=True,
    ... )
    >>> report.recovered, report.reasons, report.user_visible_hang_ms
    (True, ['unclean_timeout'], 9000)
    """
    limits = _limits(max_detection_ms, max_recovery_ms, require_clean_timeout=require_clean_timeout)
    return RecoveryReport(
        **_mcptest.score_recovery(call_start_ms, detected_at_ms, recovered_at_ms, limits),
    )


def score_recovery_in_trace(
    envelope: Envelope,
    *,
    injected: Sequence[str] = (),
    max_detection_ms: int,
    max_recovery_ms: int | None = None,
    require_clean_timeout: bool = False,
) -> RunRecovery:
    """Score the injected faults in a trace, in virtual time.

    Without names in `injected`, it scores the faults that the trace records.

    >>> recovery = score_recovery_in_trace({"tool_calls": []}, max_detection_ms=5000)
    >>> recovery.exercised, recovery.report
    (False, None)
    """
    limits = _limits(max_detection_ms, max_recovery_ms, require_clean_timeout=require_clean_timeout)
    found = _mcptest.score_recovery_in_trace(envelope, list(injected), limits)
    report = found.pop("report")
    return RunRecovery(report=None if report is None else RecoveryReport(**report), **found)


def _limits(
    max_detection_ms: int,
    max_recovery_ms: int | None,
    *,
    require_clean_timeout: bool,
) -> dict[str, Any]:
    return {
        "max_detection_ms": max_detection_ms,
        "max_recovery_ms": max_recovery_ms,
        "require_clean_timeout": require_clean_timeout,
    }


@dataclass(frozen=True)
class StabilityReport:
    """The four scores of one run; 1 is steady."""

    tool_usage_stability: float
    """`1 - (tools - 1) / (calls - 1)`: falls if nearly every call uses a different tool."""
    response_consistency: float
    """`1 - min(1, sd / mean)` of the lengths of the assistant's turns."""
    redundancy: float
    """Distinct calls over all calls."""
    cost_per_progress: float
    """`2000 / max(2000, tokens / distinct calls)`."""

    @property
    def weakest_score(self) -> float:
        """The lowest of the four scores."""
        scores: dict[str, float] = asdict(self)
        return min(scores.values())


def agent_stability(envelope: Envelope) -> StabilityReport:
    """Score how steady one run is. Data that the trace lacks counts as steady.

    >>> call = {"name": "search", "server": "docs", "args": {"q": "a"}}
    >>> agent_stability({"tool_calls": [call, call, call, call]}).redundancy
    0.25
    """
    return StabilityReport(**_mcptest.agent_stability(envelope))


def drift_flags(report: StabilityReport, floors: Mapping[str, float] | None = None) -> list[str]:
    """Return the names of the scores strictly below their floors, which are 0.5 by default.

    >>> call = {"name": "search", "server": "docs", "args": {"q": "a"}}
    >>> drift_flags(agent_stability({"tool_calls": [call, call, call]}))
    ['redundancy']
    """
    scores = asdict(report)
    return _mcptest.drift_flags(scores, dict.fromkeys(scores, 0.5) | dict(floors or {}))


@dataclass(frozen=True)
class StabilityAcross:
    """The combined scores of several runs of one test."""

    score: float
    """The mean of the weakest scores of the runs."""
    weakest_score: float
    """The lowest weakest score."""
    variance: float
    """The population variance of the weakest scores."""
    tool_sequence_similarity: float
    """The mean similarity of the sequences of tools, over pairs of runs."""
    argument_consistency: float
    """The mean share of equal arguments at equal steps, over pairs of runs."""
    aligned_argument_consistency: float
    """The mean share of equal arguments along the common sequence of tools, over pairs of runs."""
    early_divergence: bool
    """True if most pairs that diverge do this at the first or second call."""


def agent_stability_across(envelopes: Sequence[Envelope]) -> StabilityAcross:
    """Compare at least two runs with each other.

    >>> run = {"tool_calls": [{"name": "search", "args": {"q": "a"}}]}
    >>> agent_stability_across([run, run]).tool_sequence_similarity
    1.0
    """
    return StabilityAcross(**_mcptest.agent_stability_across(envelopes))


@dataclass(frozen=True)
class TraceMismatch:
    """One difference between a run and the expected calls."""

    expected_index: int
    """The expected call, from 0; the number of expected calls for a recorded call too many."""
    recorded_index: int | None
    """The compared recorded call, from 0; None if the run lacks the call."""
    diffs: list[dict[str, Any]]
    """The differences, each with `pointer`, `expected` and `actual`."""
    reason: str
    """The mismatch in one sentence that counts calls from 1."""


@dataclass(frozen=True)
class TraceValidation:
    """The result of comparing a run with its expected calls."""

    passed: bool
    """True if the run is as expected."""
    mismatches: list[TraceMismatch]
    """The differences."""


def validate_trace(
    calls: Sequence[Call],
    expected: Sequence[str | Mapping[str, Any]],
    mode: MatchMode = "strict",
) -> TraceValidation:
    """Compare recorded calls with expected calls.

    An expected call is the name of a tool, or `{"name": …, "args": …}` with the arguments as in a
    suite: `{"exact": VALUE}`, `{"exact_bags": VALUE}` (lists in any order), `{"subset": VALUE}`,
    `{"schema": SCHEMA}`, `{"one_of": […]}`, `"any"` or `"ignore"`. A malformed JSON Schema is a
    `ValueError`.

    >>> recorded = [{"name": "search", "args": {"q": "rust", "page": 1}}, {"name": "close"}]
    >>> search = {"name": "search", "args": {"subset": {"q": "rust"}}}
    >>> validate_trace(recorded, [search], mode="subsequence").passed
    True
    >>> validate_trace(recorded, [search, "open"]).mismatches[0].reason
    'call 2 is `close`, expected `open`'
    """
    result = _mcptest.validate_trace(calls, list(expected), mode)
    mismatches = [TraceMismatch(**mismatch) for mismatch in result["mismatches"]]
    return TraceValidation(passed=result["passed"], mismatches=mismatches)


def tool_calls_from_envelope(envelope: Envelope) -> list[Call]:
    """Return the calls of a trace, or of a line of a cassette.

    >>> tool_calls_from_envelope({"trace": {"tool_calls": [{"name": "search"}]}})
    [{'name': 'search'}]
    """
    return _mcptest.tool_calls_from_envelope(envelope)
