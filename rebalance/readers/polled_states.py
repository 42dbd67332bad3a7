"""Polled snapshots and histories of broker configuration -> facts.

Polls: what administration commands answered (members of a group, a client's queue table, a topic's route), with the
time the answer came. Histories: copies of a broker's `topics.json` and `subscriptionGroup.json`, with their times.
Source: ConsumerConnection, ConsumerRunningInfo, TopicRouteData, TopicConfigManager, SubscriptionGroupManager @5.3.3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from rebalance.facts import (
    ConnectionsSeen,
    Evidence,
    Fact,
    GroupConfigSeen,
    GroupSettings,
    ListedMember,
    QueueTableSeen,
    RouteSeen,
    TopicQueues,
    UnreadRecord,
)
from rebalance.model.message_queue import MessageQueue
from rebalance.model.timing import POLL_ANSWER_MS
from rebalance.readers.malformed import MALFORMED, instant_of_any, why_not_read

Record = Mapping[str, Any]
_PERM_READ = 4
_GROUP_NOT_ONLINE = "CODE: 206"


def facts_from_polls(records: Iterable[Record], *, source: str, file: str = "") -> Iterator[Fact]:
    """Facts of polled answers; nothing raises.

    Args:
        records: `{ts, kind, group?, topic?, clientId?, body? | mqTable? | error?}`; `kind` is consumerConnection,
            consumerRunningInfo or topicRoute, others are passed over.
        source: the broker that was asked, where a record has no `broker`.
    """
    for number, record in enumerate(records, start=1):
        evidence = Evidence(file, number)
        try:
            yield from _poll(record, source, evidence)
        except MALFORMED as bad:
            reason = why_not_read(bad)
            yield UnreadRecord(at_ms=instant_of_any(record), source=source, evidence=evidence, reason=reason)


def facts_from_topics(snapshots: Iterable[tuple[int, Record]], *, source: str, file: str = "") -> Iterator[Fact]:
    """Readable queues per topic of one broker: at its first snapshot, then wherever they changed.

    Args:
        snapshots: (instant at which the copy was made, parsed `topics.json`), in order of time.
        source: the broker's name.
    """
    yield from _history(snapshots, source, file, _topic_rows, _route_seen)


def facts_from_groups(snapshots: Iterable[tuple[int, Record]], *, source: str, file: str = "") -> Iterator[Fact]:
    """Settings of each group on one broker, from copies of `subscriptionGroup.json`; see `facts_from_topics`."""
    yield from _history(snapshots, source, file, _group_rows, _group_seen)


def _poll(record: Record, source: str, evidence: Evidence) -> Iterator[Fact]:
    reader = _POLLS.get(record["kind"])
    if reader is None:
        return
    common: dict[str, Any] = {
        "at_ms": int(record["ts"]),
        "early_ms": POLL_ANSWER_MS,
        "source": str(record.get("broker") or source),
        "evidence": evidence,
    }
    if "error" in record and _GROUP_NOT_ONLINE not in str(record["error"]):
        yield UnreadRecord(**common, reason=f"the poll failed: {str(record['error'])[:200]}")
    else:
        yield reader(record, common)


def _connections(record: Record, common: dict[str, Any]) -> Fact:
    body: Record = record.get("body") or {}  # a group that is not online has no members
    rows = (
        ListedMember(str(row["clientId"]), str(row["clientAddr"]), row.get("version"))
        for row in body.get("connectionSet") or ()
    )
    connections = tuple(sorted(rows, key=lambda row: (row.client_id, row.remote)))
    return ConnectionsSeen(
        **common,
        group=str(record["group"]),
        connections=connections,
        message_model=body.get("messageModel"),
        topics=tuple(sorted(map(str, body.get("subscriptionTable") or ()))),
    )


def _queue_table(record: Record, common: dict[str, Any]) -> Fact:
    queues, dropped = [], []
    for topic, broker_name, queue_id, info in record.get("mqTable") or ():
        queue = MessageQueue(str(topic), str(broker_name), int(queue_id))
        queues.append(queue)
        if "droped=true" in info:  # Java's spelling
            dropped.append(queue)
    client_id = str(record["clientId"])
    return QueueTableSeen(
        **{**common, "source": client_id},  # the client itself answers, through the broker
        group=str(record["group"]),
        client_id=client_id,
        queues=tuple(sorted(queues, key=lambda mq: mq.order)),
        dropped=tuple(sorted(dropped, key=lambda mq: mq.order)),
    )


def _route(record: Record, common: dict[str, Any]) -> Fact:
    topic = str(record["topic"])
    rows = (
        TopicQueues(topic, str(row["brokerName"]), _readable(row))
        for row in (record.get("body") or {}).get("queueDatas") or ()
    )
    return RouteSeen(**common, topic=topic, queues=tuple(sorted(rows)))


_POLLS: dict[str, Callable[[Record, dict[str, Any]], Fact]] = {
    "consumerConnection": _connections,
    "consumerRunningInfo": _queue_table,
    "topicRoute": _route,
}


def _readable(row: Record) -> int:
    return int(row["readQueueNums"]) if int(row["perm"]) & _PERM_READ else 0


def _history(
    snapshots: Iterable[tuple[int, Record]],
    source: str,
    file: str,
    rows_of: Callable[[Record], dict[str, Any]],
    seen: Callable[[str, Any, dict[str, Any]], Fact],
) -> Iterator[Fact]:
    """A fact per name at the first snapshot (as of that instant), then one per change (since the snapshot before)."""
    known: dict[str, Any] | None = None
    known_ms = 0
    for number, (at_ms, document) in enumerate(snapshots, start=1):
        common: dict[str, Any] = {"at_ms": at_ms, "source": source, "evidence": Evidence(file, number)}
        try:
            rows = rows_of(document)
        except MALFORMED as bad:
            yield UnreadRecord(**common, reason=why_not_read(bad))
            continue
        common["early_ms"] = 0 if known is None else at_ms - known_ms
        before = known or {}
        for name in sorted(before.keys() | rows.keys()):
            if rows.get(name) != before.get(name):
                yield seen(name, rows.get(name), common)
        known, known_ms = rows, at_ms


def _topic_rows(document: Record) -> dict[str, Any]:
    return {str(topic): _readable(row) for topic, row in document["topicConfigTable"].items()}


def _route_seen(topic: str, read_queue_nums: Any, common: dict[str, Any]) -> Fact:
    queues = (TopicQueues(topic, common["source"], read_queue_nums or 0),)  # a topic that is gone has none
    return RouteSeen(**common, topic=topic, queues=queues, complete=False)


def _group_rows(document: Record) -> dict[str, Any]:
    return {
        str(group): (
            bool(row.get("consumeEnable", True)),
            bool(row.get("consumeBroadcastEnable", True)),
            bool(row.get("notifyConsumerIdsChangedEnable", True)),  # absent before 4.0: always on
            int(row.get("retryQueueNums", 1)),
        )
        for group, row in document["subscriptionGroupTable"].items()
    }


def _group_seen(group: str, row: Any, common: dict[str, Any]) -> Fact:
    return GroupConfigSeen(**common, group=group, settings=None if row is None else GroupSettings(*row))
