"""What a store is asked in Python, and what the command of that name prints: the same rows, for every question."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import rocketlens as rl
from pipelines.cli.frame.written.json_form import json_objects
from pipelines.notebook.bundles import bundle, bundled_store
from rocketlens.docs import questions
from rocketlens.stores.store import Store
from tests.support.cli import call
from tests.support.incidents import incident

NOW = "2026-11-22T00:00:00Z"
AT = ("--at", "2026-11-21T15:14:00Z")
OFFSETS = bundle("orders-cluster") / "offsets"
FIRST_ID = "7F00000100002A9F0000000000000000"
"""The message that begins a log of a broker at 127.0.0.1:10911."""

Ask = Callable[[Store, str], Any]
PAIRS: dict[str, list[tuple[Ask, str]]] = {
    "messages": [
        (lambda store, topic: store.messages(), "dump commitlog {}"),
        (lambda store, topic: store.messages(topic=topic, bodies=True), "dump commitlog {} --topic {topic} --bodies"),
    ],
    "sendable": [(lambda store, topic: store.sendable(), "dump commitlog {} --sendable")],
    "decoded": [(lambda store, topic: store.decoded(), "dump commitlog {} --decode")],
    "regions": [(lambda store, topic: store.regions(), "dump regions {}")],
    "units": [
        (lambda store, topic: store.units(topic=topic, queue=0), "dump consumequeue {} --topic {topic} --queue 0")
    ],
    "index_entries": [(lambda store, topic: store.index_entries(), "dump index {}")],
    "queues": [(lambda store, topic: store.queues(), "queues {}")],
    "compaction": [(lambda store, topic: store.compaction(), "compaction {}")],
    "tiered": [(lambda store, topic: store.tiered(), "tiered {}")],
    "find": [
        (lambda store, topic: store.find(message_id=FIRST_ID), f"find {{}} --message-id {FIRST_ID}"),
        (
            lambda store, topic: store.find(topic=topic, key="cAaAa", most=4),
            "find {} --topic {topic} --key cAaAa --max 4",
        ),
    ],
    "groups": [(lambda store, topic: store.groups(), "groups {}")],
    "lag": [
        (lambda store, topic: store.lag(), "lag {}"),
        (lambda store, topic: store.lag(at=NOW, offsets=OFFSETS), f"lag {{}} --at {NOW} --offsets {OFFSETS}"),
    ],
    "episodes": [(lambda store, topic: store.episodes(OFFSETS), f"episodes {{}} --offsets {OFFSETS}")],
    "backlog": [(lambda store, topic: store.backlog(topic=topic), "backlog {} --topic {topic}")],
    "ledger": [(lambda store, topic: store.ledger(topic=topic), "ledger {} --topic {topic}")],
    "offsets": [(lambda store, topic: store.offsets(), "offsets {}")],
    "start_at": [
        (lambda store, topic: store.start_at(topic, policy="first"), "start-at {} --topic {topic} --from first")
    ],
    "topics": [(lambda store, topic: store.topics(), "topics {}")],
    "lives": [(lambda store, topic: store.lives(), "lives {}")],
    "who": [(lambda store, topic: store.who(FIRST_ID), f"who {{}} --message-id {FIRST_ID}")],
    "traces": [(lambda store, topic: store.traces(messages=True), "traces {} --messages")],
    "delays": [
        (lambda store, topic: store.delays(now=NOW), f"delays {{}} --now {NOW}"),
        (lambda store, topic: store.delays(messages=True, now=NOW), f"delays {{}} --messages --now {NOW}"),
    ],
    "retries": [
        (lambda store, topic: store.retries(), "retries {}"),
        (lambda store, topic: store.retries(messages=True, dead=True), "retries {} --messages --dead"),
    ],
    "transactions": [(lambda store, topic: store.transactions(messages=True), "transactions {} --messages")],
    "pop": [(lambda store, topic: store.pop(now=NOW), f"pop {{}} --now {NOW}")],
    "verify": [(lambda store, topic: store.verify(), "verify {}")],
    "forecast": [(lambda store, topic: store.forecast(), "forecast {} --format json")],
    "upgrade": [(lambda store, topic: store.upgrade("5.5.1"), "upgrade {} --to 5.5.1")],
    "retention": [(lambda store, topic: store.retention(now=NOW), f"retention {{}} --now {NOW} --format json")],
}
OTHERWISE = {
    "journey": "a picture of what `who` tells",
    "key_entries": "many keys at once, for programs",
    "lag_history": "`lag --at` for each kept copy",
    "last_written": "one number",
    "offset_at": "one number, which an example holds",
    "rebuild": "writes",
    "said": "no question about the store",
}
STORES = {"clean": ("OrderTopic0", "5.3.3"), "retried": ("Jobs", "5.3.3")}


def _root(name: str) -> Path:
    return bundled_store("5.3.3-clean") if name == "clean" else incident("5.3.3-retry-dlq").root


def _as_json(told: Any) -> Any:
    """As the command writes it: rows, or a document."""
    if isinstance(told, rl.Rows):
        return [json.loads(text) for batch in told.table.to_batches() for text in json_objects(batch).to_pylist()]
    return json.loads(json.dumps(dict(told)))


@pytest.mark.parametrize("name", STORES)
@pytest.mark.parametrize("question", PAIRS)
def test_both_doors_answer_the_same(question: str, name: str) -> None:
    (topic, version), root = STORES[name], _root(name)
    for ask, command in PAIRS[question]:
        arguments = command.format(root, topic=topic).split()
        if arguments[0] != "dump":
            arguments += ["--version", version]
        told, printed = ask(rl.store(root, version), topic), call(*arguments)
        assert printed.code in (0, 1), printed.err
        rows = _as_json(told)
        assert rows == (printed.rows if isinstance(rows, list) else json.loads(printed.out))
        assert len(told.notes) == len(printed.err.splitlines())


def test_every_question_is_compared_or_has_no_command() -> None:
    assert {name for name, _ in questions(Store)} == PAIRS.keys() | OTHERWISE.keys()
