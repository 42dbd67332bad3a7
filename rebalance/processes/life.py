"""The life of a process: what follows for it from everything else on record."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum, auto

from rebalance.facts import Evidence
from rebalance.model.frozen import frozen
from rebalance.model.timing import PAUSE_MS
from rebalance.processes.connection import WitnessKind
from rebalance.processes.process import Process, ProcessKey


class EndCause(Enum):
    """How a process ended, as its brokers saw it."""

    LEFT = auto()
    CLOSED = auto()
    EXPIRED = auto()


@frozen()
class End:
    """When a process's table ceased to be: not before `earliest_ms`, not after `latest_ms` (None: not known to have
    ended).
    """

    earliest_ms: int
    latest_ms: int | None
    cause: EndCause | None
    evidence: Evidence


@frozen(eq=False)
class Life:
    """A process, its end, and what of its life is not on record.

    Attributes:
        holes: spans (from, until; epoch ms) of the group's record in which nothing of it is known.
        seen_from_start: False: it may have held queues before the record began.
        rounds_missing: it asked for member lists that are not on record.
    """

    process: Process
    end: End
    holes: Sequence[tuple[int, int]] = ()
    seen_from_start: bool = True
    rounds_missing: bool = False

    @property
    def key(self) -> ProcessKey:
        return self.process.key

    @property
    def client_id(self) -> str:
        return self.process.key.client_id

    def may_last(self, at_ms: int) -> bool:
        """Whether the process is not known to have ended by then."""
        return self.end.latest_ms is None or at_ms <= self.end.latest_ms

    def registered_at(self, at_ms: int) -> bool:
        """Whether a broker had heard a heartbeat on one of its connections and not lost that connection since."""
        gone = self._gone_ms()
        if gone is not None and at_ms >= gone:
            return False
        return any(
            c.first_heartbeat_ms is not None
            and c.first_heartbeat_ms <= at_ms
            and (c.closed is None or at_ms < c.closed.latest_ms)
            for c in self.process.channels
        )

    def membership_edges(self) -> list[int]:
        """Instants at which `registered_at` may change, and the last at which it is known."""
        channels = self.process.channels
        begun = [c.first_heartbeat_ms for c in channels if c.first_heartbeat_ms is not None]
        closed = [c.closed.latest_ms for c in channels if c.closed is not None]
        gone = self._gone_ms()
        return [*begun, *closed, self.process.last_ms if gone is None else gone] if begun else []

    def _gone_ms(self) -> int | None:
        """When the brokers no longer had it as a member, if they were seen to lose it."""
        left_ms = self.process.left_by_ms
        return self.end.latest_ms if left_ms is None else left_ms

    def silences(self) -> list[tuple[int, int]]:
        """Spans longer than PAUSE_MS in which none of its connections nor its log shows a sign of life, though it
        went on.
        """
        unknown = [hole for hole in self.holes if self.process.first_ms < hole[0]]
        lively = sorted([*unknown, *(span for channel in self.process.channels for span in channel.lively_spans())])
        silent, until = [], lively[0][1]
        for begin, end in lively[1:]:
            if begin - until > PAUSE_MS and self._was_regular(until):
                silent.append((until, begin))
            until = max(until, end)
        return silent

    def _was_regular(self, at_ms: int) -> bool:
        """Whether regular signs of life could be expected: its requests are on record, or its log shows commits until
        then.
        """
        if self.process.captured:
            return True
        seen = (witness for witnesses in self.process.witnesses.values() for witness in witnesses)
        commits = (witness.at_ms for witness in seen if witness.kind is WitnessKind.COMMIT)
        return any(at_ms - PAUSE_MS // 2 <= commit_ms <= at_ms for commit_ms in commits)
