"""The minimum offset that a broker of one version answers for a queue, from the queue's files.

Source: ConsumeQueue#correctMinOffset @4.9.7 (`correct_min` of recovery/broker/consume_queue.py plays it), 5.0.0.
"""

from __future__ import annotations

from collections.abc import Sequence

from parsers.consumequeue.layout import CQ_UNIT
from parsers.consumequeue.summary import QueueSummary
from parsers.store import StoreFile
from recovery.rules.versions import BrokerVersion


def broker_minimum(found: QueueSummary, files: Sequence[StoreFile], version: BrokerVersion) -> int:
    """What the broker answers once it has been started: the first message that still exists, or 0 for a queue whose
    first file leads to none any more. Since 5.0.0 a queue without any message left says its maximum.

    Args:
        files: the queue's files in offset order; none for a queue that a database keeps.
    """
    is_empty = found.min_queue_offset == found.max_queue_offset
    if not files or (is_empty and version.searches_minimum_from_the_end):
        return found.min_queue_offset
    first_ends = (files[1].base_offset or 0) // CQ_UNIT.size if len(files) > 1 else found.max_queue_offset
    return found.min_queue_offset if found.min_queue_offset < first_ends else 0
