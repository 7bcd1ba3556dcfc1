"""Suites judge lists, tables and frames alike, and refuse what they cannot judge."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from mcptest import Report, Suite, SuiteError, verdict_lines

if TYPE_CHECKING:
    from pathlib import Path

PATH = """
agents:
  - name: checkout
    golden_path: { calls: [find_order, charge] }
    expect:
      - { target: final_response, matcher: { contains: charged } }
"""
GOOD = {
    "tool_calls": [{"name": "find_order"}, {"name": "charge"}],
    "final_response": "I charged it.",
}
BAD = {"tool_calls": [{"name": "charge"}, {"name": "charge"}], "final_response": "Done."}
CHAT = {
    "messages": [
        {"role": "user", "content": "Buy it."},
        {
            "role": "assistant",
            "tool_calls": [
                {
                    "id": "1",
                    "type": "function",
                    "function": {"name": "find_order", "arguments": "{}"},
                },
            ],
        },
        {"role": "tool", "tool_call_id": "1", "content": "one lamp"},
        {"role": "assistant", "content": "I charged it."},
    ],
}


@pytest.fixture
def suite() -> Suite:
    return Suite.parse(PATH, "gates.yml")


def verdicts(rows: list[dict[str, Any]]) -> list[tuple[str | None, str]]:
    return [(row["trace_id"], row["status"]) for row in rows if row["kind"] in {"verdict", "input"}]


def test_texts_bytes_dictionaries_and_transcripts_are_traces(suite: Suite) -> None:
    traces = [json.dumps(GOOD), json.dumps(BAD).encode(), GOOD | {"trace_id": "own"}, CHAT]
    judged = [("1", "passed"), ("2", "failed"), ("own", "passed"), ("4", "passed")]
    assert verdicts(suite.judge(traces)) == judged


def test_a_broken_trace_is_a_row_and_the_others_are_judged(suite: Suite) -> None:
    traces = ['{"tool_calls": [{"na', b"\xff", "\ud800", "", '{"mood": 1}', "[" * 100_000, GOOD]
    rows = suite.judge(traces)
    errors = [row for row in rows if row["kind"] == "input"]
    assert [row["trace_id"] for row in errors] == ["1", "2", "3", "4", "5", "6"]
    assert all(row["status"] == "error" and row["message"] for row in errors)
    assert verdicts(rows)[-1] == ("7", "passed")


def test_the_number_of_threads_does_not_change_the_rows(suite: Suite) -> None:
    traces = [GOOD, BAD, CHAT, "{"] * 25
    assert suite.judge_lines(traces, jobs=1) == suite.judge_lines(traces, jobs=7)


@pytest.mark.parametrize("kind", ["table", "batch", "pandas", "polars"])
def test_tables_and_frames_give_the_rows_of_a_list(suite: Suite, kind: str) -> None:
    columns = {"key": ["a", "b"], "run": [json.dumps(GOOD), json.dumps(BAD)]}
    source: Any = {
        "table": lambda: pa.table(columns),
        "batch": lambda: pa.RecordBatch.from_pydict(columns),
        "pandas": lambda: pd.DataFrame(columns),
        "polars": lambda: pl.DataFrame(columns),
    }[kind]()
    rows = suite.judge(source, trace="run", trace_id="key")
    assert verdicts(rows) == [("a", "passed"), ("b", "failed")]
    table = suite.judge_table(source, trace="run", trace_id="key")
    lines = suite.judge_lines(source, trace="run", trace_id="key")
    assert verdict_lines(table) == lines.decode().splitlines()
    assert len(table) == len(rows)


def test_a_column_of_structures_holds_traces(suite: Suite) -> None:
    table = pa.table({"trace": [GOOD]})
    assert verdicts(suite.judge(table)) == [(None, "passed")]


def test_numbers_of_a_table_can_be_compared(suite: Suite) -> None:
    table = suite.judge_table([BAD])
    repeats = table.filter(pa.compute.equal(table["target"], "golden_path.repeated_tools"))
    assert repeats["number"].to_pylist() == [1.0]
    assert repeats["value"].to_pylist() == ["1"]


def test_a_missing_column_is_named(suite: Suite) -> None:
    with pytest.raises(KeyError, match="no column `run`; its columns are trace"):
        suite.judge(pa.table({"trace": ["{}"]}), trace="run")


def test_gates_that_compare_runs_judge_groups() -> None:
    suite = Suite.parse("agents: [{ name: a, golden_path: { calls: [x] }, stability: {} }]")
    assert "stability" in suite.needs_groups[0]
    run = {"tool_calls": [{"name": "x"}]}
    rows = suite.judge([run] * 4, ["one", "two", "one", "two"])
    whole = [row for row in rows if row["kind"] == "verdict"]
    assert [row["group"] for row in whole] == ["one", "two"]
    enveloped = [{"id": str(at), "group": "g", "trace": run} for at in range(2)]
    assert [row["trace_id"] for row in suite.judge(enveloped) if row["kind"] == "run"] == ["0", "1"]
    without = suite.judge([run])
    assert without[0]["message"] == suite.needs_groups[0]
    with pytest.raises(ValueError, match="2 traces have 1 groups"):
        suite.judge([run, run], ["one"])


def test_a_refused_suite_names_its_problems() -> None:
    with pytest.raises(SuiteError, match=r"gates\.yml:1:.*\n(.|\n)*promt"):
        Suite.parse("agents: [{ name: a, promt: b }]", "gates.yml")
    with pytest.raises(SuiteError, match=r"cannot read nowhere\.yml"):
        Suite.load("nowhere.yml")
    with pytest.raises(TypeError, match=r"Suite\.load"):
        Suite()


def test_a_suite_that_records_runs_for_a_gate_cannot_judge_traces() -> None:
    text = "agents: [{ name: a, distractors: { sweep: [0, 4], correct: [x] } }]"
    with pytest.raises(SuiteError, match="distractors"):
        Suite.parse(text)


def test_a_suite_pickles_with_its_files_and_variables(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("WORD", "charged")
    (tmp_path / "shared.yml").write_text("variables: { word: '${WORD}' }\n")
    path = tmp_path / "gates.yml"
    path.write_text(
        "imports: [shared.yml]\n" + PATH.replace("contains: charged", "contains: '${word}'")
    )
    suite = Suite.load(path)
    pickled = pickle.dumps(suite)
    before = suite.judge_lines([GOOD, BAD])
    (tmp_path / "shared.yml").unlink()
    path.unlink()
    monkeypatch.delenv("WORD")
    assert pickle.loads(pickled).judge_lines([GOOD, BAD]) == before


def test_other_threads_run_while_mcptest_judges(suite: Suite) -> None:
    texts = [json.dumps(GOOD)] * 2000
    is_done = threading.Event()
    ticks = 0

    def judge() -> None:
        suite.judge_lines(texts, jobs=1)
        is_done.set()

    judging = threading.Thread(target=judge)
    judging.start()
    while not is_done.wait(0.001):
        ticks += 1
    judging.join()
    # With the lock held, this thread would not run until the judging ends.
    assert ticks > 3


def test_rows_contain_no_secret(suite: Suite) -> None:
    token = "ghp_" + "a1B2c3D4e5F6" * 3
    lines = suite.judge_lines([BAD | {"final_response": token, "trace_id": token}])
    assert token.encode() not in lines


def test_a_report_has_every_format(suite: Suite) -> None:
    report = suite.report([GOOD, BAD])
    assert (report.passed, report.exit_code) == (False, 1)
    assert "checkout [2]" in report.to_text()
    assert "<!doctype html>" in report.to_html()[:100].lower()
    assert "<failure" in report.to_junit()
    assert "checkout" in report.to_markdown()
    assert Report.from_json(report.to_json()).to_text() == report.to_text()
    assert pickle.loads(pickle.dumps(report)).to_json() == report.to_json()


def test_check_raises_with_the_report(suite: Suite) -> None:
    suite.check([GOOD])
    with pytest.raises(AssertionError, match="call 2 `charge` repeats the call before it"):
        suite.check([GOOD, BAD])


def test_lists_need_no_pyarrow() -> None:
    program = (
        "import sys; sys.modules['pyarrow'] = None\n"
        "import mcptest\n"
        "suite = mcptest.Suite.parse('agents: [{ name: a }]')\n"
        "print(suite.judge([{'tool_calls': []}])[0]['status'])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "passed\n"
