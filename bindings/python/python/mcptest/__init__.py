"""Judge recorded runs of AI agents that use MCP servers.

>>> import mcptest
>>> suite = mcptest.Suite.parse("agents: [{ name: a, golden_path: { calls: [search] } }]")
>>> rows = suite.judge([{"tool_calls": [{"name": "search"}]}])
>>> rows[0]["status"]
'passed'
"""

from mcptest.report import Report
from mcptest.scores import (
    AxesScore,
    EdgesScore,
    NarrativeScore,
    PathScore,
    RecoveryReport,
    RunRecovery,
    StabilityAcross,
    StabilityReport,
    TraceMismatch,
    TraceValidation,
    agent_stability,
    agent_stability_across,
    drift_flags,
    golden_path_coverage,
    score_golden_path,
    score_narrative,
    score_recovery,
    score_recovery_in_trace,
    score_tool_edges,
    score_trajectory_axes,
    tool_calls_from_envelope,
    validate_trace,
)
from mcptest.suite import Suite, SuiteError
from mcptest.traces import verdict_lines, verdict_schema

__all__ = [
    "AxesScore",
    "EdgesScore",
    "NarrativeScore",
    "PathScore",
    "RecoveryReport",
    "Report",
    "RunRecovery",
    "StabilityAcross",
    "StabilityReport",
    "Suite",
    "SuiteError",
    "TraceMismatch",
    "TraceValidation",
    "agent_stability",
    "agent_stability_across",
    "drift_flags",
    "golden_path_coverage",
    "score_golden_path",
    "score_narrative",
    "score_recovery",
    "score_recovery_in_trace",
    "score_tool_edges",
    "score_trajectory_axes",
    "tool_calls_from_envelope",
    "validate_trace",
    "verdict_lines",
    "verdict_schema",
]
