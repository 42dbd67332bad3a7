"""Our strategies against what the Java classes answered."""

from __future__ import annotations

from typing import Any

import pytest

from parsers.values.java import ring_hash
from parsers.values.version import Version
from rebalance.strategies.question import answer
from rebalance.strategies.registry import NAMES
from tests.support.fixtures import GOLDEN
from tests.support.vectors import agrees, iter_vectors

FOUR_QUEUES = [["T", "b", 2], ["T", "b", 0], ["T", "a", 0], ["T", "b", 1]]
VERSIONS = ["4.4.0", "4.7.1", "4.9.8", "5.3.3"]


@pytest.mark.parametrize("version", VERSIONS)
def test_every_recorded_vector_agrees(version: str) -> None:
    vectors = list(iter_vectors(GOLDEN / "rebalance" / "vectors" / f"{version}.jsonl.gz"))
    assert len(vectors) >= 5_000
    assert [vector for vector in vectors if not agrees(vector)] == []


@pytest.mark.parametrize("version", VERSIONS)
def test_every_strategy_has_vectors(version: str) -> None:
    names = {vector["strategy"] for vector in iter_vectors(GOLDEN / "rebalance" / "vectors" / f"{version}.jsonl.gz")}
    of_kinds = {name.partition("-")[0] for name in names}
    assert of_kinds == {name.partition("-")[0] for name in NAMES}


def test_lists_are_taken_as_given_unless_sort_is_asked() -> None:
    line = {"strategy": "AVG", "current": "B", "mq_all": FOUR_QUEUES, "cid_all": ["B", "A"]}
    assert answer(line) == {"result": [["T", "b", 2], ["T", "b", 0]]}
    assert answer(line, sort=True) == {"result": [["T", "b", 1], ["T", "b", 2]]}


def test_a_line_goes_before_the_defaults() -> None:
    line = {"current": "A", "mq_all": FOUR_QUEUES, "cid_all": ["A", "B"]}
    assert answer(line, strategy="AVG_BY_CIRCLE") == {"result": [["T", "b", 2], ["T", "a", 0]]}
    assert answer({**line, "strategy": "AVG"}, strategy="AVG_BY_CIRCLE") == {"result": [["T", "b", 2], ["T", "b", 0]]}
    no_nodes = answer({**line, "strategy": "CONSISTENT_HASH"}, params={"virtualNodeCnt": "0"})
    assert no_nodes == {"result": []}


@pytest.mark.parametrize(
    ("version", "current", "expected"),
    [
        ("4.7.1", "x", [["T", "a@1", 0]]),  # the block is cut from the unfiltered list
        ("4.8.0", "x", [["T", "c@2", 0]]),
        ("4.9.2", " ", []),  # nothing is checked
        ("4.9.3", " ", "currentCID is empty"),  # a blank id is refused in this version alone
        ("4.9.4", " ", []),
        ("4.9.4", "", "currentCID is empty"),
    ],
)
def test_machine_room_by_version(version: str, current: str, expected: Any) -> None:
    line = {
        "strategy": "MACHINE_ROOM",
        "params": {"consumeridcs": ["c"]},
        "current": current,
        "mq_all": [["T", "a@1", 0], ["T", "a@1", 1], ["T", "c@2", 0], ["T", "c@2", 1]],
        "cid_all": ["x", "y"],
    }
    ours = answer(line, version=Version.parse(version))
    if isinstance(expected, str):
        assert ours == {"error": {"class": "java.lang.IllegalArgumentException", "message": expected}}
    else:
        assert ours == {"result": expected}


def test_the_ring_reads_text_in_the_platform_charset_up_to_4_9_8() -> None:
    line = {
        "strategy": "CONSISTENT_HASH",
        "params": {"charset": "latin-1"},
        "current": "ü@1",
        "mq_all": [["T", "b", n] for n in range(64)],
        "cid_all": ["ü@1", "ö@2"],
    }
    old, new = answer({**line, "version": "4.9.8"}), answer({**line, "version": "5.0.0"})
    assert old != new
    assert new == answer({**line, "params": {}, "version": "4.9.8"})


