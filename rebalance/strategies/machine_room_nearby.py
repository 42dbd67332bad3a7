"""MACHINE_ROOM_NEARBY-<inner>: each room's queues to that room's clients, rooms without clients to everybody."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

from parsers.values.java import utf16_order
from rebalance.model.message_queue import MessageQueue
from rebalance.strategies.base import ILLEGAL_ARGUMENT, NULL_POINTER, Strategy, StrategyError, check_arguments, index_of

_Member = TypeVar("_Member")


@dataclass(frozen=True, slots=True)
class MachineRoomResolver:
    """The user's class that names the room of a queue's broker and of a client; "" and None mean no room.

    The same queue or client always has the same room.
    """

    broker_deploy_in: Callable[[MessageQueue], str | None]
    consumer_deploy_in: Callable[[str], str | None]


@dataclass(frozen=True, slots=True)
class MachineRoomNearby:
    """AllocateMachineRoomNearby (since 4.3.0).

    Example (inner AVG): queues r1:{0, 1} r2:{2} r3:{3}, clients A, B in r1, C in r2 -> A 0 3, B 1, C 2.
    Invariant: where the inner strategy gives each queue one owner, so does this; a room with clients keeps its queues.
    Source: AllocateMachineRoomNearby#allocate, constructor.
    """

    inner: Strategy
    resolver: MachineRoomResolver

    def __post_init__(self) -> None:
        for value, java_name in ((self.inner, "allocateMessageQueueStrategy"), (self.resolver, "machineRoomResolver")):
            if value is None:
                raise StrategyError(NULL_POINTER, f"{java_name} is null")

    @property
    def name(self) -> str:
        """`MACHINE_ROOM_NEARBY-` and the inner strategy's name."""
        return f"MACHINE_ROOM_NEARBY-{self.inner.name}"

    def allocate(
        self, group: str, current_cid: str | None, mq_all: Sequence[MessageQueue] | None, cid_all: Sequence[str] | None
    ) -> list[MessageQueue]:
        """See `Strategy.allocate`."""
        current_cid, mq_all, cid_all = check_arguments(current_cid, mq_all, cid_all)
        if index_of(current_cid, cid_all) is None:
            return []
        queues_of_room = _queues_of_room(tuple(mq_all), self.resolver.broker_deploy_in)
        clients_of_room = _clients_of_room(tuple(cid_all), self.resolver.consumer_deploy_in)
        my_room = self.resolver.consumer_deploy_in(current_cid) or ""
        result: list[MessageQueue] = []
        if my_room in queues_of_room:
            result += self._inner_share(group, current_cid, queues_of_room[my_room], clients_of_room[my_room])
        for room in queues_of_room:
            if room not in clients_of_room:
                result += self._inner_share(group, current_cid, queues_of_room[room], cid_all)
        return result

    def _inner_share(
        self, group: str, current_cid: str, queues: Sequence[MessageQueue], clients: Sequence[str]
    ) -> list[MessageQueue]:
        share = self.inner.allocate(group, current_cid, queues, clients)
        if share is None:
            raise StrategyError(NULL_POINTER, None)
        return share


# Kept, for every member of a group asks with the same lists.
@lru_cache(maxsize=1024)
def _queues_of_room(
    mq_all: tuple[MessageQueue, ...], room_of: Callable[[MessageQueue], str | None]
) -> Mapping[str, list[MessageQueue]]:
    return _by_room(mq_all, room_of, "mq")


@lru_cache(maxsize=1024)
def _clients_of_room(cid_all: tuple[str, ...], room_of: Callable[[str], str | None]) -> Mapping[str, list[str]]:
    return _by_room(cid_all, room_of, "consumer id")


def _by_room(
    members: Iterable[_Member], room_of: Callable[[_Member], str | None], what: str
) -> Mapping[str, list[_Member]]:
    """Room -> its members in the given order; rooms in Java's order."""
    rooms: dict[str, list[_Member]] = {}
    for member in members:
        room = room_of(member)
        if not room:
            raise StrategyError(ILLEGAL_ARGUMENT, f"Machine room is null for {what} {member}")
        rooms.setdefault(room, []).append(member)
    return {room: rooms[room] for room in sorted(rooms, key=utf16_order)}
