"""The lives of topics where a log of the broker tells of a deletion or a creation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from parsers.commitlog.record.message import Message
from parsers.store.store_file import QueueKey
from recovery.knowledge.topic_events import Contradiction
from recovery.lives.life import NEVER, Ground
from recovery.lives.topics_known import TopicsKnown
from tests.support.build_store import FIRST_MS, STEP_MS
from tests.support.life_logs import (
    EARLIER,
    LATER,
    Puts,
    event,
    in_turn,
    known,
    log_of,
    run,
    served,
    told,
)


def with_other(root: Path) -> tuple[int, dict[QueueKey, Any]]:
    """A log of a topic T without queues and of a topic U with one; the last store time, and the queues."""
    records = log_of(root, [*run("T", 0, 0, 5), *run("U", 0, 0, 2)])
    return records[4].store_timestamp_ms, served(records, 5, 6)


def test_a_logged_deletion_decides_without_topics_json(tmp_path: Path) -> None:
    last_ms, queues = with_other(tmp_path)
    assert [life.ground for life in told(tmp_path, TopicsKnown(), queues)[1]] == [Ground.NO_CONFIG]
    lives, (life,) = told(tmp_path, TopicsKnown(), queues, event("deleted", last_ms + 5_000))
    assert (life.state, life.certain, life.ground) == ("deleted", True, Ground.DELETION_LOGGED)
    assert lives.living_from == {("T", 0): NEVER}
    assert life.logged.deleted_ms == last_ms + 5_000


@pytest.mark.parametrize("config", [known("T"), TopicsKnown()])
def test_a_topic_created_again_without_a_message_lost_no_queue(config: TopicsKnown, tmp_path: Path) -> None:
    last_ms, queues = with_other(tmp_path)
    events = event("deleted", last_ms + 5_000), event("created", last_ms + 9_000)
    lives, (former, living) = told(tmp_path, config, queues, *events)
    assert (former.state, former.certain) == ("deleted", True)
    assert (living.state, living.messages, living.certain, living.begins_ms) == ("recreated", 0, True, last_ms + 9_000)
    assert lives.living_from == {("T", 0): NEVER}
    assert lives.undecided == ()


@pytest.mark.parametrize("config", [known("T"), TopicsKnown()])
def test_a_creation_alone_proves_no_deletion(config: TopicsKnown, tmp_path: Path) -> None:
    last_ms, queues = with_other(tmp_path)
    lives, (life,) = told(tmp_path, config, queues, event("created", last_ms + 9_000))
    assert (life.state, life.certain, life.ground) == ("vanished", False, Ground.CREATION_LOGGED)
    assert (lives.undecided, lives.living_from) == ((life,), {})


def test_a_deletion_of_a_topic_that_topics_json_names_stays_open(tmp_path: Path) -> None:
    last_ms, queues = with_other(tmp_path)
    lives, (life,) = told(tmp_path, known("T"), queues, event("deleted", last_ms + 5_000))
    assert (life.state, life.certain, life.ground) == ("vanished", False, Ground.NAMED_THOUGH_DELETED)
    assert lives.undecided == (life,)


def test_a_deletion_that_the_queues_contradict_ends_nothing(tmp_path: Path) -> None:
    records = log_of(tmp_path, run("T", 0, 0, 5))
    at_ms = records[-1].store_timestamp_ms + 5_000
    lives, (life,) = told(tmp_path, known("T"), served(records, *range(5)), event("deleted", at_ms))
    assert (life.state, life.certain, lives.living_from) == ("alive", False, {})
    assert life.logged.contradiction is Contradiction.SERVED
    assert lives.contradicted == (life,)


def apart(root: Path, before: Puts, behind: Puts) -> tuple[list[Message], int]:
    """A log of two runs of messages with others for half a minute between them; an instant amid these."""
    others = run("U", 0, 0, 30_000 // STEP_MS)
    return log_of(root, [*before, *others, *behind]), FIRST_MS + (len(before) + len(others) // 2) * STEP_MS


def test_a_deletion_parts_lives_that_share_no_queue(tmp_path: Path) -> None:
    records, at_ms = apart(tmp_path, run("T", 0, 0, 2), run("T", 1, 0, 2))
    queues = served(records, len(records) - 2, len(records) - 1)
    assert len(told(tmp_path, known("T"), queues)[1]) == 1
    lives, (former, living) = told(tmp_path, known("T"), queues, event("deleted", at_ms))
    assert (former.messages, former.state, living.messages, living.state) == (2, "deleted", 2, "recreated")
    assert lives.living_start(("T", 0)) == records[-2].physical_offset


def test_a_deletion_amid_numbers_that_go_on_is_a_contradiction(tmp_path: Path) -> None:
    records, at_ms = apart(tmp_path, run("T", 0, 0, 2), run("T", 0, 2, 4))
    _, (life,) = told(tmp_path, known("T"), served(records, 0, 1, len(records) - 1), event("deleted", at_ms))
    assert (life.state, life.certain) == ("alive", False)
    assert life.logged.contradiction is Contradiction.WENT_ON


def test_a_logged_deletion_that_no_topics_json_saved_gives_up_no_message(tmp_path: Path) -> None:
    last_ms, queues = with_other(tmp_path)
    older = known(changed_ms=EARLIER)
    for events in ([event("deleted", last_ms + 5_000)], [event("deleted", last_ms + 5_000), event("created", LATER)]):
        lives, (life,) = told(tmp_path, older, queues, *events)
        assert (life.state, life.certain, life.ground) == ("vanished", False, Ground.DELETION_NOT_SAVED)
        assert (lives.undecided, lives.living_from) == ((life,), {})


def test_a_deletion_amid_messages_that_no_topics_json_saved_parts_no_lives(tmp_path: Path) -> None:
    records, at_ms = apart(tmp_path, in_turn("T", 2, 2), run("T", 0, 0, 2))
    queues = served(records, 1, 3, len(records) - 2, len(records) - 1)
    logged = event("deleted", at_ms)
    assert len(told(tmp_path, known("T"), queues, logged)[1]) == 2
    lives, (life,) = told(tmp_path, known("T", changed_ms=EARLIER), queues, logged)
    assert (life.state, life.certain, life.logged.contradiction) == ("alive", False, Contradiction.CONFIG_OLDER)
    assert set(lives.restarted) == {("T", 0)}, "the queue that starts again lost its files"
    assert ("T", 1) not in lives.living_from, "the messages of the other queue are kept"


def test_a_deletion_between_queues_that_no_topics_json_saved_parts_no_lives(tmp_path: Path) -> None:
    records, at_ms = apart(tmp_path, run("T", 0, 0, 2), run("T", 1, 0, 2))
    queues = served(records, len(records) - 2, len(records) - 1)
    lives, (life,) = told(tmp_path, known("T", changed_ms=EARLIER), queues, event("deleted", at_ms))
    assert (life.messages, life.logged.contradiction, lives.living_from) == (4, Contradiction.CONFIG_OLDER, {})
