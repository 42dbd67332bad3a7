"""One writer per lake on an object store: a lease that its holder renews, since no system releases it for a dead
process.

The lease is one object, written on condition: it is made where none is, and replaced where its content is still the
one that was read. So of two processes that take it one gets it. A holder renews it every RENEW_S seconds. A holder that
has not renewed it for LEASE_S seconds, by the server's clock, counts as dead; one that died on this machine counts as
dead at once. A holder that was only suspended for so long loses its lease: it renews the lease before each commit, and
that fails. Should it commit in that very instant, the commit is still one to the version that it read, or none.
"""

from __future__ import annotations

import json
import os
import socket
import threading
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pipelines.lake.delta.errors import LakeBusy, LakeError
from pipelines.objects.place import Changed, ObjectPlace, Place

LEASE_NAME, CLOCK_NAME = "writer.lease", "writer.clock"
LEASE_S, RENEW_S = 120.0, 20.0
SURE_S = 5.0
"""For so long after it was renewed nobody can have taken a lease."""
LOOK_AGAIN_S = 1.0
FREE = b"{}"
"""Content of a lease that nobody holds."""

_held: dict[ObjectPlace, Lease] = {}
"""The leases of this process, by lake."""


@dataclass(slots=True)
class Lease:
    """A lease that this process holds, until it finds that it does not.

    `newest`: of tables that were looked at since, the file of the newest version, which nobody else can change.
    """

    place: ObjectPlace
    holder: Mapping[str, Any]
    e_tag: str
    renewed_at: float = field(default_factory=lambda: _clock())
    ended: threading.Event = field(default_factory=threading.Event)
    newest: dict[Place, Place | None] = field(default_factory=dict)
    _one_at_a_time: threading.Lock = field(default_factory=threading.Lock)

    def renew(self) -> None:
        """Write it again, on condition that nobody else did. Raises LakeError where somebody has, OSError."""
        with self._one_at_a_time:
            at = _clock()
            try:
                self.e_tag = self.place.write_if(_content(self.holder, uuid.uuid4().hex), self.e_tag)
            except Changed:
                now = _read(self.place)
                if now is None or now.token != self.holder["token"]:
                    raise LakeError(_lost(self.place)) from None
                self.e_tag = now.e_tag  # written by us; the answer was lost
            self.renewed_at = at

    def keep(self) -> None:
        """Renew it until the end. A server that does not answer now may answer the next time."""
        while not self.ended.wait(RENEW_S):
            with suppress(OSError):
                try:
                    self.renew()
                except LakeError:
                    return  # the next commit finds it, too

    def let_go(self) -> None:
        self.ended.set()
        with suppress(OSError, Changed), self._one_at_a_time:
            self.place.write_if(FREE, self.e_tag)


@dataclass(frozen=True, slots=True)
class _Found:
    """A lease as it is on the server: its holder, the tag of this content, when it was written (server's clock)."""

    holder: Mapping[str, Any]
    e_tag: str
    written_s: float

    @property
    def token(self) -> object:
        return self.holder.get("token")


@contextmanager
def leased(lake: ObjectPlace, doing: str, *, wait_s: float = 0) -> Iterator[None]:
    """Be the only process that writes to a lake; entered again within itself it holds at once.

    Raises:
        LakeBusy: another process has the lease.
        LakeError: the server keeps no conditions of writes.
        OSError: the server refuses.
    """
    if lake in _held:
        yield
        return
    lease = _taken(lake / LEASE_NAME, doing, time.monotonic() + wait_s)
    _held[lake] = lease
    threading.Thread(target=lease.keep, name="rocketlens-lease", daemon=True).start()
    try:
        yield
    finally:
        del _held[lake]
        lease.let_go()


def require_lease(place: Place) -> None:
    """Raise LakeError where a lake that this process has a lease of is somebody else's by now.

    Args:
        place: the lake, or a folder of it. Nothing is asked where no lease was taken.
    """
    for lake, lease in list(_held.items()):
        if f"{place}/".startswith(f"{lake}/") and _clock() - lease.renewed_at > SURE_S:
            lease.renew()


def newest_known(place: Place) -> dict[Place, Place | None] | None:
    """`Lease.newest` of the lake that a place is in, where this process holds its lease."""
    within = (lease.newest for lake, lease in _held.items() if f"{place}/".startswith(f"{lake}/"))
    return next(within, None)


