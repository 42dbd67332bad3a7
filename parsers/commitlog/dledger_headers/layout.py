"""The fixed structures of a DLedger log and of its index.

Source: dledger entry/DLedgerEntryCoder.java, store/file/MmapFileList.java#preAppend @0.1, 0.2.3, 0.3.1.2.
"""

from __future__ import annotations

from parsers.layouts.layout import Field, Layout
from parsers.store.store_file import StoreFile

MAGIC_ENTRY = 1
MAGIC_NO_OP, MAGIC_CONFIG_CHANGE = 2, 3  # since 0.4.0, which no RocketMQ release brings
MAGIC_BLANK = -1

ENTRY_START = Layout(
    "DLedger entry start, and end of file",
    "dledger store/file/MmapFileList.java#preAppend",
    Field("magic", "i", "1 entry; -1 blank: nothing more in this file"),
    Field("entry_size", "i", "bytes of header and body; of a blank: bytes to the end of the file"),
)
ENTRY_HEADER = Layout(
    "DLedger entry header",
    "dledger entry/DLedgerEntryCoder.java#encode",
    *ENTRY_START.fields,
    Field("entry_index", "q", "number of the entry, from 0, without gaps"),
    Field("term", "q", "of the leader that wrote it; never falls"),
    Field("position", "q", "byte of this entry in the whole log"),
    Field("channel", "i", "always 0"),
    Field("chain_crc", "i", "always 0: no version computes it"),
    Field("entry_body_crc", "i", "always 0: no version computes it"),
    Field("entry_body_size", "i", "bytes of the message that follows"),
)
ENTRY_INDEX_UNIT = Layout(
    "DLedger index unit",
    "dledger entry/DLedgerEntryCoder.java#encodeIndex",
    Field("magic", "i", "as the entry's"),
    Field("position", "q", "byte of the entry in the whole log"),
    Field("entry_size", "i", "bytes of header and body"),
    Field("entry_index", "q", "number of the entry: the unit's place / 32"),
    Field("term", "q", "as the entry's"),
)
HEADER_SIZE = ENTRY_HEADER.size
INDEX_UNIT_SIZE = ENTRY_INDEX_UNIT.size
assert HEADER_SIZE == 48  # DLedgerEntry.BODY_OFFSET
assert INDEX_UNIT_SIZE == 32  # DLedgerMmapFileStore.INDEX_UNIT_SIZE
BLANK_SIZE_MIN = ENTRY_START.size  # MIN_BLANK_LEN: an entry never touches a file's last 8 bytes


def header_size(file: StoreFile) -> int:
    """Bytes before each message of a log's file: in a DLedger log an entry's header, else 0."""
    return HEADER_SIZE if file.kind == "dledger" else 0
