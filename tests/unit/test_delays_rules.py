"""Rules of delayed messages that no golden store shows: timers that are deleted, offsets that are missing, expiry."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from parsers.store.store import open_store
from parsers.values.topics import SCHEDULE_TOPIC, TIMER_TOPIC
from recovery.fates.delay_states import DELETED, DELETION, PASSED, PENDING, REASONS, Progress, Reason
from recovery.fates.delays import delays, fates_of
from recovery.fates.held import Held, text_hash
from recovery.fates.held_kernel import HASH, HASH_BEFORE_PLUS, HASH_BEHIND_PLUS, NONE, HeldColumns, kept_value
from recovery.knowledge.inference import infer
from tests.support.build_store import SETTINGS, VERSION, StoreBuilder, write_json

TOPICS = [TIMER_TOPIC, "T", "U"]
Row = tuple[str, int, str, str]
"""Unique key, due time, real topic, what it deletes; no text: nothing."""


def timers(
    *rows: Row, read_ms: int = 0, by_topic: bool | None = True, taken: int | None = None, unflushed: Sequence[int] = ()
) -> list[tuple[int, Reason]]:
    """The fate of timers that lie in the log one after another, 100 bytes each, and were stored at 1000.

    Args:
        taken: how many timercheck notes as taken in; None: all.
        unflushed: places of those in the timer log's end.
    """
    count = len(rows)
    place, zero, none = np.arange(count) * 100, np.zeros(count, np.int32), np.full(count, NONE, np.int64)
    message = np.array([text_hash(name) for name, _, _, _ in rows], np.int64)
    due = np.array([each for _, each, _, _ in rows], np.int64)
    topic = np.array([TOPICS.index(each) for _, _, each, _ in rows], np.int32)
    own = np.stack((due, none, *(kept(rows, kind) for kind in (HASH, HASH_BEFORE_PLUS, HASH_BEHIND_PLUS)), none))
    stored = np.full(count, 1000, np.int64)
    columns = HeldColumns(place, stored, np.arange(count), message, none, zero, zero, topic, zero, zero, own)
    progress = Progress({}, read_ms, count if taken is None else taken, unflushed=np.array(unflushed, np.int64))
    fates = fates_of(Held(columns, TOPICS), due, progress, by_topic)
    return [(int(state), REASONS[reason]) for state, reason in zip(fates.state, fates.reason, strict=True)]


def kept(rows: tuple[Row, ...], kind: int) -> list[int]:
    texts = [np.frombuffer(deletes.encode(), np.uint8) for _, _, _, deletes in rows]
    return [kept_value(text, 0 if len(text) else NONE, len(text), kind) for text in texts]


A_TIMER: Row = ("ID", 5000, "T", "")


def test_a_killed_broker_takes_in_again_what_its_timer_log_has_and_timercheck_does_not_note() -> None:
    """As a 5.5.0 broker did that was killed within a second after 48 timers came: it delivered each of them twice."""
    rows = [(f"ID{number}", 5000, "T", "") for number in range(3)]
    assert timers(*rows, taken=1, unflushed=[0, 100]) == [
        (PENDING, Reason.NONE),
        (PENDING, Reason.TAKEN_TWICE),
        (PENDING, Reason.NOT_TAKEN_IN),
    ]


@pytest.mark.parametrize(("by_topic", "key"), [(True, "T+ID"), (False, "ID")])
def test_a_deletion_counts_when_it_is_due_with_the_timer(by_topic: bool, key: str) -> None:
    for read_ms in (0, 9000):
        found = timers(A_TIMER, ("D", 5000, "T", key), read_ms=read_ms, by_topic=by_topic)
        assert found == [(DELETED, Reason.DELETED), (DELETION, Reason.NONE)]


@pytest.mark.parametrize(
    ("by_topic", "due_ms", "key"),
    [
        (True, 6000, "T+ID"),
        (False, 6000, "ID"),
        (True, 5000, "ID"),
        (True, 5000, "U+ID"),
        (False, 5000, "T+ID"),
        (None, 5000, "ID"),
        (None, 5000, "T+ID"),
    ],
)
def test_a_deletion_that_the_broker_may_not_take_is_told_as_a_doubt(
    by_topic: bool | None, due_ms: int, key: str
) -> None:
    for read_ms, state in ((0, PENDING), (9000, PASSED)):
        found = timers(A_TIMER, ("D", due_ms, "T", key), read_ms=read_ms, by_topic=by_topic)
        assert found[0] == (state, Reason.PERHAPS_DELETED)


def test_the_topic_of_a_deletion_is_that_of_its_key() -> None:
    """The deletion's own topic plays no part; without a topic in the key no topic does."""
    assert timers(A_TIMER, ("D", 5000, "U", "T+ID"))[0] == (DELETED, Reason.DELETED)
    assert timers(A_TIMER, ("D", 5000, "U", "ID"), by_topic=False)[0] == (DELETED, Reason.DELETED)


def test_a_key_that_names_no_timer_says_nothing() -> None:
    assert timers(A_TIMER, ("D", 5000, "T", "T+OTHER"))[0] == (PENDING, Reason.NONE)


LEVELS = (3, 5)
DELAYED = 20


def waiting(root: Path) -> Path:
    """A store with 20 messages of each of two delay levels, of which level 3's were delivered up to number 2."""
    builder = StoreBuilder(root)
    for number in range(DELAYED):
        for level in LEVELS:
            unique = (("REAL_TOPIC", "Orders"), ("REAL_QID", "0"), ("UNIQ_KEY", f"{level:016X}{number:016X}"))
            builder.put(SCHEDULE_TOPIC, level - 1, properties=unique)
    for _ in range(40):
        builder.put()
    builder.finish()
    write_json(root / "config" / "delayOffset.json", {"offsetTable": {"3": 2, "5": DELAYED}})
    return root


def expired(root: Path) -> dict[int, int]:
    store = open_store(root)
    known = infer(store, version=VERSION, settings=SETTINGS)
    return dict(delays(store, known, lambda _: None).expired)


def numbers_before(root: Path, physical_offset: int, level: int) -> int:
    """How many messages of a level lie before this place of the log, as the queue's units say."""
    files = sorted((root / "consumequeue" / SCHEDULE_TOPIC / str(level - 1)).iterdir())
    units = b"".join(file.read_bytes() for file in files)
    places = [int.from_bytes(units[at : at + 8]) for at in range(0, DELAYED * 20, 20)]
    return sum(place < physical_offset for place in places)


def test_expired_messages_are_those_before_the_log(tmp_path: Path) -> None:
    root = waiting(tmp_path / "store")
    assert expired(root) == {}
    files = sorted((root / "commitlog").iterdir())
    files[0].unlink()
    assert expired(root) == {3: numbers_before(root, int(files[1].name), 3) - 2}
    for file in files[1:-1]:
        file.unlink()
    assert expired(root) == {3: DELAYED - 2}


def test_messages_in_lost_bytes_of_the_log_are_not_called_expired(tmp_path: Path) -> None:
    root = waiting(tmp_path / "store")
    files = sorted((root / "commitlog").iterdir())
    files[0].write_bytes(bytes(files[0].stat().st_size))
    assert expired(root) == {}


def test_without_a_log_nothing_is_called_expired(tmp_path: Path) -> None:
    root = waiting(tmp_path / "store")
    for file in (root / "commitlog").iterdir():
        file.unlink()
    assert expired(root) == {}
