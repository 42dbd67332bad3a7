"""From Java's `getName()` and parameters to the strategy."""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from parsers.values.version import NEWEST, Version
from rebalance.model.message_queue import MessageQueue
from rebalance.strategies.averagely import Averagely, AveragelyByCircle
from rebalance.strategies.base import Strategy
from rebalance.strategies.by_config import ByConfig
from rebalance.strategies.by_machine_room import ByMachineRoom
from rebalance.strategies.consistent_hash import ConsistentHash
from rebalance.strategies.machine_room_nearby import MachineRoomNearby, MachineRoomResolver

NAMES = ("AVG", "AVG_BY_CIRCLE", "CONFIG", "MACHINE_ROOM", "MACHINE_ROOM_NEARBY-<inner>", "CONSISTENT_HASH")
_NEARBY = "MACHINE_ROOM_NEARBY-"
_MOST_NESTED = 16
_TEXT_BEFORE_FIRST = re.compile(r"text before first '(.+)'", re.DOTALL)


def strategy_named(name: str, params: Mapping[str, Any] | None = None, version: Version = NEWEST) -> Strategy:
    """The strategy of that name as the given client version runs it.

    Args:
        params: Java's setting names: `virtualNodeCnt`, `charset` (CONSISTENT_HASH), `messageQueueList` (CONFIG),
            `consumeridcs` (MACHINE_ROOM), `resolver` = `text before first '<separator>'` (MACHINE_ROOM_NEARBY);
            one of another strategy is not looked at.
    Raises:
        ValueError: no such strategy, or a parameter of the wrong form.
        StrategyError: Java's constructor refuses the parameter.
    """
    params = params or {}
    if name.startswith(_NEARBY * (_MOST_NESTED + 1)):
        raise ValueError(f"more than {_MOST_NESTED} times {_NEARBY} one in the other")
    if name.startswith(_NEARBY):
        inner = strategy_named(name.removeprefix(_NEARBY), params, version)
        return MachineRoomNearby(inner, resolver_described(params.get("resolver", "text before first '-'")))
    match name:
        case "AVG":
            return Averagely()
        case "AVG_BY_CIRCLE":
            return AveragelyByCircle()
        case "CONFIG":
            return ByConfig(_queues(params.get("messageQueueList")))
        case "MACHINE_ROOM":
            return ByMachineRoom(_texts(params.get("consumeridcs")), version)
        case "CONSISTENT_HASH":
            return ConsistentHash(
                whole_number({"virtualNodeCnt": 10, **params}, "virtualNodeCnt"), version, _charset(params)
            )
    raise ValueError(f"no strategy is called {name!r}; there are {', '.join(NAMES)}")


def resolver_described(text: object) -> MachineRoomResolver:
    """A resolver that takes the text before the first separator, of broker names and client ids alike; "" if absent.

    Raises:
        ValueError: not of the form `text before first '<separator>'`.
    """
    found = _TEXT_BEFORE_FIRST.fullmatch(text) if isinstance(text, str) else None
    if found is None:
        raise ValueError(f"no such resolver: {text!r} (expected: text before first '-')")
    return _text_before_first(found[1])


@lru_cache(maxsize=64)
def _text_before_first(separator: str) -> MachineRoomResolver:
    def room(name: str) -> str:
        before, present, _ = name.partition(separator)
        return before if present else ""

    return MachineRoomResolver(lambda mq: room(mq.broker_name), room)


def queue_of(row: object) -> MessageQueue:
    """`[topic, brokerName, queueId]` as a MessageQueue.

    Raises:
        ValueError: another form.
    """
    match row:
        case [str(topic), str(broker_name), int(queue_id)] if not isinstance(queue_id, bool):
            return MessageQueue(topic, broker_name, queue_id)
    raise ValueError(f"not a queue: {row!r} (expected [topic, broker, queue_id])")


def _queues(rows: object) -> tuple[MessageQueue, ...] | None:
    return None if rows is None else tuple(queue_of(row) for row in _sequence(rows, "messageQueueList"))


def _texts(values: object) -> frozenset[str] | None:
    return None if values is None else frozenset(str(value) for value in _sequence(values, "consumeridcs"))


def _sequence(values: object, name: str) -> Sequence[Any]:
    if isinstance(values, str) or not isinstance(values, Sequence):
        raise ValueError(f"{name} is not a list: {values!r}")
    return values


def whole_number(params: Mapping[str, Any], name: str) -> int:
    """The int called `name`, given as a number or (from a command line) as its text.

    Raises:
        ValueError: anything else.
    """
    value = params[name]
    if isinstance(value, str) and re.fullmatch(r"-?[0-9]{1,10}", value):
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or not -(2**31) <= value < 2**31:
        raise ValueError(f"{name} is not a whole number of 32 bits: {value!r}")
    return value


def _charset(params: Mapping[str, Any]) -> str:
    name = params.get("charset", "utf-8")
    try:
        "\ud800".encode(name, "replace")  # no codec of bytes, and none that refuses texts
        return codecs.lookup(name).name
    except (LookupError, TypeError, ValueError):
        raise ValueError(f"no such charset: {name!r}") from None
