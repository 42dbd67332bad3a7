"""Who of a group shows when, and when nobody does: by source, which is a broker's capture or a client's log."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from rebalance.model.span import Span
from rebalance.model.timing import SILENT_MS
from rebalance.processes.connection import Channel, Connection
from rebalance.processes.process import Process


class Signs:
    """The instants at which anybody of a group shows, by source.

    Args:
        turns: when each broker started, and when it stopped.
        until_ms: the end of the record.
    """

    def __init__(
        self, processes: Iterable[Process], turns: Iterable[Mapping[str, Sequence[int]]], until_ms: int
    ) -> None:
        self._turns = tuple(turns)
        self._until_ms = until_ms
        self._connections: dict[str, list[Connection]] = {}
        self._instants: dict[str, list[int]] = {}
        for process in processes:
            for connection in process.connections:
                self._connections.setdefault(source_of(connection.channel), []).append(connection)

    @property
    def captures(self) -> list[str]:
        """Sources that are captures of a broker's requests."""
        return [source for source, told in self._connections.items() if is_captured(told)]

    def silences(self, source: str, first_ms: int, last_ms: int) -> Iterator[Span]:
        """The silences of a source that meet a span, whole."""
        instants = self._instants.get(source)
        if instants is None:
            instants = self._instants[source] = sorted(
                _instants_of(self._connections[source]).union(
                    *(turns.get(source, ()) for turns in self._turns), [self._until_ms]
                )
            )
        low, high = bisect_right(instants, first_ms), bisect_left(instants, last_ms)
        for begin, end in pairwise(instants[max(low - 1, 0) : high + 1]):
            if end - begin >= SILENT_MS:
                yield begin, end


def source_of(channel: Channel) -> str:
    """Whose record a connection, or a log's run, is known from."""
    return channel.broker or channel.remote.rpartition("#")[0]


def is_captured(connections: Iterable[Connection]) -> bool:
    """Whether requests are on record, and not only lines of a log."""
    return any(connection.channel.requests for connection in connections)


def _instants_of(connections: Iterable[Connection]) -> set[int]:
    instants: set[int] = set()
    for connection in connections:
        channel = connection.channel
        instants.update((channel.first_ms, channel.last_ms))
        instants.update([at_ms for at_ms, _ in channel.requests])
        instants.update(
            [answer.at_ms for answer in connection.lists], [answer.asked_at_ms for answer in connection.lists]
        )
        instants.update([result.at_ms for result in connection.results])
        instants.update(*channel.pauses)
        for seen in connection.witnesses.values():
            instants.update([witness.at_ms for witness in seen])
    return instants
