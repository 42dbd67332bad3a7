"""`rocketlens cluster`: a Spark standalone cluster of this machine, for trying what a real one will do."""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Annotated

import typer

from pipelines.cli.frame.asked.options import LAKE, TEXT
from pipelines.cli.frame.call.command import command
from pipelines.cli.frame.call.run import Run
from pipelines.cli.frame.errors import Unreadable, WrongUsage

if TYPE_CHECKING:
    from pipelines.spark.standalone import Shape, Standalone

MEMORY = re.compile(r"[1-9]\d*[mg]")
LOOKS_EVERY_S = 0.5
ENDS_US = (signal.SIGTERM, signal.SIGHUP)


@command("cluster", panel=LAKE, answer=TEXT)
def cluster(
    run: Run,
    workers: Annotated[int, typer.Option(metavar="N", min=1, max=64, help="How many workers.")] = 2,
    cores: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, max=1024, help="Cores of each; without it they share the machine's."),
    ] = None,
    memory: Annotated[str, typer.Option(metavar="SIZE", help="Memory of each for Spark's Java, as 2g or 512m.")] = "2g",
    port: Annotated[
        int, typer.Option(metavar="N", min=0, max=65535, help="The master's port; 0 takes a free one.")
    ] = 7077,
) -> None:
    """Start a Spark standalone cluster on this machine: a master and workers, from the installed pyspark.

    It is for trying: it listens on 127.0.0.1 alone, and whoever has an account on this machine can run programs through
    it. When the workers are there, what to put into rocketlens.toml is printed; then `rocketlens ingest` in another
    terminal works through it. It runs until it is interrupted (Ctrl-C), and every process of it ends with it.

    Example: `rocketlens cluster --workers 2`
    """
    from pipelines.cli.commands.lake.workbench import why_not_listening
    from pipelines.installed.extras import need

    need("pyspark")
    from pipelines.spark.java_home import NoJava
    from pipelines.spark.standalone import LOOPBACK, Shape, standalone

    if not MEMORY.fullmatch(memory):
        raise WrongUsage(f"--memory {memory}: a number with m or g behind it, as 2g")
    if port and (why := why_not_listening(LOOPBACK, port)):
        raise WrongUsage(f"--port {port}: {why}; name another port, or 0 for a free one")
    shape = Shape(workers, cores or max(1, (os.cpu_count() or 1) // workers), memory)
    run.note(f"starting a master and {workers} worker{'s' if workers > 1 else ''}")
    try:
        with _ends_when_told(), standalone(shape, port) as started:
            run.write_lines(_told(started, shape))
            run.output().flush()
            _until_it_ends(started)
    except KeyboardInterrupt:
        run.note("the cluster has ended")
    except NoJava as missing:
        raise Unreadable(str(missing)) from missing


def _told(started: Standalone, shape: Shape) -> list[str]:
    """What rocketlens.toml needs, as TOML with comments."""
    workers = f"{shape.workers} worker{'s' if shape.workers > 1 else ''}"
    cores = f"{shape.cores} core{'s' if shape.cores > 1 else ''}"
    return [
        f"# A Spark cluster of {workers}, {cores} and {shape.memory} each; Ctrl-C ends it.",
        f"# Its pages: {started.pages}",
        "# In rocketlens.toml:",
        "[lake]",
        f'spark_master = "{started.master}"',
    ]


def _until_it_ends(started: Standalone) -> None:
    """Return never, unless by an interrupt. Raises Unreadable when a process of the cluster ends by itself."""
    while (ended := started.ended()) is None:
        time.sleep(LOOKS_EVERY_S)
    raise Unreadable(f"{ended}; the rest of the cluster was ended too")


@contextmanager
def _ends_when_told() -> Iterator[None]:
    """Let the signals by which a terminal or a service ends this process end the cluster in order, as Ctrl-C does."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = {number: signal.signal(number, interrupt) for number in (*ENDS_US, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
