"""Connections -> processes: which connections of a client id belong to one JVM, and where a new process began.

A client id can be shared by several processes (equal instance names) and a process can use several connections (one per
broker, a new one after a reconnect). RemotingCommand's opaque tells them apart: one counter per JVM, from 0, over all
its connections.
"""

from __future__ import annotations

from collections.abc import Iterable

from rebalance.processes.process import ChannelUse

_REORDER_MS = 1_000  # requests of one process may be handled out of order by this much
_REORDER_REQUESTS = 64
_OVERLAP_MS = 1_000  # a client leaves its old connection before it uses the next one to the same broker
_INVERSIONS = 2


def processes_of(channels: Iterable[ChannelUse]) -> list[list[ChannelUse]]:
    """Channels of one client id, grouped by process, processes in order of appearance."""
    processes: list[list[ChannelUse]] = []
    for channel in sorted(channels, key=lambda c: (c.first_ms, c.broker, c.remote)):
        fitting = [p for p in processes if not any(_conflict(old, channel) for old in p) and _one_counter(p, channel)]
        if fitting:
            max(fitting, key=lambda p: max(c.last_ms for c in p if c.first_ms <= channel.first_ms)).append(channel)
        else:
            processes.append([channel])
    return processes


def _conflict(old: ChannelUse, new: ChannelUse) -> bool:
    if old.is_log and new.is_log:
        return True  # one log run, one process
    if new.from_start and old.first_ms < new.first_ms - _OVERLAP_MS:
        return True  # in use before the process of that log began
    if old.unregistered_ms is not None and old.unregistered_ms < new.first_ms:
        return True
    return not old.is_log and old.broker == new.broker and old.last_ms > new.first_ms + _OVERLAP_MS


def _one_counter(process: list[ChannelUse], new: ChannelUse) -> bool:
    """Whether the request numbers of both can come from one rising counter."""
    if not new.requests:
        return True
    points = sorted(
        [point for channel in process for point in channel.requests if point[0] <= new.last_ms] + new.requests,
    )
    inversions = 0
    highest_ms, highest = points[0]
    for at_ms, number in points:
        if number > highest:
            highest_ms, highest = at_ms, number
        elif number < highest - _REORDER_REQUESTS and at_ms > highest_ms + _REORDER_MS:
            return False
        elif number < highest and at_ms > highest_ms + _REORDER_MS:
            inversions += 1
            if inversions >= _INVERSIONS:
                return False
    return True
