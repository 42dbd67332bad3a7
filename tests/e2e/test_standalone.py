"""One ingest through a real Spark standalone cluster of two workers, and one in a single process: equal tables."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipelines.lake.lake import Lake
from pipelines.spark.standalone import alive_workers
from tests.lake_faults.world import World, content

pytestmark = pytest.mark.spark
ROCKETLENS = (sys.executable, "-c", "import sys; from pipelines.cli.app import main; sys.exit(main())")
TIMEOUT_S = 900
SHORT_LIVED = {"JAVA_TOOL_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}
"""For Java processes that end after some seconds: what they spend on better code is not earned back."""


@pytest.fixture(scope="module")
def command(tmp_path_factory: pytest.TempPathFactory) -> Iterator[subprocess.Popen[str]]:
    """`rocketlens cluster`, as a person starts it."""
    folder = tmp_path_factory.mktemp("cluster")
    running = subprocess.Popen(
        [*ROCKETLENS, "cluster", "--workers", "2", "--cores", "1", "--port", "0"],
        env={**os.environ, **SHORT_LIVED, "TMPDIR": str(folder)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    yield running
    if running.poll() is None:
        running.kill()
        running.wait()


def printed(running: subprocess.Popen[str]) -> str:
    """What the command says once its workers are there."""
    assert running.stdout is not None
    lines = []
    for line in running.stdout:
        lines.append(line)
        if line.startswith("spark_master"):
            break
    return "".join(lines)


def ingest(*command: str) -> subprocess.Popen[str]:
    environment = {**os.environ, **SHORT_LIVED}
    return subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def wait_for(ingesting: subprocess.Popen[str]) -> None:
    _, said = ingesting.communicate(timeout=TIMEOUT_S)
    assert ingesting.returncode in (0, 1), said


def test_a_cluster_makes_the_tables_that_one_process_makes(command: subprocess.Popen[str], tmp_path: Path) -> None:
    world = World.make(tmp_path)
    lakes = {name: tmp_path / "lakes" / name for name in ("here", "cluster")}
    here_told = world.config(lakes["here"], ["a"])
    here = ingest(sys.executable, "-m", "tests.lake_faults.plain_ingest", str(here_told))
    text = printed(command)
    pages = text.partition("Its pages: ")[2].splitlines()[0]
    assert alive_workers(pages) == 2
    master = tomllib.loads(text)["lake"]["spark_master"]
    told = world.config(lakes["cluster"], ["a"], spark_master=master)
    told.write_text(f'{told.read_text()}[spark]\nexecutor.memory = "600m"\npyspark.python = "{sys.executable}"\n')
    wait_for(ingest(*ROCKETLENS, "ingest", "--config-file", str(told)))
    wait_for(here)
    whole = {name: content(Lake(lake)) for name, lake in lakes.items()}
    assert whole["cluster"] == whole["here"]
    assert whole["here"]["commitlog_messages"][0] > 0

    children = processes_below(command.pid)
    assert len(children) >= 3
    command.send_signal(signal.SIGINT)
    assert command.wait(60) == 0
    assert command.stderr is not None
    assert command.stderr.read().endswith("the cluster has ended\n")
    assert not [pid for pid in children if Path(f"/proc/{pid}").exists()]


def processes_below(parent: int) -> list[int]:
    listed = subprocess.run(["ps", "-o", "pid=", "--ppid", str(parent)], capture_output=True, text=True, check=False)
    return [int(pid) for pid in listed.stdout.split()]
