"""What happened to topics and groups of the incidents, beside the steps that were done to them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from parsers.damage.errors import Damage
from pipelines.answers.derived.group_rows import group_rows
from pipelines.answers.lag.groups_left import groups_left
from pipelines.answers.lives.life_events import life_events
from pipelines.recordings.listening import hear
from pipelines.recordings.recordings import find_recordings
from pipelines.recordings.topic_log import LifeLines
from recovery.lives.config_states import Happening
from recovery.lives.story import LifeEvent
from tests.support.cli import call
from tests.support.copies import copy_tree
from tests.support.incidents import Incident, incident, incident_names
from tests.support.opened import opened
from tests.support.recorded import offset_record

WITH_LOGS = [name for name in incident_names() if not name.endswith("config-broken")]
LIVES = incident_names("topic-deleted", "topic-recreated")
SECOND_MS = 1_000
CREATE, DELETE = "createAndUpdateTopicConfig", "deleteTopicInBroker"
BORN = {Happening.CREATED, Happening.CREATED_AGAIN}


def events_of(case: Incident, *, with_logs: bool, root: Path | None = None) -> list[LifeEvent]:
    lost, problems = list[Damage](), list[str]()
    told = LifeLines()
    hear(find_recordings([case.logs] if with_logs else []), [told], problems.append)
    lines = [line for of_broker in told.by_broker.values() for line in of_broker]
    store, known = opened(root or case.root, case.version)
    found = life_events(store, known, lines, damage=lost.append, problem=problems.append)
    assert not problems
    return found


def done(case: Incident) -> list[tuple[str, Happening, dict[str, Any]]]:
    """What was done to each topic, in order."""
    steps: list[tuple[str, Happening, dict[str, Any]]] = []
    there: dict[str, bool] = {}
    for step in case.told()["steps"]:
        topic = step.get("topic") or ""
        if topic.startswith("%"):
            continue  # made by the broker before anybody changed it
        if step["what"] == DELETE:
            steps.append((topic, Happening.DELETED, step))
            there[topic] = False
        elif step["what"] == CREATE:
            known = {True: Happening.CHANGED, False: Happening.CREATED_AGAIN}
            steps.append((topic, Happening.CREATED if topic not in there else known[there[topic]], step))
            there[topic] = True
    return steps


@pytest.mark.parametrize("name", WITH_LOGS)
def test_the_lines_tell_what_was_done_and_when(name: str) -> None:
    case = incident(name)
    events = events_of(case, with_logs=True)
    for topic in {topic for topic, _, _ in done(case)}:
        told = [event for event in events if event.subject == "topic" and event.name == topic]
        steps = [(happening, step) for of_topic, happening, step in done(case) if of_topic == topic]
        assert [event.happening for event in told] == [happening for happening, _ in steps]
        for event, (happening, step) in zip(told, steps, strict=True):
            assert event.certain
            assert event.by is not None
            assert event.earliest_ms is not None
            assert event.latest_ms is not None
            assert event.earliest_ms - SECOND_MS <= step["doneAt"]
            assert step["calledAt"] <= event.latest_ms + SECOND_MS
            if happening is not Happening.DELETED:
                assert event.after is not None
                assert int(event.after["readQueueNums"]) == step["readQueueNums"]
                assert int(event.after["writeQueueNums"]) == step["writeQueueNums"]


@pytest.mark.parametrize("name", LIVES)
def test_without_a_log_the_windows_hold_the_deletions(name: str) -> None:
    case = incident(name)
    events = events_of(case, with_logs=False)
    for topic, answer in case.told()["answers"]["topics"].items():
        deletions = [e for e in events if e.name == topic and e.happening is Happening.DELETED]
        births = [e for e in events if e.name == topic and e.happening in BORN]
        lives = answer["lives"]
        assert [e.life for e in births] == [life["life"] for life in lives]
        assert [e.life for e in deletions] == [life["life"] for life in lives if life["deletedAt"]]
        for event in deletions:
            deleted = lives[(event.life or 0) - 1]["deletedAt"]
            assert event.earliest_ms is not None
            assert event.earliest_ms <= deleted <= (event.latest_ms or 0)
        for event in births:
            assert (event.earliest_ms or 0) <= lives[(event.life or 0) - 1]["createdAt"] <= (event.latest_ms or 0)


@pytest.mark.parametrize("name", incident_names("topic-recreated"))
def test_the_lives_of_a_log_get_the_numbers_that_the_steps_have(name: str) -> None:
    case = incident(name)
    events = events_of(case, with_logs=True)
    for topic, answer in case.told()["answers"]["topics"].items():
        for life in answer["lives"]:
            (birth,) = [e for e in events if e.name == topic and e.happening in BORN and e.life == life["life"]]
            assert abs((birth.earliest_ms or 0) - life["createdAt"]) <= SECOND_MS
            ends = [
                e for e in events if e.name == topic and e.happening is Happening.DELETED and e.life == life["life"]
            ]
            assert [abs((e.earliest_ms or 0) - life["deletedAt"]) <= SECOND_MS for e in ends] == [True] * len(ends)
            assert bool(ends) == bool(life["deletedAt"])


@pytest.mark.parametrize("name", ["4.9.7-queues-shrunk", "4.9.7-topic-recreated"])
def test_two_files_one_change_apart_give_its_instant(name: str) -> None:
    """topics.json and its .bak, one change older: the log has the same change in that second."""
    case = incident(name)
    alone, told = events_of(case, with_logs=False), events_of(case, with_logs=True)
    (exact,) = [e for e in alone if e.subject == "topic" and "topics.json.bak" in e.evidence]
    assert exact.certain
    assert exact.earliest_ms == exact.latest_ms
    (line,) = [e for e in told if (e.name, e.happening) == (exact.name, exact.happening)][-1:]
    assert (line.earliest_ms or 0) <= (exact.latest_ms or 0) <= (line.latest_ms or 0)
    assert line.after == exact.after


@pytest.mark.parametrize("name", ["4.9.7-queues-shrunk", "5.3.3-queues-shrunk"])
def test_kept_copies_tell_changes_that_no_line_does(name: str, tmp_path: Path) -> None:
    case = incident(name)
    topics = json.loads((case.root / "config" / "topics.json").read_text("utf-8"))
    (topic, _, step) = next(each for each in done(case) if each[1] is Happening.CHANGED)
    before = json.loads(json.dumps(topics))
    before["topicConfigTable"][topic]["readQueueNums"] = 16
    before["dataVersion"]["counter"] -= 9
    before["dataVersion"]["timestamp"] -= 3_600_000
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / f"topics-{step['calledAt']}.json").write_text(json.dumps(before), "utf-8")
    rows = call("lives", case.root, "--topic", topic, "--kept", kept, "--version", case.version).rows
    (changed,) = [row for row in rows if row["happened"] == "changed"]
    assert changed["before"] == "readQueueNums=16"
    assert not changed["certain"]
    assert "times in between" in changed["reason"]


@pytest.mark.parametrize("name", LIVES)
def test_a_deletion_that_the_files_contradict_is_not_certain(name: str, tmp_path: Path) -> None:
    """topics.json of another time: it is older than the messages before the deletion, which would have changed it."""
    case, root = incident(name), tmp_path / "store"
    copy_tree(case.root, root)
    for file in ("topics.json", "topics.json.bak"):
        path = root / "config" / file
        stored = json.loads(path.read_text("utf-8"))
        stored["dataVersion"]["timestamp"] = 1
        path.write_text(json.dumps(stored), "utf-8")
    events = events_of(case, with_logs=True, root=root)
    deletions = [e for e in events if e.happening is Happening.DELETED]
    assert deletions
    assert all(event.reason for event in deletions if not event.certain)
    assert not all(event.certain for event in deletions)


@pytest.mark.parametrize("name", WITH_LOGS)
def test_groups_are_as_their_consumers_left_them(name: str) -> None:
    case = incident(name)
    lost = list[Damage]()
    left = groups_left(*opened(case.root, case.version), damage=lost.append)
    record = offset_record(case.logs)
    rows = {row["group"]: row for row in group_rows(left, record)}
    there: dict[str, int] = {}
    stopped: dict[str, int] = {}
    for step in case.told()["steps"]:
        if step["what"] in ("consumer started", "consumer stopped"):
            there[step["group"]] = there.get(step["group"], 0) + (1 if step["what"] == "consumer started" else -1)
            stopped[step["group"]] = step["at"]
        elif step["what"].startswith("broker started"):
            there = dict.fromkeys(there, 0)
    for group, consumers in there.items():
        if group not in rows or "kill9" in name or "delay" in name:
            continue
        assert rows[group]["state"] == ("connected" if consumers > 0 else "absent"), group
        if consumers == 0 and rows[group]["absent_since"] is not None:
            assert abs(rows[group]["absent_since"].timestamp() * 1000 - stopped[group]) < 5 * SECOND_MS
    free = {group for group, row in rows.items() if row["loses_nothing"]}
    if "delay" not in name:  # the log shows there that the last consumer left; no step does
        assert all(there.get(group, 0) == 0 for group in free)
    assert not free or not case.version.startswith("5"), "no line shows a consumer behind a proxy"


@pytest.mark.parametrize("name", incident_names("topic-deleted", "offsets-reset"))
def test_a_log_that_was_copied_before_the_store_frees_no_group(name: str) -> None:
    """It ends a minute before the store was last written to."""
    case = incident(name)
    lost = list[Damage]()
    left = groups_left(*opened(case.root, case.version), damage=lost.append)
    whole = offset_record(case.logs)
    early = replace(whole, covered=[(begin, min(one.saved_ms for one in left) - 66_000) for begin, _ in whole.covered])
    assert any(row["loses_nothing"] for row in group_rows(left, whole)) == case.version.startswith("4")
    assert not any(row["loses_nothing"] for row in group_rows(left, early))


@pytest.mark.parametrize("name", incident_names("topic-recreated"))
def test_a_word_on_proxies_decides_where_the_version_may_have_one(name: str) -> None:
    case = incident(name)
    asked = ("groups", case.root, "--logs", case.logs, "--version", case.version)
    without, told = (call(*asked, *more).rows for more in ((), ("--no-proxy",)))
    assert without
    assert [row["state"] for row in without] == [row["state"] for row in told]
    for before, after in zip(without, told, strict=True):
        if before["loses_nothing"] is not None:
            assert after == before
        assert "proxy" not in (after["reason"] or "")
        if after["loses_nothing"] and case.version.startswith("5"):
            assert "your word" in after["advice"]


@pytest.mark.parametrize("name", incident_names("retry-dlq"))
def test_dead_letters_keep_a_group(name: str) -> None:
    case = incident(name)
    dead = [chain for chain in case.told()["answers"]["retryChains"] if chain["outcome"].startswith("dead")]
    rows = call("groups", case.root, "--logs", case.logs, "--version", case.version).rows
    (worker,) = [row for row in rows if row["dead_letters"]]
    assert worker["dead_letters"] >= len(dead) > 0
    assert worker["loses_nothing"] is False
    assert "dead letters" in worker["advice"]
    without = call("groups", case.root, "--version", case.version).rows
    assert {row["state"] for row in without} == {"unknown", "system"}
    assert not any(row["loses_nothing"] for row in without)
