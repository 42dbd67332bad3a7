"""How many allocations a second each strategy answers, at 16 queues x 4 clients, on one core.

Run: python benchmarks/bench_allocate.py
Every round's shares are compared with a naive transcription of the Java loop (the baseline of the printed ratio), so
speed cannot come from doing less.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import md5
from time import perf_counter

from rebalance.model.message_queue import MessageQueue
from rebalance.strategies import Strategy, strategy_named

Allocate = Callable[[str, list[MessageQueue], list[str]], list[MessageQueue]]
MQ_ALL = [MessageQueue("Orders", f"{('east', 'west')[n // 8]}-a@{n // 8}", n % 8) for n in range(16)]
CID_ALL = [f"{('east', 'west')[n // 3]}-10.0.0.{n}@{n}#{n}" for n in range(1, 5)]
ROOMS = {"consumeridcs": ["east-a", "west-a"], "resolver": "text before first '-'"}
ROUNDS = 25_000


def naive_averagely(cid: str, mq_all: list[MessageQueue], cid_all: list[str]) -> list[MessageQueue]:
    """AllocateMessageQueueAveragely, line by line."""
    index, mod = cid_all.index(cid), len(mq_all) % len(cid_all)
    share = len(mq_all) // len(cid_all) + (1 if mod > 0 and index < mod else 0)
    size = 1 if len(mq_all) <= len(cid_all) else share
    start = index * size if mod > 0 and index < mod else index * size + mod
    result = []
    for i in range(min(size, len(mq_all) - start)):
        result.append(mq_all[(start + i) % len(mq_all)])
    return result


def naive_by_circle(cid: str, mq_all: list[MessageQueue], cid_all: list[str]) -> list[MessageQueue]:
    """AllocateMessageQueueAveragelyByCircle, line by line."""
    result = []
    for i in range(cid_all.index(cid), len(mq_all)):
        if i % len(cid_all) == cid_all.index(cid):
            result.append(mq_all[i])
    return result


def naive_consistent_hash(cid: str, mq_all: list[MessageQueue], cid_all: list[str]) -> list[MessageQueue]:
    """The ring built anew for every question, as Java does."""

    def place(text: str) -> int:
        return int.from_bytes(md5(text.encode()).digest()[:4], "big")

    ring = {place(f"{member}-{n}"): member for member in cid_all for n in range(10)}
    result = []
    for mq in mq_all:
        at = place(str(mq))
        if ring[min((node for node in ring if node >= at), default=min(ring))] == cid:
            result.append(mq)
    return result


def naive_machine_room(cid: str, mq_all: list[MessageQueue], cid_all: list[str]) -> list[MessageQueue]:
    """AllocateMessageQueueByMachineRoom, line by line."""
    rooms = [mq for mq in mq_all if mq.broker_name.split("@")[0] in ROOMS["consumeridcs"]]
    mod, rem, index = len(rooms) // len(cid_all), len(rooms) % len(cid_all), cid_all.index(cid)
    result = [rooms[i] for i in range(mod * index, mod * index + mod)]
    return result + ([rooms[index + mod * len(cid_all)]] if rem > index else [])


def naive_nearby(cid: str, mq_all: list[MessageQueue], cid_all: list[str]) -> list[MessageQueue]:
    """AllocateMachineRoomNearby with AVG inside; each room here has clients."""
    room = cid.partition("-")[0]
    queues = [mq for mq in mq_all if mq.broker_name.partition("-")[0] == room]
    return naive_averagely(cid, queues, [member for member in cid_all if member.partition("-")[0] == room])


BASELINES: dict[str, Allocate] = {
    "AVG": naive_averagely,
    "AVG_BY_CIRCLE": naive_by_circle,
    "MACHINE_ROOM": naive_machine_room,
    "MACHINE_ROOM_NEARBY-AVG": naive_nearby,
    "CONSISTENT_HASH": naive_consistent_hash,
}


def allocations_per_second(allocate: Allocate, rounds: int, expected: Sequence[list[MessageQueue]]) -> float:
    """Ask for every client in turn; each answer of the last round, and the number of queues in all, must be right."""
    owned = 0
    started = perf_counter()
    for _ in range(rounds):
        shares = [allocate(cid, MQ_ALL, CID_ALL) for cid in CID_ALL]
        owned += sum(map(len, shares))
    seconds = perf_counter() - started
    assert shares == list(expected)
    assert owned == rounds * len(MQ_ALL)
    return rounds * len(CID_ALL) / seconds


def asking(strategy: Strategy) -> Allocate:
    """The strategy, asked for group G."""
    return lambda cid, mq_all, cid_all: strategy.allocate("G", cid, mq_all, cid_all) or []


def main() -> None:
    """Print one line per strategy."""
    print(f"{len(MQ_ALL)} queues x {len(CID_ALL)} clients, one core")
    for name, naive in BASELINES.items():
        strategy = strategy_named(name, ROOMS)
        expected = [naive(cid, MQ_ALL, CID_ALL) for cid in CID_ALL]
        ours = allocations_per_second(asking(strategy), ROUNDS, expected)
        baseline = allocations_per_second(naive, ROUNDS // 25, expected)
        print(f"{name:24} {ours:12,.0f} allocations/s   x{ours / baseline:,.1f} of the naive loop")


if __name__ == "__main__":
    main()
