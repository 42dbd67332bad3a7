"""Each strategy keeps its own stated invariant, for any lists."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from parsers.values.java import split, utf16_order
from parsers.values.version import Version
from rebalance.model.message_queue import MessageQueue
from rebalance.strategies import Strategy, strategy_named
from rebalance.strategies.base import sorted_inputs

BROKERS = ("r1-a", "r2-b", "r2-c", "r1@a", "r2@b", "\U0001f600-x", "\uff21-y")
queues = st.builds(MessageQueue, st.just("T"), st.sampled_from(BROKERS), st.integers(0, 20))
queue_lists = st.lists(queues, min_size=1, max_size=40, unique=True)
roomy_queue_lists = queue_lists.map(lambda mqs: [mq for mq in mqs if "-" in mq.broker_name]).filter(bool)
id_lists = st.lists(
    st.builds("{}-10.0.0.{}@{}".format, st.sampled_from(["r1", "r2", "\uff21"]), st.integers(1, 12), st.integers(1, 3)),
    min_size=1,
    max_size=12,
    unique=True,
)
BY_NAME = {
    "AVG": strategy_named("AVG"),
    "AVG_BY_CIRCLE": strategy_named("AVG_BY_CIRCLE"),
    "CONSISTENT_HASH": strategy_named("CONSISTENT_HASH"),
    "MACHINE_ROOM": strategy_named("MACHINE_ROOM", {"consumeridcs": ["r1"]}),
    "MACHINE_ROOM ≤4.7.1": strategy_named("MACHINE_ROOM", {"consumeridcs": ["r1"]}, Version(4, 7, 1)),
}
ONE_OWNER = [BY_NAME[name] for name in ("AVG", "AVG_BY_CIRCLE", "CONSISTENT_HASH")]


def shares(strategy: Strategy, mq_all: list[MessageQueue], cid_all: list[str]) -> dict[str, list[MessageQueue]]:
    return {cid: strategy.allocate("G", cid, mq_all, cid_all) or [] for cid in cid_all}


@given(st.sampled_from(ONE_OWNER), queue_lists, id_lists)
def test_every_queue_has_one_owner(strategy: Strategy, mq_all: list[MessageQueue], cid_all: list[str]) -> None:
    owned = Counter(mq for share in shares(strategy, mq_all, cid_all).values() for mq in share)
    assert owned == Counter(mq_all)


@given(queue_lists, id_lists)
def test_avg_shares_are_blocks_that_differ_by_one(mq_all: list[MessageQueue], cid_all: list[str]) -> None:
    parts = list(shares(BY_NAME["AVG"], mq_all, cid_all).values())
    assert [mq for part in parts for mq in part] == mq_all
    assert [len(part) for part in parts] == sorted(map(len, parts), reverse=True)
    assert len(parts[0]) - len(parts[-1]) <= 1


@given(queue_lists, id_lists)
def test_by_circle_deals_in_turn(mq_all: list[MessageQueue], cid_all: list[str]) -> None:
    for cid, share in shares(BY_NAME["AVG_BY_CIRCLE"], mq_all, cid_all).items():
        assert {mq_all.index(mq) % len(cid_all) for mq in share} <= {cid_all.index(cid)}


@given(queue_lists, id_lists, st.data())
def test_a_leaver_moves_only_its_queues(mq_all: list[MessageQueue], cid_all: list[str], data: st.DataObject) -> None:
    gone = data.draw(st.sampled_from(cid_all))
    before = shares(BY_NAME["CONSISTENT_HASH"], mq_all, cid_all)
    for cid, share in shares(BY_NAME["CONSISTENT_HASH"], mq_all, [c for c in cid_all if c != gone]).items():
        assert set(before[cid]) <= set(share)


@given(queue_lists, id_lists)
def test_machine_room_gives_each_room_queue_one_owner(mq_all: list[MessageQueue], cid_all: list[str]) -> None:
    in_room = [mq for mq in mq_all if len(parts := split(mq.broker_name, "@")) == 2 and parts[0] == "r1"]
    owned = Counter(mq for share in shares(BY_NAME["MACHINE_ROOM"], mq_all, cid_all).values() for mq in share)
    assert owned == Counter(in_room)


@given(queue_lists, id_lists)
def test_the_old_machine_room_takes_as_many_but_not_the_same(mq_all: list[MessageQueue], cid_all: list[str]) -> None:
    old, new = (shares(BY_NAME[name], mq_all, cid_all) for name in ("MACHINE_ROOM ≤4.7.1", "MACHINE_ROOM"))
    assert {cid: len(share) for cid, share in old.items()} == {cid: len(share) for cid, share in new.items()}


@given(roomy_queue_lists, id_lists)
def test_nearby_keeps_rooms_with_clients_to_themselves(mq_all: list[MessageQueue], cid_all: list[str]) -> None:
    nearby = strategy_named("MACHINE_ROOM_NEARBY-AVG", {"resolver": "text before first '-'"})
    rooms_with_clients = {cid.partition("-")[0] for cid in cid_all}
    parts = shares(nearby, mq_all, cid_all)
    assert Counter(mq for share in parts.values() for mq in share) == Counter(mq_all)
    for cid, share in parts.items():
        foreign = {mq.broker_name.partition("-")[0] for mq in share} - {cid.partition("-")[0]}
        assert not foreign & rooms_with_clients


@given(st.lists(queues), queue_lists, id_lists)
def test_config_answers_the_same_to_everybody(
    fixed: list[MessageQueue], mq_all: list[MessageQueue], cid_all: list[str]
) -> None:
    config = strategy_named("CONFIG", {"messageQueueList": [list(mq) for mq in fixed]})
    assert all(config.allocate("G", cid, mq_all, cid_all) == fixed for cid in cid_all)
    assert strategy_named("CONFIG").allocate("G", None, None, None) is None


@given(st.sampled_from(list(BY_NAME.values())), queue_lists, id_lists, st.randoms(use_true_random=False))
def test_in_a_round_input_order_never_matters(
    strategy: Strategy, mq_all: list[MessageQueue], cid_all: list[str], random: object
) -> None:
    shuffled_mqs, shuffled_cids = sorted(mq_all), sorted(cid_all, key=utf16_order)
    random.shuffle(shuffled_mqs)  # type: ignore[attr-defined]
    random.shuffle(shuffled_cids)  # type: ignore[attr-defined]
    for cid in cid_all:
        ours = strategy.allocate("G", cid, *sorted_inputs(mq_all, cid_all))
        assert ours == strategy.allocate("G", cid, *sorted_inputs(shuffled_mqs, shuffled_cids))
