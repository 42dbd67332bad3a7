"""Is there a valid message at this byte of a DLedger log? As `recovery.broker.message_check`, behind an entry's header.

Source: DLedgerCommitLog#checkMessageAndReturnSize @4.9.8, 5.3.3.
"""

from __future__ import annotations

from dataclasses import dataclass

from parsers.commitlog.dledger_headers import layout as entries
from parsers.commitlog.record.layout import MAGIC_BLANK, MAGIC_V1, MAGIC_V2
from recovery.broker.message_check import Checked, MessageCheck, OutOfHeap


@dataclass(slots=True)
class EntryCheck(MessageCheck):
    """The check of a node's log. A header that has a message's magic code in it is one of the log before DLedger."""

    def at(self, buf: memoryview, at: int, *, crc: bool, duplication: bool = False, read_body: bool = True) -> Checked:
        """Judge the entry at byte `at`. Whatever is thrown there, for lack of memory too, is no message."""
        if len(buf) - at < entries.ENTRY_START.size:
            return Checked(False, -1, at, reason="fewer bytes are left than an entry begins with")
        start = entries.ENTRY_START.unpack(buf, at)
        record = at + entries.HEADER_SIZE
        if start["entry_size"] in (MAGIC_BLANK, MAGIC_V1, *((MAGIC_V2,) if self.version.reads_v2_messages else ())):
            record = at
        elif start["magic"] == entries.MAGIC_BLANK:
            return Checked(True, 0, at + entries.ENTRY_START.size)
        try:
            return MessageCheck.at(self, buf, record, crc=crc, duplication=duplication, read_body=read_body)
        except OutOfHeap as thrown:
            return Checked(False, -1, record, reason=str(thrown))
