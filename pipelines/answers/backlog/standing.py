"""Where groups stand, by recordings and kept copies: who has a queue, and since when its offset did not move."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from pipelines.answers.offsets.record import Commits, GroupQueueKey
from pipelines.answers.offsets.saved import OffsetsAt


class QueueOwner(NamedTuple):
    """Who has a queue where the recordings end, or had it last.

    Attributes:
        clients: one, where that is certain; else all that may have it.
        since_ms: from then on at the latest that one client had it.
        until_ms: until then at the latest, where nobody has it any more.
    """

    clients: tuple[str, ...]
    is_certain: bool
    since_ms: int | None = None
    until_ms: int | None = None


class Standing(NamedTuple):
    """What is known of queues of groups besides what is unread."""

    owners: Mapping[GroupQueueKey, QueueOwner] = {}
    since_ms: Mapping[GroupQueueKey, int] = {}


def stands_since(
    stored: OffsetsAt, copies: Iterable[OffsetsAt], commits: Mapping[GroupQueueKey, Commits]
) -> dict[GroupQueueKey, int]:
    """Since when at least each offset of a table stands where it does, by older copies and recorded commits.

    Queues of which nothing older than the table tells are left out.
    """
    older = sorted((copy for copy in copies if copy.written_ms <= stored.written_ms), key=lambda copy: copy.written_ms)
    found = {}
    for (group, topic), queues in stored.offsets.items():
        of_topic = [(copy.written_ms, copy.offsets.get((group, topic), {})) for copy in older]
        for queue_id, offset in queues.items():
            seen = [(at_ms, queues_then.get(queue_id)) for at_ms, queues_then in of_topic]
            seen += _committed(commits.get((group, topic, queue_id)), stored.written_ms)
            since = _unmoved(sorted(seen, key=lambda one: one[0]), offset)
            if since is not None and since < stored.written_ms:
                found[group, topic, queue_id] = since
    return found


def _committed(commits: Commits | None, until_ms: int) -> Iterator[tuple[int, int]]:
    if commits is not None:
        yield from ((at, offset) for at, offset in zip(commits.at_ms, commits.offset, strict=True) if at <= until_ms)


def _unmoved(seen: list[tuple[int, int | None]], offset: int) -> int | None:
    """The earliest of the last instants at which the offset was there, one after another."""
    since = None
    for at_ms, then in reversed(seen):
        if then != offset:
            break
        since = at_ms
    return since
