"""The queue offsets that go to the next messages, made anew when a broker has loaded.

From the queues' ends; under duplicationEnable they are raised by the messages after the confirmed offset.
Source: ConsumeQueueStore#recoverOffsetTable, #compensateForHA, DefaultMessageStore#selectOneMessageByOffset
@5.3.1, 5.3.3, 5.5.1; DefaultMessageStore#recoverTopicQueueTable @4.9.8.
"""

from __future__ import annotations

from collections.abc import Iterator

from parsers.commitlog.record.layout import MAGIC_BLANK, MAGIC_V1, RECORD_START
from recovery.broker.mapped_file_queue import LoadFailed
from recovery.broker.memory import BrokerMemory
from recovery.rules.dispatch import DispatchRequest


def recover_offset_table(memory: BrokerMemory) -> None:
    """Next offsets from the queues' ends, then every queue's minimum; a database is asked when they are needed.

    Raises:
        LoadFailed: see `_raise_next_offsets`.
    """
    memory.next_offsets = {}
    if memory.database is not None:
        return
    for (topic, queue_id), queue in memory.queues.items():
        memory.next_offsets[f"{topic}-{queue_id}"] = queue.max_queue_offset
        queue.correct_min(memory.commitlog.min_offset)
    replicated = memory.settings.duplication_enable or memory.settings.enable_controller_mode
    if replicated and memory.version.checks_duplication_info:
        _raise_next_offsets(memory)


def _raise_next_offsets(memory: BrokerMemory) -> None:
    """Let every message from the confirmed offset on set its queue's next offset.

    Raises:
        LoadFailed: a record that is neither a V1 message nor a blank: a V2 message there stops the broker.
    """
    for request in _unconfirmed(memory):
        memory.next_offsets[f"{request.topic}-{request.queue_id}"] = request.queue_offset + 1


def _unconfirmed(memory: BrokerMemory) -> Iterator[DispatchRequest]:
    position = max(memory.confirmed_offset(), 0)
    while (found := _record_at(memory, position)) is not None:
        start, record = found
        if start > position:
            position = start
            continue
        if len(record) < RECORD_START.size:
            raise _failed(position, f"a size field of {len(record)}")
        head = RECORD_START.unpack(record)
        if head["magic_code"] == MAGIC_BLANK:
            position += head["total_size"]
            continue
        if head["magic_code"] != MAGIC_V1:
            raise _failed(position, f"magic code {head['magic_code'] & 0xFFFFFFFF:#010x}")
        checked = memory.check.at(record, 0, crc=True, duplication=memory.settings.duplication_enable)
        if checked.request is None:
            return
        yield checked.request
        position += checked.size


def _record_at(memory: BrokerMemory, position: int) -> tuple[int, memoryview] | None:
    """(log offset, bytes) of what the size field at `position` spans; None where that is not written."""
    file = memory.commitlog.find(position, first_if_missing=position == 0)
    if file is None:
        return None
    at = position % memory.commitlog.file_size
    written = file.stored[: file.wrote_position]
    if at + RECORD_START.fields[0].width > len(written):
        return None
    size = int.from_bytes(written[at : at + RECORD_START.fields[0].width], "big", signed=True)
    if size < 0:
        raise _failed(position, f"a size field of {size}")
    return None if at + size > len(written) else (file.base_offset + at, written[at : at + size])


def _failed(position: int, found: str) -> LoadFailed:
    return LoadFailed(
        "with duplicationEnable or enableControllerMode the records behind the confirmed offset are read again, "
        "and one is no V1 message",
        "ConsumeQueueStore#compensateForHA (RuntimeException)",
        f"log offset {position}: {found}",
    )
