"""The entries that a DLedger node takes for its own when it starts, inside compiled code.

Source: DLedgerMmapFileStore#recover @0.1, 0.2.3, 0.3.1.2.
"""

from __future__ import annotations

from parsers.commitlog.dledger_headers.entry import AT_BODY_SIZE, AT_INDEX, AT_POSITION, AT_SIZE, AT_TERM
from parsers.commitlog.dledger_headers.layout import HEADER_SIZE, MAGIC_BLANK, MAGIC_ENTRY
from parsers.kernels.arrays import Bytes
from parsers.kernels.bigendian import load_int, load_long
from parsers.kernels.kernel import kernel

MAGIC_SIZE = AT_SIZE

NEXT_FILE, UNWRITTEN, BROKEN = range(3)
"""Why a walk stops: a blank, a size of 0 or no room for a header, an entry that does not fit."""


@kernel
def walk_entries(data: Bytes, at: int, base_offset: int, last_index: int, last_term: int) -> tuple[int, int, int, int]:
    """Walk from byte `at` on, after an entry of this number and term (-1: none).

    Returns: where it stops, the number and term of the last entry, and why it stops. Of a blank only the magic counts.
    """
    while True:
        left = len(data) - at
        if left >= MAGIC_SIZE and load_int(data, at) == MAGIC_BLANK:
            return len(data), last_index, last_term, NEXT_FILE
        if left < HEADER_SIZE or load_int(data, at + AT_SIZE) == 0:
            return at, last_index, last_term, UNWRITTEN
        magic, size = load_int(data, at), load_int(data, at + AT_SIZE)
        index, term = load_long(data, at + AT_INDEX), load_long(data, at + AT_TERM)
        fits = load_int(data, at + AT_BODY_SIZE) + HEADER_SIZE == size and HEADER_SIZE < size <= left
        fits = fits and magic == MAGIC_ENTRY and load_long(data, at + AT_POSITION) == base_offset + at
        fits = fits and term >= last_term
        if not fits or (last_index != -1 and index != last_index + 1):
            return at, last_index, last_term, BROKEN
        last_index, last_term = index, term
        at += size
