"""Suites, traces, and the rows of `mcptest score` that the rows of each engine must equal."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import traces

if TYPE_CHECKING:
    from pathlib import Path

COUNT = 600
"""The number of traces that each engine judges."""


@dataclass(frozen=True)
class Lake:
    """Traces as a Parquet file and as JSON Lines, with two suites."""

    folder: Path

    @property
    def table(self) -> str:
        """The folder with the Parquet files."""
        return str(self.folder / "lake")

    def suite(self, name: str) -> str:
        """Return the path of a suite: `alone.yml` or `grouped.yml`."""
        return str(self.folder / name)

    def scored(self, suite: str) -> list[str]:
        """Return the sorted rows that `mcptest score` writes."""
        command = [os.environ["MCPTEST_BINARY"], "score", suite, str(self.folder / "traces.ndjson")]
        done = subprocess.run(command, capture_output=True, check=False)
        # A failed verdict is exit code 1, and a broken line is 2.
        assert done.returncode in {0, 1, 2}, done.stderr.decode()
        lines = done.stdout.decode().splitlines()
        assert lines, done.stderr.decode()
        return sorted(lines)


@pytest.fixture(scope="session")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    """Write the traces, in four Parquet files."""
    folder = tmp_path_factory.mktemp("fleet")
    (folder / "alone.yml").write_text(traces.ALONE)
    (folder / "grouped.yml").write_text(traces.GROUPED)
    rows = list(traces.rows(COUNT))
    with (folder / "traces.ndjson").open("w") as out:
        for row in rows:
            out.write(json.dumps(row) + "\n")
    (folder / "lake").mkdir()
    quarter = COUNT // 4
    for part in range(4):
        table = pa.Table.from_pylist(rows[part * quarter : (part + 1) * quarter])
        pq.write_table(table, folder / "lake" / f"part-{part}.parquet")
    return Lake(folder)
