"""What every fact has: an instant with its spread, who said so, and where it was read."""

from __future__ import annotations

from typing import NamedTuple

from rebalance.model.frozen import frozen


class Evidence(NamedTuple):
    """Where a fact was read: `record` is the line or record number in `file`, counted from 1 (0: the whole file)."""

    file: str
    record: int

    def __str__(self) -> str:
        return f"{self.file}:{self.record}" if self.file else ""


NO_EVIDENCE = Evidence("", 0)


@frozen(kw_only=True)
class Fact:
    """The true instant lies in [at_ms - early_ms, at_ms + late_ms], epoch milliseconds UTC on the reader's reference
    clock.

    A line stamped to the second has `late_ms=999`. `source` names who recorded it: a broker's name, or a client's id
    or log name.
    """

    at_ms: int
    source: str
    evidence: Evidence = NO_EVIDENCE
    early_ms: int = 0
    late_ms: int = 0


@frozen(kw_only=True)
class GroupFact(Fact):
    """A fact about one consumer group. Everything but a broker's life and a topic's queues is one."""

    group: str


@frozen(kw_only=True)
class LogBegins(Fact):
    """The first dated line of the log of `source`, whatever it says: nothing before it is on record there."""


@frozen(kw_only=True)
class LogEnds(Fact):
    """The last dated line of the log of `source`, whatever it says: until then it tells all it has to tell.

    `moved` entries of it stood after later ones, and were put back in order; it may be that
    its clock went back by `back_ms` instead.
    """

    moved: int = 0
    back_ms: int = 0


@frozen(kw_only=True)
class UnreadRecord(Fact):
    """A record that could not be used, and why. Counted and sampled in the answer, never dropped silently."""

    reason: str
