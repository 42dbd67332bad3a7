"""What can become of messages that a group gave back or popped, and of transactions. The names alone: who declares
columns of them needs no kernel."""

from __future__ import annotations

from enum import StrEnum


class RetryState(StrEnum):
    """Where a message stands that a group gave back."""

    DEAD_LETTER = "dead_letter"
    WAITING = "waiting"
    CONSUMED = "consumed"
    UNREAD = "unread"
    IN_FLIGHT = "in_flight"
    UNKNOWN = "unknown"


class TransactionState(StrEnum):
    """What became of a transaction."""

    COMMITTED = "committed"
    ROLLED_BACK = "rolled_back"
    PENDING = "pending"
    GIVEN_UP = "given_up"
    UNKNOWN = "unknown"


class PopState(StrEnum):
    """What became of a popped message."""

    ACKED = "acked"
    IN_FLIGHT = "in_flight"
    REVIVED = "revived"
    PASSED = "passed"
    UNMATCHED = "unmatched"
    UNKNOWN = "unknown"


class PopSource(StrEnum):
    """What shows a popped message."""

    REVIVE_LOG = "revive_log"
    ORDER_INFO = "order_info"
    KV_STORE = "kv_store"
