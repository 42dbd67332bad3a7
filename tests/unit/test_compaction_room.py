"""How many keys a pass of a compacted queue has room for: known by version and processors, never taken for certain."""

from __future__ import annotations

import pytest

from recovery.compaction.next_pass import room
from recovery.rules.settings import StoreSettings
from recovery.rules.versions import BrokerVersion

KEYS = (100 << 20) // 24
"""Of maxOffsetMapSize at its default: 16 bytes of MD5 and a queue offset for each."""


@pytest.mark.parametrize(
    ("version", "threads", "least", "greatest"),
    [
        ("5.3.3", 6, KEYS // 6, KEYS),
        ("5.1.1", 0, KEYS, KEYS),
        ("5.1.0", 4, KEYS // 4, KEYS // 4),
        ("5.1.0", 0, KEYS // 8192, KEYS),
        ("5.1.0", 6, KEYS // 8192, KEYS),
    ],
)
def test_the_room_of_a_pass(version: str, threads: int, least: int, greatest: int) -> None:
    """5.1.0 has a thread for each processor unless told otherwise, and 6 is what nobody said."""
    found = room(StoreSettings(compaction_thread_num=threads), BrokerVersion.parse(version))
    assert found == (least, greatest)
