"""Where what a client did is not what its round should have given, each with its most likely cause."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rebalance.diagnosis.cause import (
    DUPLICATE_CLIENT_ID,
    LIST_FAILED,
    STRATEGY_DIFFERS,
    SUBSCRIPTION_DIFFERS,
    UNKNOWN,
    VIEWS_DIFFER,
)
from rebalance.diagnosis.targets import Settled, Targets
from rebalance.facts import RebalanceResultChanged
from rebalance.model.message_queue import Queues, sorted_queues
from rebalance.model.timing import ROUND_MS
from rebalance.ownership.history import GroupHistory
from rebalance.processes.connection import ListAnswer

ROUTE_LAG = "route_lag"  # the client worked with another queue list than the group's newest
LOCK_REFUSED = "lock_refused"


@dataclass(frozen=True, slots=True)
class Divergence:
    """One row:

    `expected` by the group's usual strategy on the newest queues, `observed` in the table or the client's log.
    """

    group: str
    topic: str
    client_id: str
    process: int
    at_ms: int
    expected: Queues
    observed: Queues
    cause: str
    detail: str
    evidence: str


def divergence_of(history: GroupHistory, targets: Targets) -> list[Divergence]:
    """All divergences of one group in time order. Broadcasting has no targets to diverge from."""
    if history.broadcasting:
        return []
    rows = [*_of_tables(history, targets), *_of_logs(history, targets)]
    told = (row for row in rows if not any(begin < row.at_ms < end for begin, end in history.gaps))
    return sorted(told, key=lambda row: (row.at_ms, row.topic, row.client_id, row.process, row.cause))


def _of_tables(history: GroupHistory, targets: Targets) -> Iterator[Divergence]:
    for settled in targets.settled:
        if not settled.views or targets.explains(targets.usual, settled) is settled.views[0]:
            continue
        expected = targets.target(targets.usual, settled, settled.views[0])
        if expected is not None and expected != settled.observed:
            cause, detail = _cause(history, targets, settled, expected)
            yield Divergence(
                history.group,
                settled.topic,
                *settled.life.key,
                settled.answer.at_ms,
                expected,
                settled.observed,
                cause,
                detail,
                str(settled.answer.evidence),
            )


def _cause(history: GroupHistory, targets: Targets, settled: Settled, expected: Queues) -> tuple[str, str]:
    missing = set(expected).difference(settled.observed)
    refused = sorted(
        {
            r.holder or "another client"
            for r in history.locks.refusals
            if r.client_id == settled.life.client_id
            and r.queue in missing
            and settled.answer.at_ms - ROUND_MS <= r.at_ms
        }
    )
    if refused:
        return LOCK_REFUSED, f"held by {', '.join(refused)}"
    view = targets.explains(targets.usual, settled)
    if view is not None:
        return ROUTE_LAG, f"as with {len(view.queues)} queues"
    if not settled.observed and targets.is_new_topic(settled):
        return ROUTE_LAG, "the topic is not in its route yet"
    answer = settled.answer
    other = targets.other_list(settled)
    if other is not None:
        return (
            VIEWS_DIFFER,
            f"{other.broker} listed {_size(other)} members in the same round, {answer.broker} {_size(answer)}",
        )
    own = targets.strategy_of[settled.life.key]
    if own is not None and own != targets.usual and targets.explains(own, settled) is not None:
        return STRATEGY_DIFFERS, f"{own}, the group's usual one is {targets.usual}"
    ids = settled.answer.client_ids or ()
    if not settled.observed and settled.topic not in settled.life.process.versions:
        return SUBSCRIPTION_DIFFERS, "it does not subscribe the topic"
    if len(set(ids)) < len(ids):
        return DUPLICATE_CLIENT_ID, f"{len(ids)} entries, {len(set(ids))} ids"
    away = [broker for broker in sorted(history.down) if history.is_down(broker, answer.at_ms)]
    if away:  # RebalanceImpl#rebalanceByTopic: no list, no change
        return LIST_FAILED, f"{', '.join(away)} was away: a topic that asks it for the members keeps its queues"
    return UNKNOWN, ""


def _size(answer: ListAnswer) -> int:
    return len(answer.client_ids or ())


def _of_logs(history: GroupHistory, targets: Targets) -> Iterator[Divergence]:
    """What a client's log says its round gave, against the member list and the strategy it names."""
    for life in history.lives:
        for result in life.process.results:
            shared = result.topic in history.pop_topics
            found = None if shared else _log_cause(history, targets, result)
            if found is not None:
                expected, cause, detail = found
                yield Divergence(
                    history.group,
                    result.topic,
                    *life.key,
                    result.at_ms,
                    expected,
                    sorted_queues(result.target),
                    cause,
                    detail,
                    str(result.evidence),
                )


def _log_cause(
    history: GroupHistory, targets: Targets, result: RebalanceResultChanged
) -> tuple[Queues, str, str] | None:
    """None: the log agrees with the recomputed target for the members known then."""
    members = history.members_at(result.at_ms)
    views = targets.views_now(result.topic, result.client_id, result.at_ms)
    if not views or not members:
        return None
    observed = sorted_queues(result.target)
    expected = targets.target_for(targets.usual, result.client_id or "", members, views[0])
    if expected is None or expected == observed:
        return None
    if result.cid_all_size is not None and result.cid_all_size != len(members):
        return expected, VIEWS_DIFFER, f"its list had {result.cid_all_size} members, {len(members)} were registered"
    if result.mq_all_size is not None and result.mq_all_size != len(views[0].queues):
        return expected, ROUTE_LAG, f"it knew {result.mq_all_size} queues of {len(views[0].queues)}"
    if result.strategy not in (None, targets.usual):
        return expected, STRATEGY_DIFFERS, f"{result.strategy}, the group's usual one is {targets.usual}"
    if len(set(members)) < len(members):
        return expected, DUPLICATE_CLIENT_ID, f"{len(members)} entries, {len(set(members))} ids"
    return expected, UNKNOWN, ""
