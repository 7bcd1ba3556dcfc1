"""Read traces from lists, Arrow tables and data frames, and write verdict rows as Arrow tables."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from mcptest import _mcptest

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pyarrow as pa

COLUMNS = (
    "trace_id",
    "group",
    "suite",
    "agent",
    "kind",
    "gate",
    "target",
    "value",
    "number",
    "status",
    "message",
)
"""The columns of a table of verdict rows."""


class Traces(NamedTuple):
    """Traces as texts, with their ids and groups if they have any."""

    texts: list[str | bytes]
    ids: list[str | None] | None = None
    groups: list[str | None] | None = None


def read_traces(
    source: Any,
    *,
    trace: str,
    trace_id: str | None,
    group: str | Sequence[object] | None,
) -> Traces:
    """Read the traces of a list, or of a table or data frame.

    In a list, `group` names the group of each trace. In a table, it names a column.
    """
    if has_arrow_interface(source):
        if not (group is None or isinstance(group, str)):
            raise TypeError("the group of a table is the name of a column")
        return _of_table(arrow_table(source), trace=trace, trace_id=trace_id, group=group)
    texts = [text_of(one) for one in source]
    if group is None:
        return Traces(texts)
    groups = [group] * len(texts) if isinstance(group, str) else list(group)
    if len(groups) != len(texts):
        raise ValueError(f"{len(texts)} traces have {len(groups)} groups; give each trace a group")
    return Traces(texts, groups=_names(groups))


def text_of(trace: object) -> str | bytes:
    """Return a trace as JSON text.

    >>> text_of({"tool_calls": []})
    '{"tool_calls": []}'
    """
    if isinstance(trace, str):
        return trace
    if isinstance(trace, (bytes, bytearray, memoryview)):
        return bytes(trace)
    return json.dumps(trace, allow_nan=False)


def has_arrow_interface(source: object) -> bool:
    """Return true for tables, record batches and data frames with the Arrow PyCapsule interface."""
    return hasattr(source, "__arrow_c_stream__") or hasattr(source, "__arrow_c_array__")


def arrow_table(source: Any) -> pa.Table:
    """Return a table or data frame as a `pyarrow.Table`, without copying its data."""
    import pyarrow as pa

    if isinstance(source, pa.Table):
        return source
    if isinstance(source, pa.RecordBatch):
        return pa.Table.from_batches([source])
    return pa.table(source)


def _of_table(table: pa.Table, *, trace: str, trace_id: str | None, group: str | None) -> Traces:
    def column(name: str) -> list[Any]:
        if name not in table.column_names:
            names = ", ".join(table.column_names)
            raise KeyError(f"the table has no column `{name}`; its columns are {names}")
        values: list[Any] = table.column(name).to_pylist()
        return values

    return Traces(
        texts=[text_of(one) for one in column(trace)],
        # Without a column of ids, a trace is named by its own id alone.
        ids=[None] * len(table) if trace_id is None else _names(column(trace_id)),
        groups=None if group is None else _names(column(group)),
    )


def _names(values: Iterable[object]) -> list[str | None]:
    return [None if value is None else str(value) for value in values]


def verdict_schema() -> pa.Schema:
    """Return the schema of a table of verdict rows."""
    import pyarrow as pa

    types = {"number": pa.float64()}
    return pa.schema([(name, types.get(name, pa.string())) for name in COLUMNS])


def verdict_table(columns: dict[str, list[Any]]) -> pa.Table:
    """Return the columns of verdict rows as a table."""
    import pyarrow as pa

    return pa.table(columns, schema=verdict_schema())


def verdict_lines(table: Any) -> list[str]:
    """Return the rows of a table of verdicts as `mcptest score` writes them.

    Each line is JSON. The column `value` is JSON already, and `number` repeats it.
    """
    return [_line(row) for row in arrow_table(table).to_pylist()]


def _line(row: dict[str, Any]) -> str:
    texts = {
        name: json.dumps(row[name], ensure_ascii=False)
        for name in COLUMNS
        if name not in {"value", "number"}
    }
    texts["value"] = "null" if row["value"] is None else row["value"]
    members = (f"{json.dumps(name)}:{texts[name]}" for name in COLUMNS if name in texts)
    return _mcptest.escape_lines("{" + ",".join(members) + "}")
