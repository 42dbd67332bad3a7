"""What can be wrong with a history of ownership: its kinds, and one row."""

from __future__ import annotations

from dataclasses import dataclass

DOUBLE_OWNER = "double_owner"
ORPHAN = "orphan"
SILENT_OWNER = "silent_owner"
FLAPPING = "flapping"
LOCK_STALL = "lock_stall"
LOCK_LATE = "lock_late"
COMMIT_ROLLBACK = "commit_rollback"
OFFSET_REWIND = "offset_rewind"
OFFSET_SKIP = "offset_skip"
SUBSCRIPTIONS_DIFFER = "subscriptions_differ"
ANOMALY_KINDS = (
    *(DOUBLE_OWNER, ORPHAN, SILENT_OWNER, FLAPPING, LOCK_STALL, LOCK_LATE, COMMIT_ROLLBACK, OFFSET_REWIND, OFFSET_SKIP),
    SUBSCRIPTIONS_DIFFER,
)
"""Every `kind` of a row."""


@dataclass(frozen=True, slots=True)
class Anomaly:
    """One row; instants are epoch ms, `to_ms` None: not seen to end. `clients` are the ids concerned, sorted."""

    group: str
    kind: str
    topic: str | None
    broker: str | None
    queue_id: int | None
    from_ms: int
    to_ms: int | None
    clients: tuple[str, ...]
    cause: str
    detail: str
    evidence: str
