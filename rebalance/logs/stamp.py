"""The head of a log line: three layouts, two clocks, one zone that must be told or found.

| layout | who | resolution | zone |
| `2026-11-21 23:07:12 INFO thread - text` | brokers, name servers, client 4.1/4.2 | 1 s | GMT+8, fixed |
| `2026-11-21 15:09:35,889 INFO logger - text` | client 4.3.0 - 5.0.0 | 1 ms | the JVM's |
| `2026-11-21 23:07:12.907 INFO  [pid] [thread] [logger] - text` | client from 5.1.0 | 1 ms | GMT+8, fixed |
Clients 4.3.0 - 4.7.1 print the seconds again where the millis belong.
Source: rmq.broker.logback.xml, rmq.client.logback.xml, ClientLogger @4.4.0 - 5.3.3.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import NamedTuple

MINUTE_TEXT = 17
"""Length of `2026-11-21 23:07:`, which lines of one minute share."""
MESSAGE_MARK = b" - "
GMT_8_MS = 8 * 3_600_000
_WEST_MS, _EAST_MS = 12 * 3_600_000, 14 * 3_600_000  # all zones there are: GMT-12 .. GMT+14
_QUARTER_MS = 900_000  # zones differ by quarters of an hour
_MAX_MINUTES = 4_096


class Stamp(NamedTuple):
    """The line was written in [at_ms - early_ms, at_ms + late_ms], epoch milliseconds of the writing host's clock."""

    at_ms: int
    early_ms: int
    late_ms: int


class StampReader:
    """Reads line heads of one log, keeping the minute in hand.

    Args:
        jvm_zone_ms: east of GMT, for the layout that prints the JVM's zone. None: unknown, so such stamps are uncertain
            by all zones there are until `learn_zone` has seen evidence.
    """

    def __init__(self, jvm_zone_ms: int | None) -> None:
        self.jvm_zone_ms = jvm_zone_ms
        self.zone_given = jvm_zone_ms is not None
        self._minutes: dict[bytes, int] = {}
        self._millis_proven = False

    def minute_ms(self, line: bytes) -> int | None:
        """Local time of the line's minute, as if GMT; None if the line has no head (it continues the entry above)."""
        known = self._minutes.get(line[:MINUTE_TEXT])
        return known if known is not None else self._parse_minute(line)

    def _parse_minute(self, line: bytes) -> int | None:
        head = line[:MINUTE_TEXT]
        if head[4:5] != b"-" or line[19:20] not in (b" ", b",", b".") or MESSAGE_MARK not in line:
            return None
        try:
            minute = datetime.strptime(head.decode("ascii"), "%Y-%m-%d %H:%M:").replace(tzinfo=UTC)
        except ValueError:
            return None
        if len(self._minutes) >= _MAX_MINUTES:
            self._minutes.clear()
        minute_ms = self._minutes[head] = int(minute.timestamp()) * 1000
        return minute_ms

    def stamp(self, line: bytes, minute_ms: int) -> Stamp | None:
        """The instant of a line of that minute; None if its seconds are not numbers."""
        layout, seconds = line[19:20], line[17:19]
        if not seconds.isdigit():
            return None
        local_ms = minute_ms + 1000 * int(seconds)
        if layout == b" ":
            return Stamp(local_ms - GMT_8_MS, 0, 999)
        millis = line[20:23]
        if not millis.isdigit():
            return None
        if layout == b".":
            return Stamp(local_ms + int(millis) - GMT_8_MS, 0, 0)
        return self._jvm_stamp(local_ms, int(seconds), int(millis))

    def _jvm_stamp(self, local_ms: int, seconds: int, millis: int) -> Stamp:
        if seconds != millis:
            self._millis_proven = True
        if self._millis_proven:
            local_ms, late_ms = local_ms + millis, 0
        else:
            late_ms = 999
        if self.jvm_zone_ms is None:
            return Stamp(local_ms, _EAST_MS, _WEST_MS + late_ms)
        return Stamp(local_ms - self.jvm_zone_ms, 0, late_ms)

    def learn_zone(self, line: bytes, minute_ms: int, epoch_ms: int) -> None:
        """Take the zone from a line that prints its own instant as epoch milliseconds, unless the zone was given."""
        if not self.zone_given and line[19:20] == b",":
            self.jvm_zone_ms = zone_between(minute_ms, epoch_ms)


def zone_between(local_minute_ms: int, epoch_ms: int) -> int | None:
    """The zone (ms east of GMT) in which `epoch_ms` lies in that local minute; None if no zone fits."""
    zone_ms = round((local_minute_ms + 30_000 - epoch_ms) / _QUARTER_MS) * _QUARTER_MS
    fits = abs(local_minute_ms + 30_000 - epoch_ms - zone_ms) <= 60_000
    return zone_ms if fits and -_WEST_MS <= zone_ms <= _EAST_MS else None
