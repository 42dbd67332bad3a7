"""A store that was copied without its files' times: what those times would tell is not known.

A broker writes its first log file before, and no file a minute after, the newest message in it; so does what `cp -a`,
`rsync -t` or `tar` copies. Where every file was changed later than the newest message, the times are those of a copy.
"""

from __future__ import annotations

from dataclasses import dataclass

from parsers.damage.errors import unheard
from parsers.queues.store_queues import StoreQueues
from parsers.store.store import Store
from parsers.values.utc import utc_text
from recovery.scan.log_access import NO_TIME, LogAccess

LATE_WRITE_MS = 60_000
"""How much later than its newest message a file may be changed: mapped pages reach the disk in the background."""
CALENDAR_ENDS_MS = 253402300799999


@dataclass(frozen=True, slots=True)
class TimesLost:
    """Epoch milliseconds of the newest message, and of the file that was changed first."""

    newest_message_ms: int
    first_change_ms: int

    @property
    def reason(self) -> str:
        return (
            f"the files' times are those of a copy: none was changed before {utc_text(self.first_change_ms)}, and the "
            f"newest message is of {utc_text(self.newest_message_ms)}"
        )


def times_lost(store: Store, newest_ms: int) -> TimesLost | None:
    """What shows that the store was copied without times; None where nothing does.

    `newest_ms`: store time of the newest message; 0 without any.
    """
    changed = [file.mtime_ns // 1_000_000 for file in store.files() if file.kind != "not_understood"]
    if not newest_ms or not store.commitlog or min(changed) <= newest_ms + LATE_WRITE_MS:
        return None
    return TimesLost(newest_ms, min(changed))


def copied_without_times(store: Store) -> TimesLost | None:
    """`times_lost`, from the newest message of the store's own queues."""
    with StoreQueues(store, damage=unheard) as queues:
        return times_lost(store, newest_message_ms(queues, LogAccess(store.commitlog)))


def newest_message_ms(queues: StoreQueues, log: LogAccess) -> int:
    """Store time of the newest message that a queue points to, those beyond the calendar left out; 0 without any."""
    newest = 0
    for queue in queues.values():
        pointer = queue.last_pointer()
        stored_ms = NO_TIME if pointer is None else log.store_timestamp_ms(*pointer)
        newest = max(newest, stored_ms) if stored_ms <= CALENDAR_ENDS_MS else newest
    return newest
