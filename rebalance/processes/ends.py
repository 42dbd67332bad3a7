"""Membership of a group at its brokers: who was registered, and when a process was last a member.

The broker's list changes by register, unregister and channel close (members are notified) and by the scan for
channels silent for 120 s (nobody is). A capture of requests shows the first two; a close or an expiry shows in the
lists it answers afterwards.
Source: ConsumerManager#registerConsumer, #unregisterConsumer, #doChannelCloseEvent, #scanNotActiveChannel; §3.1, §3.2.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence

from rebalance.model.settings import Settings
from rebalance.model.span import EVER
from rebalance.model.timing import BROKER_STOPPING_MS, SHUTDOWN_AFTER_MS, SHUTDOWN_BEFORE_MS
from rebalance.processes.connection import Channel, ListAnswer, WitnessKind
from rebalance.processes.life import End, EndCause
from rebalance.processes.process import Process


def ends_of(
    processes: Sequence[Process],
    starts: Mapping[str, Sequence[int]],
    stops: Mapping[str, Sequence[int]],
    settings: Settings,
) -> list[End]:
    """The end of each process of one group.

    Args:
        starts: per broker, the instants at which it came up with an empty list.
        stops: per broker, those at which it went down and closed every connection.
    """
    answers = sorted((a for p in processes for a in p.lists if a.client_ids is not None), key=lambda a: a.at_ms)
    by_client: dict[str, list[Process]] = {}
    for process in processes:
        by_client.setdefault(process.client_id, []).append(process)
    return [_end(process, by_client[process.client_id], answers, starts, stops, settings) for process in processes]


def _end(
    process: Process,
    same_id: Sequence[Process],
    answers: Sequence[ListAnswer],
    starts: Mapping[str, Sequence[int]],
    stops: Mapping[str, Sequence[int]],
    settings: Settings,
) -> End:
    left = process.left_ms
    if left is not None:
        finished = max((c.finished_ms for c in process.channels if c.finished_ms is not None), default=None)
        latest = left[1] + SHUTDOWN_AFTER_MS if finished is None else max(left[0], finished)
        return End(left[0] - SHUTDOWN_BEFORE_MS, latest, EndCause.LEFT, process.last_evidence)
    alive_ms = _surely_alive_ms(process)
    closed = max((c.closed for c in process.channels if c.closed is not None and not _by_stop(c, stops)), default=None)
    if closed is not None and closed.latest_ms >= process.last_ms:
        others_ms = [_cut_off_ms(channel, starts, stops) for channel in _never_closed(process)]
        if None not in others_ms:
            latest_ms = max([closed.latest_ms, *(at_ms for at_ms in others_ms if at_ms is not None)])
            return End(
                alive_ms,
                None if closed.expired else latest_ms,
                EndCause.EXPIRED if closed.expired else EndCause.CLOSED,
                closed.evidence,
            )
    gone = first_absence(process, same_id, answers, starts, process.last_ms)
    if gone is None:
        return End(alive_ms, None, None, process.last_evidence)
    silent_ms = gone.at_ms - max(
        (c.last_heartbeat_ms for c in process.channels if c.last_heartbeat_ms is not None), default=0
    )
    if silent_ms >= settings.channel_expired_timeout_ms:
        return End(alive_ms, None, EndCause.EXPIRED, gone.evidence)
    return End(alive_ms, gone.at_ms, EndCause.CLOSED, gone.evidence)


def _surely_alive_ms(process: Process) -> int:
    """The last request of a process that did not unregister: the Go client never does, and commits when it stops.

    Source: consumer/consumer.go#shutdown, internal/client.go#Shutdown of rocketmq-client-go v2.1.2.
    """
    last = max((seen[-1] for seen in process.witnesses.values()), key=lambda seen: seen.at_ms, default=None)
    goes = last is not None and last.kind is WitnessKind.COMMIT and last.at_ms >= process.last_ms
    return process.last_ms - SHUTDOWN_BEFORE_MS if goes else process.last_ms


def _by_stop(channel: Channel, stops: Mapping[str, Sequence[int]]) -> bool:
    """Whether a connection was closed by the broker that went down, not by its client."""
    assert channel.closed is not None
    return any(0 <= channel.closed.latest_ms - at_ms <= BROKER_STOPPING_MS for at_ms in stops.get(channel.broker, ()))


def _never_closed(process: Process) -> list[Channel]:
    """Connections to brokers of which no log shows any close, though it would show one."""
    closed = {channel.broker for channel in process.channels if channel.closed is not None}
    return [c for c in process.channels if c.broker not in closed and not c.is_log and not c.requests]


def _cut_off_ms(
    channel: Channel, starts: Mapping[str, Sequence[int]], stops: Mapping[str, Sequence[int]]
) -> int | None:
    """By when a connection was gone because its broker went down, as its stop or its next start tells; None: by
    nothing that is on record.
    """
    turns = (*starts.get(channel.broker, ()), *stops.get(channel.broker, ()))
    return min((at_ms for at_ms in turns if at_ms >= channel.last_ms), default=None)


def first_absence(
    process: Process,
    processes: Sequence[Process],
    answers: Sequence[ListAnswer],
    starts: Mapping[str, Sequence[int]],
    after_ms: int,
    until_ms: int = EVER,
) -> ListAnswer | None:
    """The first list in (after_ms, until_ms) that has no room for the process beside the others of its id."""
    same_id = [p for p in processes if p is not process and p.client_id == process.client_id]
    index = bisect_right(answers, after_ms, key=lambda a: a.at_ms)
    for answer in answers[index:]:
        if answer.at_ms >= until_ms:
            return None
        if answer.client_ids is None or not _registered_at(process, answer, starts):
            continue
        others = [p for p in same_id if p.last_ms > answer.at_ms and _registered_at(p, answer, starts)]
        if answer.client_ids.count(process.client_id) <= len(others):
            return answer
    return None


def _registered_at(process: Process, answer: ListAnswer, starts: Mapping[str, Sequence[int]]) -> bool:
    """Whether the process had registered with the answering broker since that broker's last start."""
    came_up = starts.get(answer.broker, ())
    index = bisect_right(came_up, answer.at_ms)
    since = came_up[index - 1] if index else 0
    return any(_heard(channel, answer, since) for channel in process.channels)


def _heard(channel: Channel, answer: ListAnswer, since_ms: int) -> bool:
    first, last = channel.first_heartbeat_ms, channel.last_heartbeat_ms
    return (
        channel.broker == answer.broker
        and first is not None
        and last is not None
        and first < answer.at_ms
        and last >= since_ms
    )
