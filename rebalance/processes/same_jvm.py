"""Connections -> processes: which connections of a client id belong to one JVM, and where a new process began.

A client id can be shared by several processes (equal instance names) and a process can use several connections (one per
broker, a new one after a reconnect). RemotingCommand's opaque tells them apart: one counter per JVM, from 0, over all
its connections.
"""

from __future__ import annotations

from collections.abc import Iterable

from rebalance.model.timing import RECONNECT_MS, REORDER_MS, STRAGGLER_MS
from rebalance.processes.connection import Channel, Connection
from rebalance.processes.process import Process, joined

_REORDER_REQUESTS = 64
_INVERSIONS = 2


def processes_of(connections: Iterable[Connection]) -> list[Process]:
    """All processes of a group, ordered by client id, then by appearance.

    A connection that never names its client (an administration tool's) belongs to no process.
    """
    by_client: dict[str, list[Connection]] = {}
    for connection in connections:
        if connection.channel.client_id:
            by_client.setdefault(connection.channel.client_id, []).append(connection)
    return [
        joined(mine, number)
        for client_id in sorted(by_client)
        for number, mine in enumerate(_by_process(by_client[client_id]), start=1)
    ]


def _by_process(connections: Iterable[Connection]) -> list[list[Connection]]:
    """Connections of one client id, grouped by process, processes in order of appearance."""
    processes: list[list[Connection]] = []
    for connection in sorted(connections, key=_appearance):
        new = connection.channel
        fitting = [
            old
            for old in processes
            if not any(_conflict(one.channel, new) for one in old) and _one_counter([one.channel for one in old], new)
        ]
        if fitting:
            max(fitting, key=lambda old: _last_use_ms(old, new.first_ms)).append(connection)
        else:
            processes.append([connection])
    return processes


def _appearance(connection: Connection) -> tuple[int, str, str]:
    return connection.channel.first_ms, connection.channel.broker, connection.channel.remote


def _last_use_ms(connections: Iterable[Connection], begun_ms: int) -> int:
    return max(one.channel.last_ms for one in connections if one.channel.first_ms <= begun_ms)


def _conflict(old: Channel, new: Channel) -> bool:
    if old.is_log and new.is_log:
        return True  # one log run, one process
    if new.from_start and old.first_ms < new.first_ms - RECONNECT_MS:
        return True  # in use before the process of that log began
    if old.unregistered_ms is not None and old.unregistered_ms + _farewell_ms(new) < new.first_ms:
        return True
    return not old.is_log and old.broker == new.broker and old.last_ms > new.first_ms + RECONNECT_MS


def _farewell_ms(new: Channel) -> int:
    """How long after it left one broker a process may first reach another, to leave that one too.

    Its request numbers tell it from a process that starts at once with the same client id.
    Source: MQClientInstance#unregisterClient asks every broker of its table, connected or not.
    """
    return STRAGGLER_MS if new.requests else 0


def _one_counter(process: list[Channel], new: Channel) -> bool:
    """Whether the request numbers of both can come from one rising counter."""
    if not new.requests:
        return True
    points = sorted(
        [point for channel in process for point in channel.requests if point[0] <= new.last_ms] + new.requests
    )
    inversions = 0
    highest_ms, highest = points[0]
    for at_ms, number in points:
        if number > highest:
            highest_ms, highest = at_ms, number
        elif number < highest - _REORDER_REQUESTS and at_ms > highest_ms + REORDER_MS:
            return False
        elif number < highest and at_ms > highest_ms + REORDER_MS:
            inversions += 1
            if inversions >= _INVERSIONS:
                return False
    return True
