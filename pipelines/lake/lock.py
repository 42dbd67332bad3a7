"""One writer per lake: a lock that ends with the process that holds it, and says who that is."""

from __future__ import annotations

import fcntl
import json
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from pipelines.lake.delta.errors import LakeBusy, LakeError
from pipelines.lake.delta.lease import leased
from pipelines.objects.place import ObjectPlace, Place

LOCK_NAME = "writer.lock"
LOOK_AGAIN_S = 0.2


_held: dict[Path, int] = {}
"""How often this process has entered the lock of each lake."""


@contextmanager
def writing(lake: Place, doing: str, *, wait_s: float = 0) -> Iterator[None]:
    """Be the only process that writes to a lake; entered again within itself it holds at once.

    The system releases the lock when the process ends, however it ends, so a dead holder blocks nobody. The file stays
    where it is and only says who has the lock. A lake on an object store has a lease instead
    (pipelines.lake.delta.lease).

    Args:
        doing: what the lock is taken for, for the sentence that another process gets.
        wait_s: seconds to wait for another writer.
    Raises:
        LakeBusy: another process has the lock.
        LakeError: the file system knows no locks.
    """
    if isinstance(lake, ObjectPlace):
        with leased(lake, doing, wait_s=wait_s):
            yield
        return
    place = lake.resolve() / LOCK_NAME
    if place in _held:
        _held[place] += 1
        try:
            yield
        finally:
            _held[place] -= 1
        return
    place.parent.mkdir(parents=True, exist_ok=True)
    with open(place, "a+", encoding="utf-8") as file:
        _take(file.fileno(), place, time.monotonic() + wait_s)
        _held[place] = 1
        try:
            _write(file.fileno(), {"pid": os.getpid(), "host": socket.gethostname(), "since": _now(), "doing": doing})
            yield
        finally:
            del _held[place]
            os.ftruncate(file.fileno(), 0)


def _take(file: int, place: Path, until: float) -> None:
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() >= until:
                holder, held_for = _holder(place)
                raise LakeBusy(
                    f"{place.parent}: {holder} writes to this lake: wait until it has ended", held_for
                ) from None
            time.sleep(LOOK_AGAIN_S)
        except OSError as refused:
            raise LakeError(f"{place}: the lake cannot be locked: {refused.strerror}") from refused


def _write(file: int, holder: dict[str, object]) -> None:
    os.ftruncate(file, 0)
    os.write(file, json.dumps(holder).encode())


def _holder(place: Path) -> tuple[str, timedelta | None]:
    """Who has the lock, and for how long, as far as the file says so."""
    try:
        told = json.loads(place.read_text("utf-8"))
        held_for = datetime.now(UTC) - datetime.fromisoformat(told["since"])
        return f"process {told['pid']} on {told['host']} ({told['doing']}, since {told['since']})", held_for
    except (OSError, ValueError, KeyError, TypeError):
        return "another process", None


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
