"""A small DLedger log as a node writes it: entries with headers, their index, currterm and checkpoint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from parsers.commitlog.dledger_headers.entry import EntryHeader, encode_header, new_header
from parsers.commitlog.dledger_headers.layout import (
    BLANK_SIZE_MIN,
    ENTRY_INDEX_UNIT,
    ENTRY_START,
    HEADER_SIZE,
    MAGIC_BLANK,
)
from parsers.commitlog.record.message import Message, encode_message
from parsers.store.store_file import StoreFile, classify

NODE = "dledger-n0"
INDEX_FILE_SIZE = 32 * 1024


@dataclass(slots=True)
class DLedgerLog:
    """A log under construction; `headers` are those of the entries put so far, in order."""

    root: Path
    file_size: int = 4096
    base_offset: int = 0
    first_index: int = 0
    index_file_size: int = INDEX_FILE_SIZE
    headers: list[EntryHeader] = field(default_factory=list)
    end: int = field(init=False)

    def __post_init__(self) -> None:
        self.end = self.base_offset

    def put(self, message: Message, *, term: int = 0) -> Message:
        """Append an entry; the message as it stands in it, with its own offset."""
        size = HEADER_SIZE + message.total_size
        left = self.file_size - self.end % self.file_size
        if size + BLANK_SIZE_MIN > left:
            self._write("data", self.end, ENTRY_START.pack({"magic": MAGIC_BLANK, "entry_size": left}), self.file_size)
            self.end += left
        index = self.first_index + len(self.headers)
        header = new_header(message.total_size, entry_index=index, position=self.end, term=term)
        placed = replace(message, physical_offset=self.end + HEADER_SIZE)
        self._write("data", self.end, encode_header(header) + encode_message(placed), self.file_size)
        self._write("index", index * ENTRY_INDEX_UNIT.size, index_unit(header), self.index_file_size)
        self.headers.append(header)
        self.end += size
        return placed

    def finish(self) -> Path:
        """Add what the node remembers, and return the store root."""
        last = self.headers[-1]
        folder = self.root / NODE
        (folder / "currterm").write_text(f"currTerm={last.term}\nvoteLeader=n0\n")
        (folder / "checkpoint").write_text(f"committedIndex={last.entry_index}\nendIndex={last.entry_index}\n")
        return self.root

    def files(self) -> list[StoreFile]:
        """The data files in offset order."""
        return [classify(self.root, path) for path in sorted((self.root / NODE / "data").iterdir())]

    def _write(self, folder: str, position: int, data: bytes, file_size: int) -> None:
        at = position % file_size
        path = self.root / NODE / folder / f"{position - at:020d}"
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("r+b" if path.exists() else "w+b") as file:
            file.truncate(file_size)
            file.seek(at)
            file.write(data)


def index_unit(header: EntryHeader) -> bytes:
    row = {name: getattr(header, name) for name in ENTRY_INDEX_UNIT.offsets}
    return ENTRY_INDEX_UNIT.pack(row)


def dledger_log(root: Path, messages: Sequence[Message], *, file_size: int = 4096) -> DLedgerLog:
    """A finished log of these messages."""
    log = DLedgerLog(root, file_size)
    for message in messages:
        log.put(message)
    log.finish()
    return log
