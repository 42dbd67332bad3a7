"""MACHINE_ROOM_NEARBY-<inner>: each room's queues to that room's clients, rooms without clients to everybody."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from rebalance.java import utf16_order
from rebalance.model import MessageQueue
from rebalance.strategies.base import (
    ILLEGAL_ARGUMENT,
    NULL_POINTER,
    Strategy,
    StrategyError,
    check_arguments,
    index_of,
)

_Member = TypeVar("_Member")


@dataclass(frozen=True, slots=True)
class MachineRoomResolver:
    """The user's class that names the room of a queue's broker and of a client; "" and None mean no room."""

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
        queues_of_room = _by_room(mq_all, self.resolver.broker_deploy_in, "mq")
        clients_of_room = _by_room(cid_all, self.resolver.consumer_deploy_in, "consumer id")
        my_room = self.resolver.consumer_deploy_in(current_cid) or ""
        result: list[MessageQueue] = []
        if my_room in queues_of_room:
            result += self._inner_share(group, current_cid, queues_of_room.pop(my_room), clients_of_room[my_room])
        for room in sorted(queues_of_room, key=utf16_order):
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


def _by_room(
    members: Iterable[_Member], room_of: Callable[[_Member], str | None], what: str
) -> dict[str, list[_Member]]:
    rooms: dict[str, list[_Member]] = {}
    for member in members:
        room = room_of(member)
        if not room:
            raise StrategyError(ILLEGAL_ARGUMENT, f"Machine room is null for {what} {member}")
        rooms.setdefault(room, []).append(member)
    return rooms
