"""What happened to a group from outside: members that start, leave, vanish, fall silent; queues and brokers that come
and go.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from rebalance.facts import Evidence
from rebalance.model.timing import PAUSE_MS
from rebalance.ownership.history import GroupHistory
from rebalance.processes.ends import first_absence
from rebalance.processes.life import EndCause, Life

CLIENT_STARTED = "client_started"
CLIENT_LEFT = "client_left"
CLIENT_VANISHED = "client_vanished"  # its connection went without a farewell: killed, crashed, or cut off
CLIENT_SILENT = "client_silent"  # connected and mute: frozen, paused, or cut off
CLIENT_RESUMED = "client_resumed"
CLIENT_EXPIRED = "client_expired"  # removed by the broker's scan after 120 s of silence; nobody is notified
QUEUES_ADDED = "queues_added"
KIND_OF_END = {EndCause.LEFT: CLIENT_LEFT, EndCause.CLOSED: CLIENT_VANISHED, EndCause.EXPIRED: CLIENT_EXPIRED}
_SEEN_AS = {
    EndCause.LEFT: "asked to be unregistered",
    EndCause.CLOSED: "connection gone without unregister",
    EndCause.EXPIRED: "no heartbeat for 120 s",
}


@dataclass(frozen=True, slots=True)
class Incident:
    """One row:

    `subject` is the client id, topic or broker it happened to; the true instant lies in the window (epoch ms).
    """

    group: str
    kind: str
    subject: str
    process: int | None
    earliest_ms: int
    latest_ms: int
    detail: str
    evidence: str


def incidents_of(history: GroupHistory) -> list[Incident]:
    """All incidents of one group in time order."""
    found = [
        *(incident for life in history.lives for incident in _of_life(history.group, life)),
        *_expiries(history),
        *_queues_added(history),
        *_of_brokers(history),
    ]
    return sorted(map(_in_order, found), key=lambda i: (i.latest_ms, i.earliest_ms, i.kind, i.subject, i.process or 0))


def _in_order(incident: Incident) -> Incident:
    """Stamps that contradict each other leave a window, too: from the earlier to the later."""
    if incident.earliest_ms <= incident.latest_ms:
        return incident
    return replace(incident, earliest_ms=incident.latest_ms, latest_ms=incident.earliest_ms)


def _of_life(group: str, life: Life) -> Iterable[Incident]:
    client_id, number = life.key
    process, ended = life.process, life.end

    def incident(kind: str, earliest: int, latest: int, detail: str, evidence: Evidence) -> Incident:
        return Incident(group, kind, client_id, number, earliest, latest, detail, str(evidence))

    if life.seen_from_start:
        yield incident(CLIENT_STARTED, process.first_ms, process.first_ms, "first request", process.first_evidence)
    for begin, end in life.silences():
        yield incident(CLIENT_SILENT, begin, begin + PAUSE_MS, f"silent for {end - begin} ms", process.last_evidence)
        yield incident(CLIENT_RESUMED, end, end, f"silent for {end - begin} ms before", process.last_evidence)
    if ended.cause is not None:
        latest = ended.earliest_ms if ended.latest_ms is None else ended.latest_ms
        yield incident(KIND_OF_END[ended.cause], ended.earliest_ms, latest, _SEEN_AS[ended.cause], ended.evidence)


def _expiries(history: GroupHistory) -> Iterable[Incident]:
    """Silent clients that a broker dropped while they were silent, and that came back later."""
    processes = [life.process for life in history.lives]
    for life in history.lives:
        for begin, end in life.silences():
            gone = first_absence(life.process, processes, history.answers(), history.starts, begin, end)
            if gone is not None:
                yield Incident(
                    history.group, CLIENT_EXPIRED, *life.key,
                    begin + history.settings.channel_expired_timeout_ms, gone.at_ms, "dropped while silent",
                    str(gone.evidence),
                )  # fmt: skip


def _queues_added(history: GroupHistory) -> Iterable[Incident]:
    """Queue ids that come into use on a broker after the group had used others of the topic there."""
    spread_ms = history.settings.poll_name_server_interval_ms + history.settings.rebalance_wait_interval_ms
    by_broker: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for queue, at_ms in history.first_use.items():
        by_broker.setdefault((queue.topic, queue.broker_name), []).append((at_ms, queue.queue_id))
    for (topic, broker), used in sorted(by_broker.items()):
        used.sort()
        highest, begun = used[0][1], used[0][0]
        grown = [(at_ms, queue_id) for at_ms, queue_id in used if at_ms > begun + spread_ms // 2]
        new = [
            (at_ms, queue_id)
            for at_ms, queue_id in grown
            if queue_id > max((q for a, q in used if a < grown[0][0]), default=highest)
        ]
        if new:
            ids = ", ".join(str(queue_id) for queue_id in sorted(q for _, q in new))
            yield Incident(
                history.group, QUEUES_ADDED, topic, None, new[0][0] - spread_ms, new[0][0],
                f"{broker}: queues {ids}", _first_taken(history, topic, broker, new[0][0]),
            )  # fmt: skip


def _first_taken(history: GroupHistory, topic: str, broker: str, at_ms: int) -> str:
    """The evidence of the take-over that dates a first use."""
    taken = (
        str(tenure.begin_evidence)
        for queue, held in history.by_queue.items()
        if (queue.topic, queue.broker_name) == (topic, broker)
        for tenure in held
        if tenure.begin_latest == at_ms
    )
    return next(taken, "")


def _of_brokers(history: GroupHistory) -> Iterable[Incident]:
    for kind, broker, earliest, latest, evidence in history.broker_events:
        yield Incident(history.group, kind, broker, None, earliest, latest, "", str(evidence))
