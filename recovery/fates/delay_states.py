"""What can become of a delayed message, why, and how far the broker says that it is with them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from parsers.config.offsets import read_delay_offsets
from parsers.damage.errors import Damage, DamageSink
from parsers.rocksdb.layout import TIMERS_READ, TIMERS_TAKEN
from parsers.rocksdb.message_records import read_notes
from parsers.store.store import Store
from parsers.timer.check import TIMER_CHECK, read_timercheck


class DelayState(StrEnum):
    """What became of a delayed message."""

    DELIVERED = "delivered"
    PENDING = "pending"
    ROLLED = "rolled"
    DELETED = "deleted"
    DELETION = "deletion"
    PASSED = "passed"
    UNKNOWN = "unknown"


STATES = tuple(DelayState)
DELIVERED, PENDING, ROLLED, DELETED, DELETION, PASSED, UNKNOWN = range(len(STATES))


class Reason(StrEnum):
    """Why a state is what it is, where that needs a word."""

    NONE = ""
    AGAIN = "the offset of its level, or timercheck, is not past it: a start on these files delivers it again"
    PASSED = (
        "the stored offset is past it and the log has no delivery of it: delivered by another broker, discarded, "
        "or lost with the end of a log"
    )
    PASSED_DAMAGE = "the stored offset is past it; its delivery may be in damaged or missing bytes behind it"
    TIME_PASSED = (
        "the wheel has been read past its time and the log has no delivery of it: delivered by another broker, "
        "discarded, or lost with the end of a log"
    )
    TIME_PASSED_DAMAGE = (
        "the wheel has been read past its time; its delivery may be in damaged or missing bytes behind it"
    )
    NO_OFFSETS = "no offset is stored for the level: a start begins with the queue's first message"
    UNREADABLE = "delayOffset.json cannot be read, and the log has no delivery of it"
    NO_TIMERCHECK = "there is no timercheck to tell how far the wheel was read, and the log has no delivery of it"
    NOT_TAKEN_IN = "not taken into the wheel yet"
    TAKEN_TWICE = (
        "in the timer log, and timercheck is not past it: a start takes it in once more, and delivers it twice"
    )
    DELETED = "a message that is due at the same time deletes this timer"
    PERHAPS_DELETED = (
        "a message names this timer to delete it, but is due at another time, came too late, or names it in a form "
        "that the broker's version does not take, or may not take where the version is not given"
    )


REASONS = tuple(Reason)


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the broker says that it is.

    Attributes:
        next_offset: delay level -> number of the next message to deliver; None: delayOffset.json cannot be read.
        read_ms: timers due before it are delivered; next_timer: number of the next timer message to take in.
            None: there is no timercheck. Where rocksdbstore takes timers in, what both wheel and database are past, and
            the further one's next message.
        is_whole: nothing of delayOffset.json is damaged; else it is not known what it said of levels that it lacks.
        unflushed: places of the timer messages in the timer log's files from timercheck's flush position on; None where
            rocksdbstore takes timers in, or there is no timercheck. A start reads them into the wheel, and takes in the
            messages that timercheck is not past. TimerMessageStore#recover @5.0.0 - 5.3.3.
    """

    next_offset: Mapping[int, int] | None
    read_ms: int | None
    next_timer: int | None
    is_whole: bool = True
    unflushed: npt.NDArray[np.int64] | None = None

    @classmethod
    def of(cls, store: Store, damage: DamageSink) -> Progress:
        """What config/delayOffset.json and config/timercheck say; their damage goes to `damage`."""
        broken: list[Damage] = []
        offsets = read_delay_offsets(store.config, damage=broken.append)
        for each in broken:
            damage(each)
        checks = [file for file in store.timer if file.kind == "timercheck" and file.size >= TIMER_CHECK.size]
        check = read_timercheck(checks[0], damage=damage) if checks else None
        told = [] if check is None else [(check["last_read_time_ms"], check["last_queue_offset"])]
        in_database = _timers_in_database(store, damage)
        told += in_database
        return cls(
            None if broken and not offsets else offsets,
            min((read_ms for read_ms, _ in told), default=None),
            max((next_timer for _, next_timer in told), default=None),
            is_whole=not broken,
            unflushed=None if check is None or in_database else _unflushed(store, check["last_flush_position"], damage),
        )


def _unflushed(store: Store, flushed: int, damage: DamageSink) -> npt.NDArray[np.int64]:
    from parsers.timer.log import read_timerlog

    files = [file for file in store.timer if file.kind == "timerlog" and (file.base_offset or 0) + file.size > flushed]
    batches = read_timerlog(files, damage=damage)
    places = [batch.column("physical_offset").to_numpy() for batch in batches]
    return np.concatenate(places) if places else np.empty(0, np.int64)


def _timers_in_database(store: Store, damage: DamageSink) -> list[tuple[int, int]]:
    """Until when timers of rocksdbstore were delivered, and the next one to take in; nothing where it took in none.

    Source: Timeline, TimerMessageRocksDBStore#start @5.4.0 - 5.5.1.
    """
    if store.message_database is None:
        return []
    notes = read_notes(store.message_database, damage=damage)
    return [(notes.get(TIMERS_READ, 0), notes[TIMERS_TAKEN])] if TIMERS_TAKEN in notes else []
