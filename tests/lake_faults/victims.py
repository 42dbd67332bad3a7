"""The processes of an ingest on Spark, all of one session of the system, and what may befall them."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from pathlib import Path

DRIVER, JAVA, WORKER, WORKERS = "the driver", "Java", "a worker", "the workers"
EVERYBODY = {
    "kill of the driver": (signal.SIGKILL, (DRIVER,)),
    "kill of Java": (signal.SIGKILL, (JAVA,)),
    "kill of a worker": (signal.SIGKILL, (WORKER,)),
    "kill of the workers": (signal.SIGKILL, (WORKERS,)),
    "kill of all": (signal.SIGKILL, (JAVA, WORKERS, DRIVER)),
    "interrupt": (signal.SIGINT, (DRIVER,)),
    "order to end": (signal.SIGTERM, (DRIVER,)),
}
"""What may befall whom; processes are ended in that order."""
LEAVE_S = 60.0


def processes(session: int) -> dict[int, str]:
    """Who is who in a session, by process id."""
    found = {}
    for place in Path("/proc").iterdir():
        if not place.name.isdigit():
            continue
        with suppress(OSError):
            told = (place / "stat").read_text().rpartition(")")[2].split()
            if int(told[3]) == session and told[0] != "Z":
                command = (place / "cmdline").read_bytes().decode(errors="replace")
                number = int(place.name)
                is_worker = "pyspark.daemon" in command or "pyspark/daemon" in command
                found[number] = DRIVER if number == session else WORKERS if is_worker else JAVA
    return found


def end(what: str, session: int, this_worker: int | None = None) -> None:
    """Let it befall a session. A worker ends itself; from outside it is the one that was started last."""
    number, whom = EVERYBODY[what]
    there = processes(session)
    workers = sorted(pid for pid, who in there.items() if who == WORKERS)
    last = [this_worker] if this_worker else workers[-1:]
    for name in whom:
        chosen = last if name == WORKER else [pid for pid, who in there.items() if who == name]
        for pid in sorted(chosen, key=lambda pid: pid == os.getpid()):
            with suppress(ProcessLookupError):
                os.kill(pid, number)


def left_after(session: int) -> list[str]:
    """Who has not ended a minute after the driver, and is ended then."""
    until = time.monotonic() + LEAVE_S
    while (there := processes(session)) and time.monotonic() < until:
        time.sleep(0.05)
    for pid in there:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return sorted(there.values())
