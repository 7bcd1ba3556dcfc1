"""Judge traces in a Spark data frame, on the executors.

    import mcptest.spark

    verdicts = mcptest.spark.judge(traces, "gates.yml", trace="trace", trace_id="id")
    verdicts.where("status = 'failed'").groupBy("agent").count().show()

The executors need the package `mcptest` and pyarrow. The driver reads the suite, and sends it with
the files and environment variables that it was loaded from.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcptest.suite import Suite

if TYPE_CHECKING:
    from collections.abc import Iterator
    from os import PathLike

    import pyarrow as pa
    from pyspark.sql import DataFrame

SCHEMA = (
    "trace_id string, `group` string, suite string, agent string, kind string, gate string, "
    "target string, value string, number double, status string, message string"
)
"""The columns of the verdict rows."""


def judge(
    df: DataFrame,
    suite: Suite | str | PathLike[str],
    trace: str = "trace",
    group: str | None = None,
    *,
    trace_id: str | None = None,
) -> DataFrame:
    """Judge the traces in a column of a data frame, and return the verdict rows.

    Each trace is judged alone, and no data moves between executors, unless the suite has gates that
    compare runs. Then Spark moves the traces of each group to one executor, and they are judged
    together in the order of their ids. `group` and `trace_id` name the columns.
    """
    loaded = Suite.of(suite)
    if not loaded.needs_groups:
        judged = df.select(*_named(trace, group, trace_id))

        def judge_batches(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in batches:
                verdicts = loaded.judge_table(batch, group, trace=trace, trace_id=trace_id, jobs=1)
                yield from verdicts.to_batches()

        return judged.mapInArrow(judge_batches, SCHEMA)

    if group is None or trace_id is None:
        raise ValueError(f"name the columns with `group` and `trace_id`: {loaded.needs_groups[0]}")

    def judge_group(runs: pa.Table) -> pa.Table:
        ordered = runs.sort_by(trace_id)
        return loaded.judge_table(ordered, group, trace=trace, trace_id=trace_id, jobs=1)

    return (
        df.select(*_named(trace, trace_id, group)).groupBy(group).applyInArrow(judge_group, SCHEMA)
    )


def _named(*columns: str | None) -> list[str]:
    """Return the columns that are given, each once."""
    return list(dict.fromkeys(column for column in columns if column is not None))
