"""A Spark standalone cluster of this machine, for trying: one master and its workers, from the installed pyspark.

It listens on the loopback address alone. Every process of it ends with the one that started it.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

from pipelines.lake.delta.errors import WorkFailed
from pipelines.spark.java_home import ensure_java

LOOPBACK = "127.0.0.1"
MASTER, WORKER = "org.apache.spark.deploy.master.Master", "org.apache.spark.deploy.worker.Worker"
START_S = 180
END_S = 20
SET_PARENT_DEATH_SIGNAL = 1
"""PR_SET_PDEATHSIG of prctl(2)."""


@dataclass(frozen=True, slots=True)
class Shape:
    """How large a cluster is: workers, and of each its cores and its memory as Spark writes it (`2g`)."""

    workers: int
    cores: int
    memory: str


@dataclass(frozen=True, slots=True)
class Standalone:
    """A cluster that runs: the master's URL, the address of its pages, and the processes by what they are."""

    master: str
    pages: str
    processes: dict[str, subprocess.Popen[bytes]]

    def ended(self) -> str | None:
        """What has ended by itself, in words; None while all of it runs."""
        for name, process in self.processes.items():
            if (code := process.poll()) is not None:
                return f"the {name} has ended (exit code {code})"
        return None


@contextmanager
def standalone(shape: Shape, port: int = 0) -> Iterator[Standalone]:
    """Run a cluster while the context is open. Its workers are there when it begins.

    Args:
        port: the master's; 0 takes a free one.
    Raises:
        WorkFailed: a process ended, or the workers did not come within START_S seconds.
        NoJava: there is no Java that Spark runs on.
    """
    ensure_java()
    with ExitStack() as running:
        folder = tempfile.TemporaryDirectory(prefix="rocketlens-cluster-", ignore_cleanup_errors=True)
        yield _started(running, Path(running.enter_context(folder)), shape, port)


def _started(running: ExitStack, folder: Path, shape: Shape, port: int) -> Standalone:
    port, pages_port = port or free_port(), free_port()
    master, pages = f"spark://{LOOPBACK}:{port}", f"http://{LOOPBACK}:{pages_port}"
    cluster = Standalone(master, pages, {})

    def start(name: str, *arguments: str) -> None:
        process = _process(folder, name, arguments)
        running.callback(_end, process)
        cluster.processes[name] = process

    start("master", MASTER, "--host", LOOPBACK, "--port", str(port), "--webui-port", str(pages_port))
    _wait(cluster, folder, 0)
    of_one = ("--host", LOOPBACK, "--webui-port", "0", "--cores", str(shape.cores), "--memory", shape.memory)
    for number in range(1, shape.workers + 1):
        start(f"worker {number}", WORKER, *of_one, "--work-dir", str(folder / f"work-{number}"), master)
    _wait(cluster, folder, shape.workers)
    return cluster


def _process(folder: Path, name: str, arguments: tuple[str, ...]) -> subprocess.Popen[bytes]:
    import pyspark

    home = Path(pyspark.__path__[0])
    own = {"SPARK_HOME": str(home), "SPARK_LOG_DIR": str(folder), "SPARK_LOCAL_DIRS": str(folder)}
    with (folder / f"{name}.log").open("wb") as log:
        return subprocess.Popen(
            [str(home / "bin" / "spark-class"), *arguments],
            env={**os.environ, **own},
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,  # Ctrl-C in the terminal is for us, and we end them in order
            preexec_fn=_end_with_parent,
        )


def _end_with_parent() -> None:
    """Between fork and exec: let the system end this process when the one that started it is gone, however it went."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(SET_PARENT_DEATH_SIGNAL, signal.SIGTERM)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ask a process to end, and see that it does."""
    process.terminate()
    try:
        process.wait(END_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _wait(cluster: Standalone, folder: Path, workers: int) -> None:
    """Return when the master knows so many living workers. Raises WorkFailed."""
    end = time.monotonic() + START_S
    while alive_workers(cluster.pages) < workers:
        if (ended := cluster.ended()) is not None:
            raise WorkFailed(f"the cluster did not start: {ended}: {_last_words(folder)}")
        if time.monotonic() > end:
            raise WorkFailed(f"the cluster did not start within {START_S} s: {_last_words(folder)}")
        time.sleep(0.2)


def alive_workers(pages: str) -> int:
    """The living workers that a master's pages tell of; -1 while nothing answers there."""
    try:
        with urlopen(f"{pages}/json/", timeout=5) as answer:
            return int(json.load(answer)["aliveworkers"])
    except (URLError, OSError, ValueError, KeyError):
        return -1


def _last_words(folder: Path) -> str:
    """The last line that speaks of an error in the logs of all processes, else the last line of all."""
    lines = [line for log in sorted(folder.glob("*.log")) for line in log.read_text("utf-8", "replace").splitlines()]
    spoken = [line for line in lines if "ERROR" in line or "Exception" in line or "rror:" in line] or lines
    return spoken[-1].strip() if spoken else "it said nothing"


def free_port() -> int:
    """A port of the loopback address that nothing listens on now."""
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        return int(probe.getsockname()[1])
