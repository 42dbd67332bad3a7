"""A small store as a broker leaves it: records by the encoders, queues and index by the rebuild, config as JSON."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from parsers.checkpoints.checkpoint import CHECKPOINT, FILE_SIZE
from parsers.commitlog.record.layout import MAGIC_BLANK, RECORD_START
from parsers.commitlog.record.message import Message, encode_message
from parsers.commitlog.record.properties import encode_properties
from parsers.consumequeue.layout import CQ_UNIT
from recovery.rebuild.rebuild import rebuild
from recovery.rules.settings import StoreSettings
from recovery.rules.versions import BrokerVersion
from tests.support.new_message import new_message
from tests.support.opened import opened

FIRST_MS, STEP_MS = 1_795_000_000_000, 250
VERSION = BrokerVersion(5, 3, 3)
SETTINGS = StoreSettings.from_config(
    {
        "mappedFileSizeCommitLog": "4096",
        "mappedFileSizeConsumeQueue": "200",
        "maxHashSlotNum": "16",
        "maxIndexNum": "60",
    }
)


@dataclass(slots=True)
class StoreBuilder:
    """Messages put one after another, rolled over log files as a broker rolls them; `records` are their places."""

    root: Path
    settings: StoreSettings = SETTINGS
    version: BrokerVersion = VERSION
    base_offset: int = 0
    trailing_separator: bool = True
    records: list[Message] = field(default_factory=list)
    _next: dict[tuple[str, int], int] = field(default_factory=dict)
    _end: int = -1

    def put(
        self,
        topic: str = "Orders",
        queue_id: int = 0,
        *,
        sys_flag: int = 0,
        properties: tuple[tuple[str, str], ...] | None = None,
        queue_offset: int | None = None,
        body: bytes | None = None,
        reconsume_times: int = 0,
    ) -> Message:
        """Append one message with a key, a tag and a unique id unless `properties` says otherwise."""
        number = len(self.records)
        pairs = (("KEYS", f"k{number} all"), ("TAGS", "A"), ("UNIQ_KEY", f"{number:032X}"))
        placed = sys_flag & 0xC in (0, 8)
        offset = self._next.get((topic, queue_id), 0) if placed else 0
        message = new_message(
            topic,
            b"body of message %d" % number if body is None else body,
            queue_id=queue_id,
            queue_offset=offset if queue_offset is None else queue_offset,
            store_timestamp_ms=FIRST_MS + number * STEP_MS,
            born_timestamp_ms=FIRST_MS + number * STEP_MS,
            sys_flag=sys_flag,
            reconsume_times=reconsume_times,
            properties_stored=encode_properties(
                pairs if properties is None else properties, trailing_separator=self.trailing_separator
            ),
        )
        message = replace(message, physical_offset=self._place(message.total_size))
        if placed:
            self._next[topic, queue_id] = message.queue_offset + 1
        self._write(message.physical_offset, encode_message(message))
        self.records.append(message)
        self._end = message.physical_offset + message.total_size
        return message

    def _place(self, size: int) -> int:
        at = self.base_offset if self._end < 0 else self._end
        left = self.file_size - at % self.file_size
        if size + RECORD_START.size > left:
            self._write(at, RECORD_START.pack({"total_size": left, "magic_code": MAGIC_BLANK}))
            at += left
        return at

    @property
    def file_size(self) -> int:
        return self.settings.mapped_file_size_commit_log

    def _write(self, physical_offset: int, data: bytes) -> None:
        at = physical_offset % self.file_size
        path = self.root / "commitlog" / f"{physical_offset - at:020d}"
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("r+b" if path.exists() else "w+b") as file:
            file.truncate(self.file_size)
            file.seek(at)
            file.write(data)

    def finish(self) -> Path:
        """Add queues, index, checkpoint and config, and return the root: a store shut down in order."""
        made = self.root.parent / f"{self.root.name}-rebuilt"
        rebuild(*opened(self.root, self.version, self.settings), made)
        for folder in made.iterdir():
            os.replace(folder, self.root / folder.name)
        made.rmdir()
        times = [message.store_timestamp_ms for message in self.records]
        row = dict.fromkeys(CHECKPOINT.offsets, 0)
        row |= {"physic_msg_timestamp": times[-1], "logics_msg_timestamp": times[-1], "index_msg_timestamp": times[0]}
        (self.root / "checkpoint").write_bytes(CHECKPOINT.pack(row).ljust(FILE_SIZE, b"\0"))
        self._write_config()
        return self.root

    def _write_config(self) -> None:
        topics = {topic: {"topicName": topic, "perm": 6} for topic, _ in self._next}
        offsets = {f"{topic}@readers": {} for topic, _ in self._next}
        for (topic, queue_id), following in self._next.items():
            offsets[f"{topic}@readers"][str(queue_id)] = following
        write_json(self.root / "config" / "topics.json", {"topicConfigTable": topics})
        write_json(self.root / "config" / "consumerOffset.json", {"offsetTable": offsets})


def write_json(path: Path, content: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content))


def shop(root: Path, count: int = 60, *, base_offset: int = 0) -> StoreBuilder:
    """A builder with `count` messages: two topics, four queues, some of them transactional."""
    builder = StoreBuilder(root, base_offset=base_offset)
    for number in range(count):
        topic, queue_id = ("Orders", number % 3) if number % 4 else ("Payments", 0)
        builder.put(topic, queue_id, sys_flag={7: 4, 11: 12, 13: 8}.get(number % 17, 0))
    return builder


def overwrite(path: Path, at: int, data: bytes) -> None:
    """Damage: bytes of a file replaced in place."""
    content = bytearray(path.read_bytes())
    content[at : at + len(data)] = data
    path.write_bytes(content)


Damage = Callable[[Path], None]


def undispatched(root: Path, behind: int) -> None:
    """Take all units away that name messages at or after a place."""
    for path in (root / "consumequeue").rglob("[0-9]" * 20):
        content = bytearray(path.read_bytes())
        for at in range(0, len(content), CQ_UNIT.size):
            if CQ_UNIT.unpack(content, at)["physical_offset"] >= behind:
                content[at : at + CQ_UNIT.size] = bytes(CQ_UNIT.size)
        path.write_bytes(content)


def queue_file(root: Path, topic: str, queue_id: int, number: int = 0) -> Path:
    return sorted((root / "consumequeue" / topic / str(queue_id)).iterdir())[number]
