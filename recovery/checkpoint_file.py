"""The checkpoint's fields as a broker of one version reads them.

Source: StoreCheckpoint @4.4.0 … 5.5.1.
"""

from __future__ import annotations

from parsers.checkpoint import CHECKPOINT
from recovery.broker_memory import StoredTimes
from recovery.versions import BrokerVersion


def stored_times(content: bytes | None, version: BrokerVersion) -> StoredTimes:
    """The fields that `version` knows; a file cut short is mapped with zeros behind it."""
    if content is None:
        return StoredTimes()
    row = CHECKPOINT.unpack(content[: CHECKPOINT.size].ljust(CHECKPOINT.size, b"\0"))
    if not version.keeps_dispatched_offset:
        row["logics_physical_offset"] = 0
    if version < (5, 1, 1):
        row["confirm_physical_offset"] = 0
    if version < (5, 0, 0):
        row["master_flushed_offset"] = 0
    return StoredTimes(**row)
