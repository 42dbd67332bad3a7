"""timercheck: how far the timers have come.

Source: store/timer/TimerCheckpoint.java @5.3.3.
"""

from __future__ import annotations

from parsers.damage.errors import DamageSink, StoreFormatError, report
from parsers.evidence.mapped import map_file
from parsers.layouts.layout import Field, Layout
from parsers.store.store_file import StoreFile

TIMER_CHECK = Layout(
    "timercheck",
    "store/timer/TimerCheckpoint.java @5.3.3",
    Field("last_read_time_ms", "q", "timers due before it have been delivered"),
    Field("last_flush_position", "q", "timerlog byte up to which it was flushed"),
    Field("last_queue_offset", "q", "queue offset of the next timer message to take in"),
    Field("master_queue_offset", "q", "the same of the master"),
    Field("state_version", "q", "DataVersion"),
    Field("timestamp_ms", "q", "DataVersion"),
    Field("counter", "q", "DataVersion"),
)


def read_timercheck(file: StoreFile, *, damage: DamageSink | None = None) -> dict[str, int] | None:
    """The seven numbers of TIMER_CHECK; None where they cannot be read.

    Raises (or hands to `damage`): TruncatedRecord, UnreadableFile.
    """
    try:
        return TIMER_CHECK.unpack(map_file(file.path))
    except StoreFormatError as error:
        report(error.in_file(file.path), damage)
        return None
