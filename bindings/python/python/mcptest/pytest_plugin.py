"""Collect suites in pytest, and judge traces that tests make.

Every file `*.mcptest.yml` is collected. Each of its rows is an item, judged by the program
`mcptest`, which is found in PATH or named by the environment variable MCPTEST_BINARY. A failure
prints what the terminal prints. The fixture `mcptest_suite` needs no program: it judges with the
extension module of this package.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from mcptest.suite import Suite

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

SUFFIX = ".mcptest.yml"
LISTED = re.compile(r"^(?P<file>.*):(?P<line>\d+): (?P<name>.*)$")
"""A row in the output of `mcptest run --list`."""


class RowError(Exception):
    """A row that did not pass, with the output of the terminal."""


class SuiteFile(pytest.File):
    """A suite whose rows are items."""

    def collect(self) -> Iterator[SuiteRow]:
        """List the rows of the suite."""
        listed = run_mcptest("--list", str(self.path))
        if listed.returncode != 0:
            raise self.CollectError(listed.stdout + listed.stderr)
        for line in listed.stdout.splitlines():
            found = LISTED.match(line)
            if found:
                yield SuiteRow.from_parent(self, name=found["name"], line=int(found["line"]))


class SuiteRow(pytest.Item):
    """A row of a suite."""

    def __init__(self, *, line: int, **options: Any) -> None:
        """Keep the line of the row in its suite."""
        super().__init__(**options)
        self.line = line

    def runtest(self) -> None:
        """Judge the recorded runs of the row."""
        judged = run_mcptest("--filter", f"re:^{re.escape(self.name)}$", str(self.path))
        if judged.returncode != 0:
            raise RowError((judged.stdout + judged.stderr).rstrip())

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Show the output of the terminal instead of the frames of this plugin."""
        if isinstance(excinfo.value, RowError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Name the row with its line, from 0."""
        return self.path, self.line - 1, self.name


def run_mcptest(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run `mcptest run` with these arguments."""
    program = os.environ.get("MCPTEST_BINARY") or shutil.which("mcptest")
    if program is None:
        raise pytest.UsageError(
            f"suites ({SUFFIX}) are judged by the program mcptest, which is not in PATH; "
            "install it, or name it in MCPTEST_BINARY",
        )
    command = [program, "run", "--color", "never", *arguments]
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect suites."""
    if file_path.name.endswith(SUFFIX):
        return SuiteFile.from_parent(parent, path=file_path)
    return None


@pytest.fixture
def mcptest_suite(request: pytest.FixtureRequest) -> Callable[[str], Suite]:
    """Load a suite beside the test, to judge traces that the test makes.

    def test_checkout(mcptest_suite):
        mcptest_suite("gates.yml").check([run_my_agent()])
    """
    folder = request.path.parent

    def load(path: str) -> Suite:
        return Suite.load(folder / path)

    return load
