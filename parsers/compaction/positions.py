"""position-checkpoint: how far passes have come in each compacted queue."""

from __future__ import annotations

from collections.abc import Sequence

from parsers.config.document import odd_value, read_document
from parsers.config.values import int64
from parsers.damage.errors import DamageSink, report
from parsers.store.places import COMPACTION_POSITIONS
from parsers.store.store_file import QueueKey, StoreFile
from parsers.values.java import INT_MAX, parse_whole

NO_PASS = -1
"""The position of a queue that no pass has gone through. Source: CompactionPositionMgr#getOffset @5.3.3."""


def read_positions(files: Sequence[StoreFile], *, damage: DamageSink | None = None) -> dict[QueueKey, int] | None:
    """The last queue offset that a pass took in, by queue, from the files of a store's `config`.

    A queue without one has none: NO_PASS. None where neither the file nor its backup can be read: the broker then
    begins as if no pass had been, and nothing tells whether there were any.

    Source: store/kv/CompactionPositionMgr.java @5.3.3.
    """
    document = read_document(files, COMPACTION_POSITIONS[0], damage=damage)
    if document is None:
        return None
    positions: dict[QueueKey, int] = {}
    for name, stored in document.table("queueOffsetMap").items():
        topic, _, number = name.rpartition("_")
        queue_id, position = parse_whole(number, 0, INT_MAX), int64(stored)
        if queue_id is None or position is None:
            error = odd_value(document, f"queueOffsetMap.{name}", stored, "a queue and a queue offset")
            report(error, damage)
        else:
            positions[topic, queue_id] = position
    return positions
