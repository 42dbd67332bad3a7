"""The small DLedger log whose damaged copies DLedger's own recovery was asked about."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.support.build_store import overwrite
from tests.support.dledger_log import DLedgerLog
from tests.support.new_message import new_message

FILE_SIZE = 1024
FIRST_MS = 1_795_000_000_000


def some_log(root: Path) -> DLedgerLog:
    """Thirty entries of three terms in about seven files."""
    log = DLedgerLog(root, FILE_SIZE)
    for number in range(30):
        message = new_message(
            "Orders", b"b" * (5 + number * 7 % 90), queue_offset=number, store_timestamp_ms=FIRST_MS + number
        )
        log.put(message, term=number // 11)
    log.finish()
    return log


def apply(damage: Sequence[Sequence[Any]], root: Path) -> None:
    """`[file, byte, hex]` writes, `[file, size]` cuts, `[file]` deletes; what is gone already stays so."""
    for name, *edit in damage:
        path = root / name
        if not path.exists():
            continue
        if not edit:
            path.unlink()
        elif len(edit) == 1:
            os.truncate(path, edit[0])
        else:
            overwrite(path, edit[0], bytes.fromhex(edit[1]))
