"""Measure what it costs to judge many traces, with each engine."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import traces

MARK = "MCPTEST_FLEET_BENCH"
"""The environment variable that marks the processes of a measurement."""
ROWS_OF_A_FILE = 25_000
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass
class Cost:
    """The cost of one engine."""

    seconds: float
    """Processor time of all processes."""
    megabytes: float
    """The highest sum of the memory of all processes, with shared pages counted once."""
    rows: int
    digest: str
    """The digest of the sorted rows."""


def write_lake(folder: Path, count: int) -> None:
    """Write traces as JSON Lines and as Parquet files."""
    (folder / "lake").mkdir(parents=True)
    (folder / "gates.yml").write_text(traces.ALONE)
    rows = traces.rows(count)
    with (folder / "traces.ndjson").open("w") as lines:
        for part in range(0, count, ROWS_OF_A_FILE):
            batch = list(islice(rows, ROWS_OF_A_FILE))
            lines.writelines(json.dumps(row) + "\n" for row in batch)
            table = pa.Table.from_pylist(batch)
            pq.write_table(table, folder / "lake" / f"part-{part:09}.parquet")


def judge_with_score(folder: Path) -> None:
    """Judge with the program."""
    with (folder / "rows").open("wb") as out:
        command = [os.environ["MCPTEST_BINARY"], "score", "gates.yml", "traces.ndjson"]
        subprocess.run(command, stdout=out, stderr=subprocess.DEVNULL, check=False)


def judge_in_python(folder: Path) -> None:
    """Judge the Parquet files one after the other in this process."""
    from mcptest import Suite

    suite = Suite.load("gates.yml")
    with (folder / "rows").open("wb") as out:
        for file in sorted((folder / "lake").iterdir()):
            out.write(suite.judge_lines(pq.read_table(file), "group", trace_id="id"))


def judge_on_spark(folder: Path) -> None:
    """Judge on a Spark cluster with two executors."""
    import pyspark
    from pyspark.sql import SparkSession

    import mcptest.spark

    os.environ["SPARK_HOME"] = str(Path(pyspark.__file__).parent)
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local-cluster[2,1,1024]")
    session = builder.config("spark.ui.enabled", "false").getOrCreate()
    stored = session.read.parquet(str(folder / "lake"))
    verdicts = mcptest.spark.judge(stored, "gates.yml", group="group", trace_id="id")
    verdicts.write.parquet(str(folder / "verdicts"))
    session.stop()


def judge_on_ray(folder: Path) -> None:
    """Judge on a Ray cluster with two nodes."""
    import ray
    from ray.cluster_utils import Cluster

    import mcptest.ray

    head = {"num_cpus": 1, "include_dashboard": False}
    nodes = Cluster(initialize_head=True, head_node_args=head)
    nodes.add_node(num_cpus=1)
    ray.init(address=nodes.address, log_to_driver=False)
    stored = ray.data.read_parquet(str(folder / "lake")).repartition(4)
    verdicts = mcptest.ray.judge(stored, "gates.yml", group="group", trace_id="id")
    verdicts.write_parquet(str(folder / "verdicts"))
    ray.shutdown()
    nodes.shutdown()


ENGINES = {
    "score": judge_with_score,
    "Python": judge_in_python,
    "Spark": judge_on_spark,
    "Ray": judge_on_ray,
}


def measure(engine: str, folder: Path) -> Cost:
    """Judge in another process, and watch it and all that it starts."""
    for left in ("rows", "verdicts"):
        subprocess.run(["rm", "-rf", str(folder / left)], check=True)
    command = [sys.executable, __file__, "--engine", engine, str(folder)]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    judging = subprocess.Popen(command, cwd=folder, env=os.environ | {MARK: engine}, **quiet)
    ticks: dict[int, int] = {}
    most = 0
    while judging.poll() is None:
        kilobytes = 0
        for process in Path("/proc").glob("[0-9]*"):
            try:
                if f"{MARK}={engine}".encode() not in (process / "environ").read_bytes():
                    continue
                fields = (process / "stat").read_text().rpartition(")")[2].split()
                ticks[int(process.name)] = int(fields[11]) + int(fields[12])
                shared = (process / "smaps_rollup").read_text()
            except OSError:
                continue
            kilobytes += int(shared.split("Pss:", 1)[1].split()[0])
        most = max(most, kilobytes)
        time.sleep(0.1)
    if judging.returncode != 0:
        raise SystemExit(f"{engine} ended with {judging.returncode}")
    count, digest = written(folder)
    return Cost(sum(ticks.values()) / TICKS, most / 1000, count, digest)


def written(folder: Path) -> tuple[int, str]:
    """Return the number of the rows that were written, and a digest that ignores their order."""
    from mcptest import verdict_lines

    count, total = 0, 0

    def add(line: bytes) -> None:
        nonlocal count, total
        count += 1
        digest = hashlib.blake2b(line, digest_size=16).digest()
        total = (total + int.from_bytes(digest, "big")) % (1 << 128)

    if (folder / "rows").exists():
        with (folder / "rows").open("rb") as lines:
            for line in lines:
                add(line.rstrip(b"\n"))
    for file in sorted((folder / "verdicts").glob("*.parquet")):
        for batch in pq.ParquetFile(file).iter_batches():
            for line in verdict_lines(batch):
                add(line.encode())
    return count, f"{total:032x}"


def main(counts: list[int]) -> None:
    """Print a table with a line for each engine and number of traces."""
    print("| traces | engine | processor | µs a trace | memory | rows |")
    print("|---|---|---|---|---|---|")
    for count in counts:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            write_lake(folder, count)
            costs = {engine: measure(engine, folder) for engine in ENGINES}
        for engine, cost in costs.items():
            each = 1e6 * cost.seconds / count
            numbers = f"{cost.seconds:.1f} s | {each:.1f} | {cost.megabytes:.0f} MB | {cost.rows:,}"
            print(f"| {count:,} | {engine} | {numbers} |", flush=True)
        if len({(cost.rows, cost.digest) for cost in costs.values()}) > 1:
            raise SystemExit(f"the engines gave different rows for {count:,} traces")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--engine"]:
        ENGINES[sys.argv[2]](Path(sys.argv[3]))
    else:
        main([int(count) for count in sys.argv[1:]] or [10_000])