@pytest.mark.parametrize(
    ("share", "clients", "queues", "expected"),
    [
        (1, 4, 8, {"0": [0, 1, 2, 3], "1": [2, 3, 4, 5], "3": [6, 7, 0, 1]}),
        (3, 4, 8, {"0": [-1] * 8, "2": [-1] * 8}),
        (0, 2, 2, {"0": [-1, -1]}),
        (1, 6, 4, {"0": [0], "3": [3], "4": [0], "5": [1], "absent": []}),
    ],
)
def test_pop_shares(share: int, clients: int, queues: int, expected: dict[str, list[int]]) -> None:
    line = {
        "params": {"popShareQueueNum": share},
        "mq_all": [["T", "b", n] for n in range(queues)],
        "cid_all": [str(n) for n in range(clients)],
    }
    for current, queue_ids in expected.items():
        assert answer({**line, "current": current}) == {"result": [["T", "b", n] for n in queue_ids]}


@pytest.mark.parametrize(
    "line",
    [
        {"strategy": "BEST"},
        {"mq_all": "T"},
        {"mq_all": [["T", "b"]]},
        {"mq_all": [["T", "b", "0"]]},
        {"cid_all": [1]},
        {"current": 1},
        {"version": "five"},
        {"params": [1]},
        {"strategy": "CONSISTENT_HASH", "params": {"virtualNodeCnt": "many"}},
        {"strategy": "CONSISTENT_HASH", "params": {"charset": "runes"}},
        {"strategy": "MACHINE_ROOM_NEARBY-AVG", "params": {"resolver": "guess"}},
    ],
)
def test_a_malformed_line_is_a_wrong_call(line: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        answer(line)


def test_an_id_that_comes_twice_has_twice_the_nodes() -> None:
    queues = [["T", "b", n] for n in range(64)]
    ring = {ring_hash(f"A-{n}"): "A" for n in range(20)} | {ring_hash(f"B-{n}"): "B" for n in range(10)}

    def owner(place: int) -> str:
        return ring[min((node for node in ring if node >= place), default=min(ring))]

    line = {"strategy": "CONSISTENT_HASH", "mq_all": queues, "cid_all": ["A", "A", "B"]}
    for cid in ("A", "B"):
        expected = [
            mq for mq in queues if owner(ring_hash(f"MessageQueue [topic=T, brokerName=b, queueId={mq[2]}]")) == cid
        ]
        assert answer({**line, "current": cid}) == {"result": expected}


def test_rooms_without_clients_come_in_javas_order() -> None:
    queues = [["T", "\uff21-b", 0], ["T", "\U0001f600-b", 0]]
    line = {"strategy": "MACHINE_ROOM_NEARBY-AVG", "current": "r-1", "mq_all": queues, "cid_all": ["r-1"]}
    assert answer(line) == {"result": queues[::-1]}


def test_pop_refuses_a_blank_id_where_clients_outnumber_queues() -> None:
    line = {"params": {"popShareQueueNum": 1}, "mq_all": [["T", "b", 0]], "cid_all": [" ", "x", "y"], "current": " "}
    refusal = {"class": "java.lang.IllegalArgumentException", "message": "currentCID is empty"}
    assert answer(line) == {"error": refusal}
    assert answer({**line, "params": {}}) == {"result": [["T", "b", 0]]}


@pytest.mark.parametrize(
    "asked",
    [
        {"strategy": "MACHINE_ROOM_NEARBY-" * 3_000 + "AVG"},
        {"strategy": "CONSISTENT_HASH", "params": {"virtualNodeCnt": 2**31 - 1}},
        {"strategy": "CONSISTENT_HASH", "params": {"virtualNodeCnt": 2**31}},
        {"strategy": "CONSISTENT_HASH", "params": {"charset": "hex"}},
        {"strategy": "CONSISTENT_HASH", "params": {"charset": "undefined"}},
    ],
)
def test_a_question_that_would_take_for_ever_or_has_no_answer_is_refused(asked: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        answer({"current": "c", "mq_all": FOUR_QUEUES, "cid_all": ["c"], **asked})
