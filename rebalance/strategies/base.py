"""What every strategy is: a name, `allocate`, and (for most) the same four checks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from parsers.values.java import utf16_order
from rebalance.model.message_queue import MessageQueue

ILLEGAL_ARGUMENT = "java.lang.IllegalArgumentException"
NULL_POINTER = "java.lang.NullPointerException"


class StrategyError(Exception):
    """The exception a strategy of Java throws: the client then keeps the assignment it has.

    Attributes:
        java_class: the exception's class name.
        message: its message; None where the JVM makes one up.
    """

    def __init__(self, java_class: str, message: str | None) -> None:
        super().__init__(java_class if message is None else f"{java_class}: {message}")
        self.java_class = java_class
        self.message = message


class Strategy(Protocol):
    """AllocateMessageQueueStrategy. Lists are taken as given, in the order given; sorting is the round's business."""

    @property
    def name(self) -> str:
        """Java's `getName()`."""
        ...

    def allocate(
        self, group: str, current_cid: str | None, mq_all: Sequence[MessageQueue] | None, cid_all: Sequence[str] | None
    ) -> list[MessageQueue] | None:
        """The queues of `current_cid`; None is Java's null (CONFIG that was never set).

        Raises:
            StrategyError: where Java's class throws.
        """
        ...


def check_arguments(
    current_cid: str | None, mq_all: Sequence[MessageQueue] | None, cid_all: Sequence[str] | None
) -> tuple[str, Sequence[MessageQueue], Sequence[str]]:
    """The three refusals, in Java's order; the arguments come back proven present.

    Source: AbstractAllocateMessageQueueStrategy#check @4.9.4+, inline in each class before.
    """
    if not current_cid:
        raise StrategyError(ILLEGAL_ARGUMENT, "currentCID is empty")
    if not mq_all:
        raise StrategyError(ILLEGAL_ARGUMENT, "mqAll is null or mqAll empty")
    if not cid_all:
        raise StrategyError(ILLEGAL_ARGUMENT, "cidAll is null or cidAll empty")
    return current_cid, mq_all, cid_all


def index_of(current_cid: str | None, cid_all: Sequence[str]) -> int | None:
    """`cidAll.indexOf(currentCID)`: the first match; None means `[BUG] ... not in cidAll` and an empty share."""
    try:
        return cid_all.index(current_cid)  # null is simply not found
    except ValueError:
        return None


def sorted_inputs(mq_all: Iterable[MessageQueue], cid_all: Iterable[str]) -> tuple[list[MessageQueue], list[str]]:
    """Both lists as a rebalance hands them to a strategy: in Java's natural order, ids as often as they come.

    Source: RebalanceImpl#rebalanceByTopic.
    """
    return sorted(mq_all, key=lambda mq: mq.order), sorted(cid_all, key=utf16_order)
