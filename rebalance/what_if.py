"""A recorded membership under another strategy, with more clients, or with more queues."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from parsers.values.topics import is_retry
from rebalance.model import budget
from rebalance.model.message_queue import MessageQueue
from rebalance.ownership.history import Epoch, GroupHistory
from rebalance.replay import Replay
from rebalance.strategies.base import Strategy, StrategyError, sorted_inputs
from rebalance.strategies.registry import strategy_named

ADDED_CLIENT = "what-if-client"


@dataclass(frozen=True, slots=True)
class WhatIfRow:
    """One row per group, topic and span of unchanged membership: what that strategy gives there.

    `moved_queues` counts queues whose owners differ from the span before; `unowned` and `shared` those that no member
    or several members compute. Shares are queues per member, backlogs the messages that wait in them: of the member who
    has most, and of the one who has least. None where a queue's are not known.
    """

    group: str
    topic: str
    from_ms: int
    to_ms: int
    strategy: str
    members: int
    queues: int
    largest_share: int
    smallest_share: int
    moved_queues: int
    unowned: int
    shared: int
    largest_backlog: int | None = None
    smallest_backlog: int | None = None


Backlog = Mapping[tuple[str, MessageQueue], int]
"""How many messages wait for a group in a queue."""


def what_if(
    replay: Replay,
    *,
    strategy: str | None = None,
    params: Mapping[str, Any] | None = None,
    more_clients: int = 0,
    more_queues: int = 0,
    backlog: Backlog | None = None,
) -> list[WhatIfRow]:
    """Recomputes every span of membership; without arguments as it was, for comparison.

    Args:
        strategy: Java's `getName()`; None: the one each group was seen to use.
        params: its settings, as `strategy_named` takes them.
        more_clients: members added to every span, with ids that sort after all others.
        more_queues: queues added to every topic (retry topics apart) on each of its brokers; nothing waits in them.
        backlog: what waits, at one instant; queues that it lacks are unknown.
    Raises:
        ValueError: no such strategy, or a negative number.
        OverBudget: so many clients or queues that their shares do not fit into memory.
    """
    if more_clients < 0 or more_queues < 0:
        raise ValueError("more_clients and more_queues count what is added: not below 0")
    _require_room(replay, more_clients, more_queues)
    rows: list[WhatIfRow] = []
    for group in replay.groups:
        if not group.history.broadcasting:
            chosen = strategy_named(strategy or group.targets.usual, params)
            rows += _of_group(group.history, chosen, more_clients, more_queues, backlog or {})
    return rows


def _require_room(replay: Replay, more_clients: int, more_queues: int) -> None:
    """Raise OverBudget where the queues and shares of one topic would take too much memory."""
    for group in replay.groups:
        brokers = Counter((queue.topic, queue.broker_name) for queue in group.history.queues)
        topics = Counter(topic for topic, _ in brokers)
        known = Counter(queue.topic for queue in group.history.queues)
        members = max((len(epoch.members) for epoch in group.history.epochs()), default=0) + more_clients
        queues = max((known[topic] + topics[topic] * more_queues for topic in topics), default=0)
        cost = queues * budget.QUEUE_BYTES + members * (budget.QUEUE_BYTES + queues * budget.SHARE_BYTES)
        if cost > budget.BUDGET_BYTES:
            raise budget.OverBudget(
                f"{queues} queues of a topic among {members} members are more than there is room for: ask for fewer"
            )


def _of_group(
    history: GroupHistory, strategy: Strategy, more_clients: int, more_queues: int, backlog: Backlog
) -> Iterator[WhatIfRow]:
    for topic in history.topics():
        known = sorted(queue for queue in history.queues if queue.topic == topic)
        queues = known if is_retry(topic) else _with_more(known, more_queues)
        waiting = _waiting(history.group, known, queues, backlog)
        before: dict[MessageQueue, tuple[str, ...]] = {}
        for epoch in history.epochs():
            members = [*epoch.members, *(f"\uffff{ADDED_CLIENT}-{number}" for number in range(more_clients))]
            shares = _shares(strategy, history.group, members, queues)
            owners = _owners(members, shares, queues)
            moved = sum(bool(before) and before.get(queue) != owners[queue] for queue in queues)
            row = _row(history.group, topic, epoch, strategy.name, shares, owners, moved)
            yield row if waiting is None else _with_backlogs(row, shares, waiting)
            before = owners


def _waiting(
    group: str, known: list[MessageQueue], queues: list[MessageQueue], backlog: Backlog
) -> dict[MessageQueue, int] | None:
    """Messages by queue, of those that were added none; None where one is unknown."""
    if any((group, queue) not in backlog for queue in known):
        return None
    return {queue: backlog.get((group, queue), 0) for queue in queues}


def _with_backlogs(row: WhatIfRow, shares: list[list[MessageQueue]], waiting: Mapping[MessageQueue, int]) -> WhatIfRow:
    """The row with the backlogs of its shares; without them where a share has a queue of which nothing is known, as a
    list that is configured may."""
    if any(queue not in waiting for share in shares for queue in share):
        return row
    sums = [sum(waiting[queue] for queue in share) for share in shares]
    return replace(row, largest_backlog=max(sums), smallest_backlog=min(sums))


def _with_more(queues: list[MessageQueue], more: int) -> list[MessageQueue]:
    highest: dict[str, int] = {}
    for queue in queues:
        highest[queue.broker_name] = max(queue.queue_id, highest.get(queue.broker_name, -1))
    added = [
        MessageQueue(queues[0].topic, broker, top + number)
        for broker, top in highest.items()
        for number in range(1, more + 1)
    ]
    return sorted(queues + added)


def _shares(strategy: Strategy, group: str, members: list[str], queues: list[MessageQueue]) -> list[list[MessageQueue]]:
    """What each member computes; one that the strategy refuses computes nothing."""
    mq_all, cid_all = sorted_inputs(queues, members)
    shares = []
    for member in members:
        try:
            shares.append(strategy.allocate(group, member, mq_all, cid_all) or [])
        except StrategyError:
            shares.append([])
    return shares


def _owners(
    members: list[str], shares: list[list[MessageQueue]], queues: list[MessageQueue]
) -> dict[MessageQueue, tuple[str, ...]]:
    """Who computes each queue; an id that several processes share comes several times."""
    owners: dict[MessageQueue, list[str]] = {queue: [] for queue in queues}
    for member, share in zip(members, shares, strict=True):
        for queue in share:
            owners.setdefault(queue, []).append(member)
    return {queue: tuple(held) for queue, held in owners.items()}


def _row(
    group: str,
    topic: str,
    epoch: Epoch,
    strategy: str,
    shares: list[list[MessageQueue]],
    owners: dict[MessageQueue, tuple[str, ...]],
    moved: int,
) -> WhatIfRow:
    sizes = [len(share) for share in shares]
    held = Counter(len(by) for by in owners.values())
    return WhatIfRow(
        group, topic, epoch.from_ms, epoch.until_ms, strategy, len(shares), len(owners), max(sizes), min(sizes), moved,
        held[0], sum(count for by, count in held.items() if by > 1),
    )  # fmt: skip
