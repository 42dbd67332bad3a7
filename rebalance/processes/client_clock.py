"""How far the clocks of a record and of its clients are apart, where only the record of brokers is there to tell.

A subVersion is the client's own clock when its queues changed; the heartbeat that carries it follows at once. One
heard before it was made proves that the client's clock is ahead. One heard late may have waited for the next heartbeat,
or for a broker that was away, so a clock behind shows only in changes well apart that agree on it.
Source: RebalancePushImpl#messageQueueChanged, ConsumerGroupInfo#updateSubscription.
"""

from __future__ import annotations

from collections.abc import Iterable

from rebalance.model.frozen import frozen
from rebalance.model.timing import CLOCK_AGREED_MS, CLOCK_APART_MS, CLOCK_CHANGES_MS
from rebalance.processes.process import Process

_CHANGES = 3


@frozen()
class HeardChange:
    """A subVersion (epoch ms, client's clock) and how much later it was heard (broker's clock less client's)."""

    sub_version: int
    delay_ms: int


def changes_of(process: Process) -> list[HeardChange]:
    """The changes of a process; its first subVersion of a topic is none, but the time its subscription was built."""
    return [
        HeardChange(heard.sub_version, heard.heard_ms - heard.sub_version)
        for versions in process.versions.values()
        for heard in versions[1:]
    ]


def ahead_ms(changes: Iterable[HeardChange]) -> int | None:
    """How far the client's clock is ahead, at least (below 0: behind); None: not shown to be by CLOCK_APART_MS."""
    first = sorted(changes, key=lambda change: change.delay_ms)[:_CHANGES]
    if not first or abs(first[0].delay_ms) < CLOCK_APART_MS:
        return None
    made = [change.sub_version for change in first]
    agreed = first[-1].delay_ms - first[0].delay_ms <= CLOCK_AGREED_MS and max(made) - min(made) >= CLOCK_CHANGES_MS
    return -first[0].delay_ms if first[0].delay_ms < 0 or (agreed and len(first) == _CHANGES) else None
