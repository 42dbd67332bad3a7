"""Dataclasses that only the type checker keeps frozen: else what the standard ones do, in every way that shows."""

from __future__ import annotations

import copy
import pickle
from dataclasses import dataclass, fields, replace
from inspect import signature
from pathlib import Path

import pytest
from mypy import api

from rebalance.model.frozen import frozen


@frozen(kw_only=True)
class Seen:
    at_ms: int
    source: str
    late_ms: int = 0


@frozen(kw_only=True)
class Moved(Seen):
    queue_id: int
    client_id: str | None = None


@frozen()
class Row:
    group: str
    queue_id: int = 3


@dataclass(frozen=True, slots=True)
class StandardRow:
    group: str
    queue_id: int = 3


def test_fields_and_defaults_are_those_declared() -> None:
    moved = Moved(at_ms=1, source="b", queue_id=2)
    assert (moved.at_ms, moved.source, moved.late_ms, moved.queue_id, moved.client_id) == (1, "b", 0, 2, None)
    assert [field.name for field in fields(Moved)] == ["at_ms", "source", "late_ms", "queue_id", "client_id"]
    assert not hasattr(moved, "__dict__")


def test_a_row_is_made_and_shown_as_a_standard_one() -> None:
    assert str(signature(Row)) == str(signature(StandardRow))
    assert repr(Row("g", queue_id=4)) == repr(StandardRow("g", 4)).replace("StandardRow", "Row")
    assert hash(Row("g")) == hash(StandardRow("g"))


def test_equal_fields_are_equal_rows() -> None:
    assert Row("g") == Row("g", 3) != Row("g", 4)
    assert Row("g") != StandardRow("g")
    assert replace(Row("g"), queue_id=5) == Row("g", 5)
    assert copy.copy(Row("g", 6)) == pickle.loads(pickle.dumps(Row("g", 6))) == Row("g", 6)


def test_the_type_checker_refuses_a_change(tmp_path: Path) -> None:
    changed = tmp_path / "changed.py"
    changed.write_text(
        "from rebalance.model.message_queue import MessageQueue\n"
        "from rebalance.facts import QueueRemoved\n"
        "def move(fact: QueueRemoved, queue: MessageQueue) -> None:\n"
        "    fact.queue = queue\n"
    )
    told, _, status = api.run([str(changed)])
    assert (status, told.count("error:")) == (1, 1), told
    assert 'Property "queue" defined in "QueueRemoved" is read-only' in told


@pytest.mark.parametrize("told", [{}, {"group": "g", "other": 1}], ids=["too few", "unknown"])
def test_wrong_arguments_are_refused(told: dict[str, object]) -> None:
    with pytest.raises(TypeError):
        Row(**told)  # type: ignore[arg-type]


def test_keywords_stay_keywords() -> None:
    with pytest.raises(TypeError):
        Seen(1, "b")  # type: ignore[misc]
