"""A start in few numbers: what two starts are compared by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from recovery.restart import Restart

LOSSES = ("message", "queue_unit", "index_entries")


@dataclass(frozen=True)
class Outcome:
    """How a start ends.

    Attributes:
        starts: load() is true and start() returns.
        log_end: the CommitLog's end, None when the broker does not start.
        lost_messages, lost_units, lost_index: how many messages are lost, are in no queue, in no index file.
        lost_config: how many topics, groups, offsets and delay levels the broker's configuration lacks then.
        destroyed_config: files of config/ whose content the start takes away.
        brought_back: messages of lives that are over, or may be, which queues have again.
        queue_ends: next queue offset of every queue.
        dispatched, bytes_checked: work done on the way.
    """

    starts: bool
    log_end: int | None
    lost_messages: int
    lost_units: int
    lost_index: int
    lost_config: int
    destroyed_config: int
    dispatched: int
    bytes_checked: int
    index_files_deleted: int
    queue_ends: tuple[tuple[str, int, int], ...]
    brought_back: int = 0

    @property
    def lost(self) -> dict[str, int]:
        return dict(zip(LOSSES, (self.lost_messages, self.lost_units, self.lost_index), strict=True))

    def is_better_than(self, other: Outcome) -> bool:
        """A start before none; then fewer messages lost, then less configuration, then less in queues and index.

        What brings more deleted messages back is not better for what queues and index have more.
        """
        saves = self._badness[:-2] < other._badness[:-2]
        return self._badness < other._badness and (saves or self.brought_back <= other.brought_back)

    @property
    def _badness(self) -> tuple[bool, int, int, int, int]:
        return not self.starts, self.lost_messages, self.lost_config, self.lost_units, self.lost_index


def outcome_of(played: Restart, lost: Mapping[str, int], brought_back: int) -> Outcome:
    """The numbers of a played start; `lost` counts its losses by what is lost."""
    memory, config = played.memory, played.config
    ends = ((topic, queue_id, queue.max_queue_offset) for (topic, queue_id), queue in memory.queues.items())
    return Outcome(
        starts=played.started,
        log_end=memory.commitlog.max_offset if played.started else None,
        lost_messages=lost.get("message", 0),
        lost_units=lost.get("queue_unit", 0),
        lost_index=lost.get("index_entries", 0),
        lost_config=0 if config is None else config.losses.count,
        destroyed_config=0 if config is None else len(config.destroys),
        dispatched=len(memory.dispatched),
        bytes_checked=memory.bytes_checked,
        index_files_deleted=len(memory.index.deleted),
        queue_ends=tuple(sorted(ends)) if played.started else (),
        brought_back=brought_back,
    )
