"""Units put in runs leave a queue as units put one by one do."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from parsers.consumequeue.layout import CQ_UNIT
from recovery.broker.consume_queue import Queue
from recovery.broker.mapped_file_queue import FileList, LogFile
from recovery.rules.dispatch import QueueUnit
from recovery.rules.versions import BrokerVersion

FILE_SIZE = 5 * CQ_UNIT.size
Row = tuple[int, int, int]
units = st.lists(
    st.tuples(st.integers(0, 60), st.integers(1, 9), st.integers(-7, 25) | st.just(1 << 60)), min_size=1, max_size=25
)


def _queue(start: list[Row], version: BrokerVersion) -> Queue:
    """A queue whose one file holds these units, recovered."""
    files = FileList(FILE_SIZE)
    queue = Queue("T", 0, files, version)
    if start:
        content = b"".join(
            CQ_UNIT.pack({"physical_offset": offset, "msg_size": size, "tags_code": 0}) for offset, size, _ in start[:5]
        )
        files.files.append(LogFile(f"{0:020d}", 0, FILE_SIZE, FILE_SIZE))
        files.files[0].wrote_position = 0
        files.files[0].append(content.ljust(FILE_SIZE, b"\0"))
        queue.recover()
    return queue


def _state(queue: Queue) -> tuple[object, ...]:
    files = [(file.name, file.wrote_position, bytes(file.content(file.wrote_position))) for file in queue.mapped.files]
    return queue.max_physical_offset, queue.min_position, queue.max_queue_offset, files


@given(
    start=units | st.just([]),
    rows=units,
    ordered=st.booleans(),
    version=st.sampled_from(["3.2.6", "4.4.0", "4.9.8", "5.3.3", "5.5.1"]),
)
def test_runs_and_single_puts_agree(start: list[Row], rows: list[Row], ordered: bool, version: str) -> None:
    rows = [(number * 10, size, at) for number, (_, size, at) in enumerate(rows)] if ordered else rows
    running = BrokerVersion.parse(version)
    single, many = _queue(start, running), _queue(start, running)
    for physical_offset, size, queue_offset in rows:
        single.put(QueueUnit("T", 0, queue_offset, physical_offset, size, 0))
    packed = np.array([(offset, size, 0) for offset, size, _ in rows], CQ_UNIT.dtype)
    many.put_many(packed, np.array([row[2] for row in rows], np.int64))
    assert _state(many) == _state(single)
