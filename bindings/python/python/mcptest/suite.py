"""Load suites and judge traces with them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from mcptest import _mcptest
from mcptest.report import Report
from mcptest.traces import Traces, read_traces, verdict_table

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    import pyarrow as pa

SuiteError = _mcptest.SuiteError


class Suite:
    """The rules of a suite, which judge traces in memory.

    A trace is a trace of mcptest, or a transcript in any format that `mcptest import` recognises.
    Agents of the suite need no model, prompt or cassette. A suite is immutable. It pickles with
    the files and environment variables that it was loaded from, so that other processes can judge
    with it.

    >>> suite = Suite.parse('''
    ... agents:
    ...   - name: checkout
    ...     golden_path: { calls: [find_order, charge] }
    ... ''')
    >>> rows = suite.judge([{"tool_calls": [{"name": "charge"}, {"name": "charge"}]}])
    >>> [row["message"] for row in rows if row["kind"] == "verdict"]
    ['golden_path: call 2 `charge` repeats the call before it']
    """

    __slots__ = ("_suite",)

    _suite: _mcptest.Suite

    def __init__(self) -> None:
        """Refuse to make an empty suite."""
        raise TypeError("load a suite with Suite.load(path) or Suite.parse(text)")

    @classmethod
    def _over(cls, loaded: _mcptest.Suite) -> Suite:
        suite = cls.__new__(cls)
        suite._suite = loaded
        return suite

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Suite:
        """Load a suite from a file. A refused suite is a `SuiteError`."""
        return cls._over(_mcptest.Suite.load(path))

    @classmethod
    def parse(cls, text: str, path: str | PathLike[str] = "mcptest.yml") -> Suite:
        """Load a suite from its text, as if it were the file at `path`.

        >>> Suite.parse("agents: [{ name: forecast, promt: Will it rain? }]")
        Traceback (most recent call last):
            ...
        mcptest.SuiteError: ...
        """
        return cls._over(_mcptest.Suite.parse(text, path))

    @classmethod
    def of(cls, suite: Suite | str | PathLike[str]) -> Suite:
        """Return a suite as it is, or load it from a path."""
        return suite if isinstance(suite, Suite) else cls.load(suite)

    @classmethod
    def _from_source(cls, source: bytes) -> Suite:
        return cls._over(_mcptest.Suite.from_source(source))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle everything that the suite was loaded from."""
        return (Suite._from_source, (self._suite.source,))

    def __repr__(self) -> str:
        """Name the suite's file and its agents."""
        return f"Suite({self.path!r}, agents={self.agents!r})"

    @property
    def path(self) -> str:
        """The path of the suite, as it was given."""
        return self._suite.path

    @property
    def agents(self) -> list[str]:
        """The names of the agents."""
        return self._suite.agents

    @property
    def warnings(self) -> list[str]:
        """The problems of the suite that do not refuse it."""
        return self._suite.warnings

    @property
    def needs_groups(self) -> list[str]:
        """Why the suite judges groups of traces, as sentences; empty if it judges each trace alone.

        >>> Suite.parse("agents: [{ name: a, stability: {} }]").needs_groups
        ['agent `a`: `stability:` cannot judge a trace without a group: it compares ...']
        """
        return self._suite.needs_groups

    def judge(
        self,
        traces: Any,
        group: str | Sequence[object] | None = None,
        *,
        trace: str = "trace",
        trace_id: str | None = None,
        jobs: int | None = None,
    ) -> list[dict[str, Any]]:
        """Judge traces, and return a row for each verdict.

        `traces` is a list of JSON texts (`str` or `bytes`) or dictionaries, or a table: a
        `pyarrow.Table` or `RecordBatch`, or a data frame of pandas, polars or another library with
        the Arrow PyCapsule interface. Of a table, `trace` names the column with the traces and
        `trace_id` the column with their ids.

        Each trace is judged alone, unless the suite has gates that compare runs: then the traces of
        a group are judged together, as the runs of one test. `group` is the name of a column, or
        for a list the group of each trace. `needs_groups` lists why a suite needs groups.

        The rows are the rows of `mcptest score`. A trace that cannot be read is a row with the
        status `error`. A trace of a list without an id is named by its number, from 1. `jobs` is
        the number of threads, by default one for each core. Other Python threads run while mcptest
        judges.

        >>> suite = Suite.parse("agents: [{ name: a, golden_path: { calls: [search] } }]")
        >>> rows = suite.judge(['{"tool_calls": [{"name": "search"}]}'])
        >>> rows[0]["agent"], rows[0]["kind"], rows[0]["status"]
        ('a', 'verdict', 'passed')
        """
        lines = self._lines(traces, group, trace, trace_id, jobs)
        return [json.loads(line) for line in lines.splitlines()]

    def judge_lines(
        self,
        traces: Any,
        group: str | Sequence[object] | None = None,
        *,
        trace: str = "trace",
        trace_id: str | None = None,
        jobs: int | None = None,
    ) -> bytes:
        """Judge traces as `judge` does, and return the rows as JSON Lines."""
        return self._lines(traces, group, trace, trace_id, jobs)

    def judge_table(
        self,
        traces: Any,
        group: str | Sequence[object] | None = None,
        *,
        trace: str = "trace",
        trace_id: str | None = None,
        jobs: int | None = None,
    ) -> pa.Table:
        """Judge traces as `judge` does, and return the rows as a `pyarrow.Table`.

        `value` is JSON text, because gates measure numbers, texts and lists. `number` is the value
        of rows whose value is a number or a truth value.
        """
        read = read_traces(traces, trace=trace, trace_id=trace_id, group=group)
        columns = self._suite.judge_columns(read, jobs)
        return verdict_table(columns)

    def report(
        self,
        traces: Any,
        group: str | Sequence[object] | None = None,
        *,
        trace: str = "trace",
        trace_id: str | None = None,
        jobs: int | None = None,
    ) -> Report:
        """Judge traces as `judge` does, and return a report for people and for CI.

        The report holds every test in memory. It has a test for each agent and trace, or for each
        agent and group.
        """
        read = read_traces(traces, trace=trace, trace_id=trace_id, group=group)
        return Report._over(self._suite.report(read, jobs))

    def check(self, traces: Any, group: str | Sequence[object] | None = None) -> None:
        """Judge traces, and raise an `AssertionError` with the report unless every test passes.

        >>> suite = Suite.parse("agents: [{ name: a, golden_path: { calls: [search] } }]")
        >>> suite.check([{"tool_calls": [{"name": "search"}]}])
        >>> suite.check([{"tool_calls": [{"name": "search"}, {"name": "search"}]}])
        Traceback (most recent call last):
            ...
        AssertionError: ...
        """
        report = self.report(traces, group)
        if not report.passed:
            raise AssertionError("\n" + report.to_text())

    def _lines(
        self,
        traces: Any,
        group: str | Sequence[object] | None,
        trace: str,
        trace_id: str | None,
        jobs: int | None,
    ) -> bytes:
        read: Traces = read_traces(traces, trace=trace, trace_id=trace_id, group=group)
        return self._suite.judge_lines(read, jobs)
