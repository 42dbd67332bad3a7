"""Ingests in processes of their own: forked from this one, which only imports, so that each begins at once."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

from pipelines.spark import session
from tests.lake_faults.strikes import Strike
from tests.support.cli import call
from tests.support.plain_spark import plain_spark


def forked(body: Callable[[], int]) -> int:
    """Run a body in a process of its own; its process id. It ends with what the body returns."""
    child = os.fork()
    if child:
        return child
    code = 99
    try:
        code = body()
    finally:
        os._exit(code)


def ended(child: int) -> int:
    """The exit code of a process, or minus the signal that ended it."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def ingest(config: Path, strike: Strike | None = None, *, wait_s: float = 0, say: Path | None = None) -> int:
    """Start `rocketlens ingest` without Java; its process id. `say` gets what it says on stderr."""

    def body() -> int:
        if strike is not None:
            strike.arm()
        session.spark_session = plain_spark
        done = call("ingest", "--config-file", config, "--wait", str(wait_s))
        if say is not None:
            say.write_text(done.err)
        return done.code

    return forked(body)


def killed_after(child: int, seconds: float) -> int:
    """Kill a process at an instant, if it still runs; how it ended."""
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)  # not waited for yet, so the number is still its own
    return ended(child)
