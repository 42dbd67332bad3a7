"""A start in few numbers: what two starts are compared by."""

from __future__ import annotations

from dataclasses import dataclass

from recovery.forecast.losses import LossCounts
from recovery.forecast.queue_rows import queue_rows
from recovery.start.restart import Restart

LOSSES = ("message", "queue_unit", "index_entries")


@dataclass(frozen=True)
class Outcome:
    """How a start ends.

    Attributes:
        starts: load() is true and start() returns; None where nothing of the start is decided.
        log_end: the CommitLog's end, None when the broker does not start.
        lost_messages, lost_units, lost_index: how many messages are lost, are in no queue, in no index file.
        readable_messages: of how many lost messages the record can be read from the files as they are now.
        losses_are_known: False of a DLedger's store, whose other replicas decide, where bytes that a repair moves away
            may have held messages, of a start that is not played to its end, where a queue's end is open, and where
            the database of queues is damaged.
        lost_config: how many topics, groups, offsets and delay levels the broker's configuration lacks then.
        renumbered: how many queues go on with a lower number than they had.
        destroyed_config: files of config/ whose content the start takes away.
        brought_back: messages of lives that are over, or may be, which queues have again.
        queue_ends: next queue offset of every queue, None where it is open.
        dispatched, bytes_checked: work done on the way.
    """

    starts: bool | None
    log_end: int | None
    lost_messages: int
    lost_units: int
    lost_index: int
    lost_config: int
    destroyed_config: int
    dispatched: int
    bytes_checked: int
    index_files_deleted: int
    queue_ends: tuple[tuple[str, int, int | None], ...]
    brought_back: int = 0
    readable_messages: int = 0
    renumbered: int = 0
    losses_are_known: bool = True

    @property
    def lost(self) -> dict[str, int]:
        return dict(zip(LOSSES, (self.lost_messages, self.lost_units, self.lost_index), strict=True))

    @property
    def lost_as_known(self) -> dict[str, int | None]:
        """`lost`, with None for 0 where losses are not known: a number is then what is lost at least."""
        return {what: count if count or self.losses_are_known else None for what, count in self.lost.items()}

    def is_better_than(self, other: Outcome) -> bool:
        """A start before none; then fewer messages lost, then less configuration, then fewer queues that go on with a
        lower number, then less in queues and index.

        What brings more deleted messages back is not better for what queues and index have more.
        """
        saves = self._badness[:-2] < other._badness[:-2]
        return self._badness < other._badness and (saves or self.brought_back <= other.brought_back)

    @property
    def _badness(self) -> tuple[bool, int, int, int, int, int]:
        lost = self.lost_messages, self.lost_config, self.renumbered, self.lost_units, self.lost_index
        return not self.starts, *lost


def outcome_of(played: Restart, counts: LossCounts, brought_back: int, renumbered: int) -> Outcome:
    """The numbers of a played start with these losses."""
    memory, lost = played.memory, counts.of
    config = None if played.is_open else played.config
    ends = ((row.topic, row.queue_id, row.max_queue_offset) for row in queue_rows(memory))
    return Outcome(
        starts=None if played.is_open else played.started,
        log_end=memory.commitlog.max_offset if played.started else None,
        lost_messages=lost["message"],
        lost_units=lost["queue_unit"],
        lost_index=lost["index_entries"],
        lost_config=0 if config is None else config.losses.count,
        destroyed_config=0 if config is None else len(config.destroys),
        dispatched=len(memory.dispatched),
        bytes_checked=memory.bytes_checked,
        index_files_deleted=len(memory.index.deleted),
        queue_ends=tuple(ends) if played.started and not played.not_played else (),
        brought_back=brought_back,
        renumbered=renumbered,
        readable_messages=counts.readable,
        losses_are_known=not (
            played.is_left_to_others or played.not_played or memory.undecided_queues or memory.queues_are_damaged
        ),
    )
