"""The commands that are asked of an input, and how one call is watched: how it ends, how long, what it touches."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from tests.fuzz.commands.inputs import Input
from tests.support.cli import Called, call

ENDINGS = {0, 1, 2, 3, 4}
MOST_SECONDS = 20
OFTEN = (
    ("dump", "commitlog", "{place}"),
    ("dump", "regions", "{place}"),
    ("dump", "consumequeue", "{place}"),
    ("queues", "{place}"),
    ("lag", "{place}"),
    ("verify", "{place}"),
    ("rebuild", "{place}", "--to", "{out}/rebuilt"),
)
"""What is compared with each other."""
OF_A_STORE = (
    ("topics", "{place}"),
    ("lives", "{place}", "--kept", "{place}"),
    ("groups", "{place}", "--offsets", "{file}", "--format", "table"),
    ("forecast", "{place}", "--no-advice"),
    ("forecast", "{place}", "--version", "4.9.7", "--format", "table"),
    ("forecast", "{place}", "--version", "5.3.3"),
    ("verify", "{place}", "--deep", "--format", "table"),
    ("verify", "{place}", "--explained", "--version", "5.3.3"),
    ("compare", "{place}", "{place}"),
    ("compare", "{place}", "{place}", "--rows", "--version", "4.9.7", "--group-size", "5"),
    ("dump", "commitlog", "{place}", "--bodies", "--out", "{out}/x.parquet"),
    ("dump", "commitlog", "{place}", "--format", "csv", "--topic", "Orders"),
    ("dump", "commitlog", "{place}", "--decode"),
    ("dump", "commitlog", "{file}"),
    ("dump", "consumequeue", "{file}"),
    ("dump", "index", "{place}"),
    ("dump", "index", "{place}", "--headers", "--format", "table"),
    ("dump", "checkpoint", "{place}"),
    ("dump", "epochs", "{place}"),
    ("dump", "timer", "{place}"),
    ("dump", "timer", "{place}", "--slots"),
    ("dump", "rocksdbstore", "{place}"),
    ("dump", "config", "{place}"),
    ("dump", "config", "{place}", "--table", "topic_configs", "--format", "table"),
    ("dump", "dledger", "{place}"),
    ("tiered", "{place}", "--segments", "{place}"),
    ("explain", "{file}", "--format", "table", "--limit", "200"),
    ("explain", "{file}", "--at", "{number}", "--count", "2"),
    ("find", "{place}", "--topic", "Orders", "--key", "all"),
    ("find", "{place}", "--message-id", "7F00000100002A9F0000000000000000"),
    ("offset-at", "{place}", "--topic", "Orders", "--queue", "1", "--at", "1795000004000"),
    ("lag", "{place}", "--at", "1795000004000"),
    ("lag", "{place}", "--offsets", "{file}"),
    ("watch", "{place}", "--times", "1", "--format", "table"),
    ("episodes", "{place}", "--offsets", "{place}/config", "--least", "1"),
    ("episodes", "{place}", "--offsets", "{file}", "--status", "--format", "table"),
    ("retention", "{place}", "--now", "1795000004000", "--disk-percent", "{percent}"),
    ("retention", "{place}", "--format", "table"),
    ("traces", "{place}"),
    ("traces", "{place}", "--messages", "--trace-topic", "Orders", "--format", "table"),
    ("pop", "{place}"),
    ("pop", "{place}", "--messages", "--format", "table"),
    ("pop", "{place}", "--now", "1795000004000"),
    ("pop", "{place}", "--revive", "--offsets", "{file}"),
    ("who", "{place}", "--message-id", "7F00000100002A9F0000000000000000", "--offsets", "{file}"),
    ("report", "{place}", "--out", "{out}/report.html"),
    ("queues", "{place}", "--broker-conf", "{conf}", "--format", "table"),
    ("forecast", "{place}", "--broker-conf", "{conf}"),
    ("verify", "{place}", "--broker-conf", "{conf}"),
    ("rebuild", "{place}", "--to", "{out}/by-conf", "--broker-conf", "{conf}"),
    ("queues", "{place}", "--out", "{inside}"),
    ("rebuild", "{place}", "--to", "{place}/new"),
)
OF_RECORDINGS = (
    ("replay", "{place}"),
    ("replay", "{place}", "--show", "anomalies", "--format", "table"),
    ("replay", "{place}", "--show", "divergence"),
    ("replay", "{place}", "--show", "store"),
    ("replay", "{place}", "--show", "unrecognised", "--format", "csv"),
    ("replay", "{place}", "--show", "notes", "--at", "1795282181249"),
    ("replay", "{file}", "--broker", "b"),
    ("what-if", "{place}", "--more-clients", "1"),
    ("what-if", "{place}", "--strategy", "CONSISTENT_HASH", "--more-queues", "3", "--format", "table"),
    ("replay", "{place}", "--out", "{inside}"),
)


class TooSlow(BaseException):
    """A command took more CPU time than any of this size may; not caught by what turns faults into sentences."""


class Fault(AssertionError):
    """What must not be, of which input and command."""


def asked(given: Input, command: tuple[str, ...], out: Path) -> Called:
    """One call.

    Raises:
        Fault: an ending that is none of ours, words of Python's, or too much time.
    """
    words = {
        "place": given.place,
        "out": out,
        "file": given.chance.choice(given.files) if given.files else given.place / "none",
        "inside": given.chance.choice(given.inside) if given.inside else given.place / "none",
        "conf": given.folder / "broker.conf",
        "number": given.chance.randrange(1 << given.chance.randrange(1, 40)),
        "percent": given.chance.randrange(101),
    }
    told = [word.format(**words) for word in command]
    try:
        with at_most(MOST_SECONDS):
            called = call(*told)
    except TooSlow:
        raise Fault(f"{told}: more than {MOST_SECONDS} s of CPU time") from None
    except BaseException as raised:
        raise Fault(f"{told}: {type(raised).__name__}: {raised}") from raised
    if called.code not in ENDINGS:
        raise Fault(f"{told}: exit code {called.code}: {called.err}")
    if strange := words_of_python(called.err):
        raise Fault(f"{told}: {strange!r} on stderr: {called.err}")
    return called


PYTHONS = (
    "Traceback",
    "fault of rocketlens",
    "KeyError",
    "TypeError",
    "ValueError",
    "IndexError",
    "AttributeError",
    "object has no attribute",
    "NoneType",
    "list index out of range",
    "invalid literal",
    "codec can't",
    "string indices",
    "not subscriptable",
    "Exceeds the limit",
    "[Errno",
    "\x1b",
)


def words_of_python(said: str) -> str | None:
    return next((word for word in PYTHONS if word in said), None)


@contextmanager
def at_most(seconds: int) -> Iterator[None]:
    """End the block with TooSlow when it takes more CPU time."""

    def end(number: int, frame: FrameType | None) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGVTALRM, end)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
