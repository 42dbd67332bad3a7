"""pop.log: pops that began elsewhere than at the group's offset, and a revive service that does nothing."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from tests.support.cli import call
from tests.support.fixtures import GOLDEN
from tests.support.stores import store_root

POP = "Pop initial offset, because store is no correct, "
SERVICE = "PopConsumerService getMessageAsync, initial offset because store is no correct, "
STORE = "5.3.3-pop"


def moved(folder: Path, *messages: str) -> list[tuple[object, ...]]:
    lines = [f"2026-11-22 16:08:12 WARN PullMessageThread_1 - {message}\n" for message in messages]
    (folder / "pop.log").write_text("".join(lines), "utf-8")
    called = call("offsets", store_root(STORE), "--logs", folder)
    assert called.code == 0, called.err
    names = ("group", "topic", "queue_id", "kind", "from_queue_offset", "to_queue_offset", "skipped", "repeated")
    return [tuple(row[name] for name in names) for row in called.rows]


@pytest.mark.parametrize(
    ("message", "row"),
    [
        (f"{POP}T@g@2, 40->7", ("g", "T", 2, "corrected", 40, 7, None, None)),
        (f"{POP}%RETRY%g_T@g@0, 5->9", ("g", "%RETRY%g_T", 0, "corrected", 5, 9, 4, 0)),
        (
            f"{SERVICE}groupId=g, topicId=T, queueId=2, batchSize=32, offset=40->7",
            ("g", "T", 2, "corrected", 40, 7, None, None),
        ),
    ],
)
def test_a_pop_that_began_elsewhere_is_a_corrected_one(tmp_path: Path, message: str, row: tuple[object, ...]) -> None:
    assert moved(tmp_path, message) == [row]


@pytest.mark.parametrize("message", [f"{POP}T@g@3, 5384577->null", f"{POP}no key, 1->2"])
def test_what_names_no_offset_or_no_queue_moves_none(tmp_path: Path, message: str) -> None:
    assert moved(tmp_path, message.replace("no key", "no-key")) == []


def test_a_broker_without_timers_is_said_to_revive_nothing() -> None:
    """Its pop.log says so itself (recorded brokers of 5.3.3 and 5.5.0)."""
    logs = GOLDEN.glob("rebalance/sessions/*/logs/*/pop.log.gz")
    assert any(
        b"skip revive topic because timerWheelEnable is false" in gzip.decompress(log.read_bytes()) for log in logs
    )
    note = "no message that is not acknowledged is delivered again"
    asked = ("pop", store_root(STORE), "--revive", "--config", "timerWheelEnable=false", "--version")
    assert note in call(*asked, "5.1.1").err
    assert note not in call(*asked, "5.1.0").err
    assert note not in call("pop", store_root(STORE), "--revive").err
