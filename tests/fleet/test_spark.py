"""A Spark cluster gives the rows of `mcptest score`, also if an executor dies."""

from __future__ import annotations

import os
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import pyspark
import pytest
from pyspark.sql import SparkSession

import mcptest.spark
from mcptest import verdict_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa
    from conftest import Lake
    from pyspark.sql import DataFrame


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSession]:
    """Start a cluster with two executors, each a process with one core."""
    os.environ["SPARK_HOME"] = str(Path(pyspark.__file__).parent)
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local-cluster[2,1,1024]").appName("mcptest")
    options = {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.files.maxPartitionBytes": "64k",
        "spark.sql.shuffle.partitions": "4",
        "spark.ui.enabled": "false",
    }
    for name, value in options.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    yield session
    session.stop()


def lines(verdicts: DataFrame) -> list[str]:
    return sorted(verdict_lines(verdicts.toArrow()))


def test_each_trace_alone(spark: SparkSession, lake: Lake) -> None:
    suite = lake.suite("alone.yml")
    traces = spark.read.parquet(lake.table)
    verdicts = mcptest.spark.judge(traces, suite, trace="trace", group="group", trace_id="id")
    assert lines(verdicts) == lake.scored(suite)


def test_the_traces_of_each_group_together(spark: SparkSession, lake: Lake) -> None:
    suite = lake.suite("grouped.yml")
    traces = spark.read.parquet(lake.table)
    verdicts = mcptest.spark.judge(traces, suite, trace="trace", group="group", trace_id="id")
    assert lines(verdicts) == lake.scored(suite)


@pytest.mark.slow
def test_an_executor_that_is_killed_changes_no_row(spark: SparkSession, lake: Lake) -> None:
    suite = lake.suite("alone.yml")
    marks = lake.folder / "begun"
    marks.mkdir()

    def begin_slowly(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            (marks / str(time.time_ns())).touch()
            time.sleep(2)
            yield batch

    stored = spark.read.parquet(lake.table).repartition(6)
    traces = stored.mapInArrow(begin_slowly, stored.schema)
    verdicts = mcptest.spark.judge(traces, suite, trace="trace", group="group", trace_id="id")
    before = executors()
    assert len(before) == 2
    with ThreadPoolExecutor() as threads:
        judging = threads.submit(lambda: lines(verdicts))
        while not (judging.done() or any(marks.iterdir())):
            time.sleep(0.05)
        assert not judging.done(), judging.result()
        os.kill(before[0], signal.SIGKILL)
        assert judging.result() == lake.scored(suite)
    assert before[0] not in executors()


def executors() -> list[int]:
    """Return the processes of the executors that this process started, directly or indirectly."""
    parents = {}
    commands = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            status = (folder / "status").read_text()
            commands[int(folder.name)] = (folder / "cmdline").read_text()
        except OSError:
            continue
        fields = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
        if "Z" not in fields["State"]:
            parents[int(folder.name)] = int(fields["PPid"])

    def is_ours(process: int) -> bool:
        while process in parents:
            process = parents[process]
            if process == os.getpid():
                return True
        return False

    names = "CoarseGrainedExecutorBackend"
    return [process for process in parents if names in commands[process] and is_ours(process)]
