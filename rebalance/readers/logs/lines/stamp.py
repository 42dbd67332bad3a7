"""The head of a Java client's or a broker's log line: four layouts, two clocks, one zone that must be given or found.

| layout | who | resolution | zone |
| `2026-11-21 23:07:12 INFO thread - text` | brokers, name servers, client 4.1/4.2 | 1 s | GMT+8, fixed |
| `2026-11-21 15:09:35,889 INFO logger - text` | client 4.3.0 - 5.0.0 | 1 ms | the JVM's |
| `2026-11-21 23:07:12.907 INFO  [pid] [thread] [logger] - text` | client from 5.1.0 | 1 ms | GMT+8, fixed |
| `2026-11-21 15:07:12.907 [thread] INFO logger - text` | an application's own logger (slf4j) | 1 ms | the JVM's |
Clients 4.3.0 - 4.7.1 print the seconds again where the millis belong.
Source: rmq.broker.logback.xml, rmq.client.logback.xml, ClientLogger @4.4.0 - 5.3.3.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import NamedTuple

from rebalance.model.timing import ZONE_STEP_MS, ZONE_TOLD_MS

SECOND_TEXT = 20
"""Length of `2026-11-21 23:07:12` and the character that tells the layout; lines of one second share it."""
MESSAGE_MARK = b" - "
GMT_8_MS = 8 * 3_600_000
_MAX_SECONDS = 4_096
_SHADED_LOGBACK = re.compile(rb"\d{3} +[A-Z]+ +\[\d+\] \[")  # of clients from 5.1.0


class Second(NamedTuple):
    """One second of one log: its lines were written in [at_ms - early_ms, at_ms + late_ms], plus printed millis."""

    at_ms: int
    early_ms: int
    late_ms: int
    millis: bool


UNKNOWN_ZONE = Second(0, 14 * 3_600_000, 12 * 3_600_000, True)
"""What not knowing the zone does to an instant read as GMT: zones are GMT-12 to GMT+14."""


class StampReader:
    """Reads line heads of one log, keeping the seconds it has met.

    Args:
        jvm_zone_ms: east of GMT, for the layout that prints the JVM's zone. None: unknown, so such instants are
            uncertain by all zones there are until `learn_zone` has seen evidence.
    """

    def __init__(self, jvm_zone_ms: int | None) -> None:
        self.jvm_zone_ms = jvm_zone_ms
        self.zone_given = jvm_zone_ms is not None
        self.seconds: dict[bytes, Second] = {}
        self._millis_proven = False

    def second(self, line: bytes) -> Second | None:
        """The second of a line whose head is not in `seconds`; None if it has no head and continues the entry above."""
        head = line[:SECOND_TEXT]
        layout = head[19:20]
        if head[4:5] != b"-" or layout not in (b" ", b",", b".") or MESSAGE_MARK not in line:
            return None
        local_ms = _local_ms(head)
        if local_ms is None:
            return None
        if _in_jvm_zone(line):
            return self._jvm_second(line, local_ms)
        has_millis = layout == b"."
        return self._keep(head, Second(local_ms - GMT_8_MS, 0, 0 if has_millis else 999, has_millis))

    def _jvm_second(self, line: bytes, local_ms: int) -> Second:
        zone = UNKNOWN_ZONE if self.jvm_zone_ms is None else Second(self.jvm_zone_ms, 0, 0, True)
        at_ms, early_ms, late_ms = local_ms - zone.at_ms, zone.early_ms, zone.late_ms
        self._millis_proven = self._millis_proven or line[19:23] != b",0" + line[17:19]
        if self._millis_proven:
            return self._keep(line[:SECOND_TEXT], Second(at_ms, early_ms, late_ms, True))
        return Second(at_ms, early_ms, late_ms + 999, False)

    def _keep(self, head: bytes, second: Second) -> Second:
        if len(self.seconds) >= _MAX_SECONDS:
            self.seconds.clear()
        self.seconds[head] = second
        return second

    def learn_zone(self, line: bytes, epoch_ms: int) -> None:
        """Take the zone from a line that prints its own instant as epoch milliseconds, unless the zone was given."""
        local_ms = _local_ms(line[:SECOND_TEXT])
        if self.zone_given or not _in_jvm_zone(line) or local_ms is None:
            return
        zone_ms = zone_between(local_ms, epoch_ms)
        if zone_ms != self.jvm_zone_ms:
            self.jvm_zone_ms = zone_ms
            self.seconds.clear()


def zone_between(local_ms: int, epoch_ms: int) -> int | None:
    """The zone (ms east of GMT) that shows `epoch_ms` as that local second, within a minute; None if none does."""
    zone_ms = round((local_ms - epoch_ms) / ZONE_STEP_MS) * ZONE_STEP_MS
    fits = abs(local_ms - epoch_ms - zone_ms) <= ZONE_TOLD_MS
    return zone_ms if fits and -UNKNOWN_ZONE.late_ms <= zone_ms <= UNKNOWN_ZONE.early_ms else None


def _in_jvm_zone(line: bytes) -> bool:
    """Not one of the layouts whose zone is fixed."""
    layout = line[19:20]
    return layout == b"," or (layout == b"." and _SHADED_LOGBACK.match(line, SECOND_TEXT) is None)


def _local_ms(head: bytes) -> int | None:
    """The head's instant, as if it were GMT."""
    try:
        local = datetime.fromisoformat(head[:19].decode("ascii"))
    except ValueError:
        return None
    return int(local.replace(tzinfo=UTC).timestamp()) * 1000 if local.tzinfo is None else None
