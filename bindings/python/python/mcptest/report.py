"""Write reports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcptest import _mcptest

if TYPE_CHECKING:
    from typing_extensions import Self


class Report:
    """Verdicts with their evidence, which `Suite.report` makes.

    >>> from mcptest import Suite
    >>> suite = Suite.parse("agents: [{ name: a, golden_path: { calls: [search] } }]")
    >>> report = suite.report([{"tool_calls": [{"name": "search"}]}])
    >>> report.passed, report.exit_code
    (True, 0)
    >>> report.to_junit().splitlines()[0]
    '<?xml version="1.0" encoding="UTF-8"?>'
    """

    __slots__ = ("_report",)

    _report: _mcptest.Report

    def __init__(self) -> None:
        """Refuse to make an empty report."""
        raise TypeError("make a report with Suite.report(traces) or Report.from_json(text)")

    @classmethod
    def _over(cls, made: _mcptest.Report) -> Self:
        report = cls.__new__(cls)
        report._report = made
        return report

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read a report that `to_json` or `mcptest run --reporter json` wrote."""
        return cls._over(_mcptest.Report.from_json(text))

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the report as JSON."""
        return (Report.from_json, (self.to_json(),))

    @property
    def exit_code(self) -> int:
        """The exit code of `mcptest run` for this report: 0 if every test passed."""
        return self._report.exit_code

    @property
    def passed(self) -> bool:
        """True if every test passed."""
        return self.exit_code == 0

    def to_html(self) -> str:
        """Return a page for a browser."""
        return self._in("html")

    def to_junit(self) -> str:
        """Return XML for CI servers."""
        return self._in("junit")

    def to_markdown(self) -> str:
        """Return Markdown for a comment or a summary."""
        return self._in("md")

    def to_json(self) -> str:
        """Return the whole report as JSON."""
        return self._in("json")

    def to_text(self) -> str:
        """Return what the terminal shows."""
        return self._in("pretty")

    def _in(self, key: str) -> str:
        return self._report.render(key).decode()
