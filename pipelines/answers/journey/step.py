"""What the story of a message is made of: the records that carry it, and its steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import pyarrow as pa

StepName = Literal[
    "sent",
    "stored",
    "queued",
    "indexed",
    "owned",
    "pulled",
    "delivered",
    "decided",
    "recalled",
    "committed",
    "skipped",
    "due",
    "popped",
    "acked",
    "in_flight",
    "revived",
    "retried",
    "given_up",
    "consumed",
]

STEP_SCHEMA = pa.schema(
    [
        ("at", pa.timestamp("ms", "UTC")),
        *((name, pa.string()) for name in ("step", "group", "client_id", "what")),
        ("certain", pa.bool_()),
        ("evidence", pa.string()),
    ]
)
"""Rows of `who`."""


@dataclass(frozen=True, slots=True)
class StoredRecord:
    """One record of the log that carries the message, original or copy.

    `group`: whose retry or dead letter topic it is in. `has_retry_topic`: it has the property RETRY_TOPIC.
    """

    topic: str
    queue_id: int
    queue_offset: int
    physical_offset: int
    stored_ms: int | None
    born_host: str | None
    message_id: str
    unique_id: str | None
    reconsume_times: int
    transaction_type: str
    born_ms: int | None = None
    has_retry_topic: bool = False
    group: str | None = None

    @property
    def place(self) -> str:
        return (
            f"{self.topic}/{self.queue_id} at queue offset {self.queue_offset}, physical offset {self.physical_offset}"
        )


@dataclass(frozen=True, slots=True)
class Step:
    """One row of the story. `certain` is False where only a window or a possibility is known."""

    at_ms: int | None
    step: StepName
    group: str | None
    client_id: str | None
    what: str
    certain: bool
    evidence: str
