"""From when to when each log tells: the instants of its first and its last dated line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from rebalance.facts import Fact, LogBegins, LogEnds
from rebalance.facts.time_zone import of_unknown_zone

LogSpans = Mapping[str, tuple[int, int]]
"""Source of a log -> instants (epoch ms) of its first and its last dated line; several logs of a broker are one."""


def log_spans(edges: Iterable[Fact]) -> LogSpans:
    """LogSpans of the logs whose time zone is known."""
    begins: dict[str, int] = {}
    ends: dict[str, int] = {}
    for edge in edges:
        if of_unknown_zone(edge):
            continue
        if isinstance(edge, LogBegins):
            begins[edge.source] = min(edge.at_ms - edge.early_ms, begins.get(edge.source, edge.at_ms))
        elif isinstance(edge, LogEnds):
            ends[edge.source] = max(edge.at_ms, ends.get(edge.source, edge.at_ms))
    return {source: (begin, max(begin, ends.get(source, begin))) for source, begin in begins.items()}
