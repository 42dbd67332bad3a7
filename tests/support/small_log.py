"""A CommitLog file of a few messages, built record by record, to be damaged in one known way."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from parsers.commitlog.record.layout import MAGIC_BLANK, RECORD_START
from parsers.commitlog.record.message import Message, encode_message
from parsers.commitlog.record.properties import encode_properties
from parsers.store.store_file import StoreFile, classify
from tests.support.new_message import new_message

FIRST_MS, STEP_MS = 1_795_000_000_000, 1000


@dataclass(slots=True)
class SmallLog:
    """Bytes of one file under construction; `places` are the file positions of the messages put so far."""

    size: int = 8192
    base_offset: int = 0
    content: bytearray = field(init=False)
    at: int = 0
    places: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.content = bytearray(self.size)

    def put(self, count: int = 1, *, body: bytes = b"some body", first_ms: int = FIRST_MS, shift: int = 0) -> None:
        """Append messages; `shift` is added to their own offsets, `first_ms` is the store time of the log's first."""
        for _ in range(count):
            record = encode_message(self._message(len(self.places), body, first_ms, shift))
            self.content[self.at : self.at + len(record)] = record
            self.places.append(self.at)
            self.at += len(record)

    def _message(self, number: int, body: bytes, first_ms: int, shift: int) -> Message:
        return new_message(
            "SomeTopic",
            body,
            queue_offset=number,
            physical_offset=self.base_offset + self.at + shift,
            store_timestamp_ms=first_ms + number * STEP_MS,
            born_timestamp_ms=first_ms + number * STEP_MS,
            properties_stored=encode_properties(
                [("KEYS", f"k{number}"), ("TAGS", "A"), ("UNIQ_KEY", f"{number:032X}")]
            ),
        )

    def end(self) -> None:
        """Close the file with an end-of-file record."""
        self.write(self.at, RECORD_START.pack({"total_size": self.size - self.at, "magic_code": MAGIC_BLANK}))
        self.at = self.size

    def write(self, at: int, content: bytes) -> None:
        self.content[at : at + len(content)] = content

    def save(self, folder: Path) -> StoreFile:
        """The file as `commitlog/<base offset>` of a store root."""
        path = folder / "commitlog" / f"{self.base_offset:020d}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(self.content)
        return classify(folder, path)