def _taken(place: ObjectPlace, doing: str, until: float) -> Lease:
    while True:
        holder = {**_this_process(), "doing": doing, "since": _now(), "token": uuid.uuid4().hex}
        found = _read(place)
        age_s = None
        if found is None or not found.holder or _has_died(found.holder):
            free = True
        else:
            age_s = _server_clock(place.parent / CLOCK_NAME) - found.written_s
            free = age_s > LEASE_S
        if free:
            with suppress(Changed):
                return _proven(Lease(place, holder, _written(place, holder, found)))
        elif time.monotonic() >= until and found is not None and age_s is not None:
            raise _busy(place, found.holder, age_s)
        time.sleep(LOOK_AGAIN_S)


def _written(place: ObjectPlace, holder: Mapping[str, Any], found: _Found | None) -> str:
    """Write the lease; its tag. Raises Changed where another one was faster."""
    try:
        return place.write_if(_content(holder), None if found is None else found.e_tag)
    except Changed:
        now = _read(place)
        if now is None or now.token != holder["token"]:
            raise
        return now.e_tag  # written by us; the answer was lost


def _proven(lease: Lease) -> Lease:
    """A lease from a server that refuses a write whose condition does not hold: all that is written here rests on it.

    Raises LakeError.
    """
    for e_tag in (None, '"0123456789abcdef0123456789abcdef"'):
        with suppress(Changed):
            lease.place.write_if(_content(lease.holder), e_tag)
            lease.place.unlink()
            raise LakeError(
                f"{lease.place.parent}: the server of this object store writes over what is there although it was told "
                "not to (If-None-Match, If-Match): two commits at once would lose rows, so no lake can be there"
            )
    return lease


def _read(place: ObjectPlace) -> _Found | None:
    try:
        content, seen = place.read_with_tag()
    except FileNotFoundError:
        return None
    try:
        holder = json.loads(content)
    except ValueError:
        holder = {"doing": "what, it does not say"}
    return _Found(holder if isinstance(holder, dict) else {}, seen.e_tag, seen.st_mtime)


def _server_clock(place: ObjectPlace) -> float:
    """The time by the server's clock, taken from an object that is written now."""
    place.write_bytes(b"")
    return place.stat().st_mtime


def _busy(place: ObjectPlace, holder: Mapping[str, Any], age_s: float) -> LakeBusy:
    held_for = None
    with suppress(ValueError, KeyError, TypeError):
        held_for = datetime.now(UTC) - datetime.fromisoformat(holder["since"])
    who = f"process {holder.get('pid', '?')} on {holder.get('host', '?')}"
    left = max(0, round(LEASE_S - age_s))
    return LakeBusy(
        f"{place.parent}: {who} ({holder.get('doing')}, since {holder.get('since')}) writes to this lake: wait until "
        f"it has ended; if it was killed, the lake is free in {left} s",
        held_for,
    )


def _lost(place: ObjectPlace) -> str:
    return (
        f"{place.parent}: this process was not heard of for so long that another one writes to the lake by now; "
        "nothing more is committed: run the command again"
    )


def _content(holder: Mapping[str, Any], renewal: str = "") -> bytes:
    """The content of a lease, different at each renewal, since a tag may be a hash of it."""
    return json.dumps({**holder, "renewal": renewal}).encode()


def _this_process() -> dict[str, Any]:
    return {"pid": os.getpid(), "host": socket.gethostname(), **_life_of(os.getpid())}


def _life_of(pid: int) -> dict[str, str]:
    """What identifies a process among those of all machines; empty where the system does not say."""
    try:
        return {
            "boot": Path("/proc/sys/kernel/random/boot_id").read_text().strip(),
            "pids": os.readlink("/proc/self/ns/pid"),
            "started": Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19],
        }
    except (OSError, IndexError):
        return {}


def _has_died(holder: Mapping[str, Any]) -> bool:
    """Whether the holder was a process of this machine and no longer runs; unknown, so False, for other machines."""
    here, pid = _this_process(), holder.get("pid")
    if not here.get("boot") or type(pid) is not int or any(holder.get(key) != here[key] for key in ("boot", "pids")):
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except OSError:  # another user's
        return False
    return _life_of(pid).get("started", holder.get("started")) != holder.get("started")  # a number is used again


def _clock() -> float:
    """Seconds of a clock that goes on while the machine sleeps."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.time()


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
