"""Judge traces in a Ray dataset, on the nodes of its cluster.

    import mcptest.ray

    verdicts = mcptest.ray.judge(dataset, "gates.yml", trace="trace", trace_id="id")
    verdicts.write_parquet("verdicts/")

The nodes need the package `mcptest` and pyarrow. The driver reads the suite, and sends it with the
files and environment variables that it was loaded from.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcptest.suite import Suite

if TYPE_CHECKING:
    from os import PathLike

    import pyarrow as pa
    from ray.data import Dataset


def judge(
    dataset: Dataset,
    suite: Suite | str | PathLike[str],
    trace: str = "trace",
    group: str | None = None,
    *,
    trace_id: str | None = None,
    batch_size: int | None = 1024,
) -> Dataset:
    """Judge the traces in a column of a dataset, and return the verdict rows.

    Each trace is judged alone, in batches of `batch_size`, unless the suite has gates that compare
    runs. Then Ray moves the traces of each group to one node, and they are judged together in the
    order of their ids. `group` and `trace_id` name the columns.
    """
    loaded = Suite.of(suite)
    if not loaded.needs_groups:

        def judge_batch(batch: pa.Table) -> pa.Table:
            return loaded.judge_table(batch, group, trace=trace, trace_id=trace_id, jobs=1)

        return dataset.map_batches(judge_batch, batch_size=batch_size, batch_format="pyarrow")

    if group is None or trace_id is None:
        raise ValueError(f"name the columns with `group` and `trace_id`: {loaded.needs_groups[0]}")

    def judge_group(runs: pa.Table) -> pa.Table:
        ordered = runs.sort_by(trace_id)
        return loaded.judge_table(ordered, group, trace=trace, trace_id=trace_id, jobs=1)

    return dataset.groupby(group).map_groups(judge_group, batch_format="pyarrow")
