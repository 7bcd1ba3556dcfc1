"""The Python of docs/python.md and the SQL of docs/scale.md run."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import traces
from chdb import session

if TYPE_CHECKING:
    from conftest import Lake

DOCUMENTATION = Path(__file__).parents[2] / "docs"


def blocks(page: str, language: str) -> list[str]:
    """Return the fenced blocks of a page whose first line is exactly this language."""
    text = (DOCUMENTATION / page).read_text()
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("block", blocks("python.md", "python"))
def test_python(block: str) -> None:
    exec(compile(block, "python.md", "exec"), {})


@pytest.mark.parametrize("block", blocks("python.md", "python no-run"))
def test_python_that_needs_a_service_is_python(block: str) -> None:
    compile(block, "python.md", "exec")


@pytest.fixture
def days(lake: Lake, tmp_path: Path) -> Path:
    """Judge the traces on one day, and the traces that do not delete on the day before."""
    (tmp_path / "verdicts").mkdir()
    suite = lake.suite("alone.yml")
    text = (lake.folder / "traces.ndjson").read_text()
    harmless = "".join(line for line in text.splitlines(keepends=True) if "delete" not in line)
    for day, lines in {"2026-11-18": harmless, "2026-11-19": text}.items():
        command = [os.environ["MCPTEST_BINARY"], "score", suite, "-"]
        done = subprocess.run(command, input=lines.encode(), capture_output=True, check=False)
        (tmp_path / "verdicts" / f"{day}.jsonl").write_bytes(done.stdout)
    table = pa.Table.from_pylist([priced(row) for row in traces.rows(200)])
    pq.write_table(table, tmp_path / "traces.parquet")
    return tmp_path


def priced(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row with a model and a trace that cost a cent."""
    number = int(row["id"][1:])
    try:
        trace = json.loads(row["trace"])
    except json.JSONDecodeError:
        trace = {}
    trace["conversation"] = {"cost_usd": 0.01}
    model = "claude-sonnet-4-5" if number % 2 else "gpt-5"
    return {"id": row["id"], "model": model, "trace": json.dumps(trace)}


def test_the_five_questions_in_duckdb(days: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(days)
    view, worst, new, cost, flaky, violated = blocks("scale.md", "sql")
    database = duckdb.connect()
    database.execute(view)

    def ask(query: str) -> list[dict[str, Any]]:
        return database.execute(query).to_arrow_table().to_pylist()

    agents = {row["agent"]: row for row in ask(worst)}
    assert agents["checkout"]["percent"] > agents["never deletes"]["percent"] > 0
    assert {row["gate"] for row in ask(new)} == {"tool_edges"}
    models = ask(cost)
    assert {row["model"] for row in models} == {"claude-sonnet-4-5", "gpt-5"}
    assert all(0 < row["usd_of_failed"] < row["usd"] for row in models)
    assert all(row["passed"] and row["failed"] and row["group"] for row in ask(flaky))
    gates = [row["gate"] for row in ask(violated)]
    assert gates[0] == "golden_path"
    assert "tool_edges" in gates


def test_clickhouse_judges_with_score(lake: Lake, tmp_path: Path) -> None:
    suite = lake.suite("alone.yml")
    scripts = tmp_path / "database" / "user_scripts"
    scripts.mkdir(parents=True)
    script = scripts / "score"
    script.write_text(f'#!/bin/sh\nexec "{os.environ["MCPTEST_BINARY"]}" score "{suite}" -\n')
    script.chmod(0o755)
    clickhouse = session.Session(str(tmp_path / "database"))
    columns = "id String, `group` String, trace String"
    clickhouse.query(f"CREATE TABLE traces ({columns}) ENGINE = MergeTree ORDER BY id")
    source = lake.folder / "traces.ndjson"
    clickhouse.query(f"INSERT INTO traces SELECT * FROM file('{source}', JSONEachRow, '{columns}')")
    (query,) = blocks("scale.md", "sql clickhouse")
    answer = clickhouse.query(query, "JSONEachRow").bytes().decode()
    found = [json.loads(line) for line in answer.splitlines()]
    clickhouse.close()
    counts = {(row["agent"], row["status"]): int(row["verdicts"]) for row in found}
    expected: dict[tuple[str, str], int] = {}
    for line in lake.scored(suite):
        row = json.loads(line)
        if row["kind"] == "verdict":
            key = (row["agent"], row["status"])
            expected[key] = expected.get(key, 0) + 1
    assert counts == expected
