"""A Ray cluster gives the rows of `mcptest score`, also if a node dies."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest
import ray
from ray.cluster_utils import Cluster

import mcptest.ray
from mcptest import verdict_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa
    from conftest import Lake
    from ray.data import Dataset


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    """Start a cluster with two nodes, each with one core."""
    nodes = Cluster(
        initialize_head=True,
        head_node_args={"num_cpus": 1, "include_dashboard": False},
    )
    nodes.add_node(num_cpus=1)
    ray.init(address=nodes.address, log_to_driver=False)
    yield nodes
    ray.shutdown()
    nodes.shutdown()


def lines(verdicts: Dataset) -> list[str]:
    tables = [ray.get(reference) for reference in verdicts.to_arrow_refs()]
    return sorted(line for table in tables for line in verdict_lines(table))


def stored(lake: Lake) -> Dataset:
    # Ray reads small files as one block, which one node would judge as one batch.
    return ray.data.read_parquet(lake.table).repartition(6)


def test_each_trace_alone(cluster: Cluster, lake: Lake) -> None:
    assert len(cluster.list_all_nodes()) == 2
    suite = lake.suite("alone.yml")
    verdicts = mcptest.ray.judge(stored(lake), suite, trace="trace", group="group", trace_id="id")
    assert lines(verdicts) == lake.scored(suite)


def test_the_traces_of_each_group_together(cluster: Cluster, lake: Lake) -> None:
    assert cluster.address
    suite = lake.suite("grouped.yml")
    verdicts = mcptest.ray.judge(stored(lake), suite, trace="trace", group="group", trace_id="id")
    assert lines(verdicts) == lake.scored(suite)


@pytest.mark.slow
def test_a_node_that_is_killed_changes_no_row(cluster: Cluster, lake: Lake) -> None:
    suite = lake.suite("alone.yml")
    marks = lake.folder / "begun on ray"
    marks.mkdir()
    doomed = cluster.add_node(num_cpus=1)

    def begin_slowly(batch: pa.Table) -> pa.Table:
        (marks / ray.get_runtime_context().get_node_id()).touch()
        time.sleep(2)
        return batch

    traces = stored(lake).map_batches(begin_slowly, batch_size=None, batch_format="pyarrow")
    verdicts = mcptest.ray.judge(traces, suite, group="group", trace_id="id", batch_size=50)
    with ThreadPoolExecutor() as threads:
        judging = threads.submit(lambda: lines(verdicts))
        # The node judges a block by now.
        while not (judging.done() or (marks / doomed.node_id).exists()):
            time.sleep(0.05)
        assert not judging.done(), judging.result()
        cluster.remove_node(doomed, allow_graceful=False)
        assert judging.result() == lake.scored(suite)
