"""Topics that were deleted, or deleted and created again, on real brokers: every command speaks of the living life."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from recovery.consistency import Verification, verify
from recovery.rebuild import rebuild
from recovery.settings import StoreSettings
from recovery.topic_lives import lives_of
from tests.support.opened import opened
from tests.support.incidents import Incident, incident, incident_names

NAMES = incident_names("topic-deleted", "topic-recreated")


def topics_of(case: Incident) -> dict[str, Any]:
    topics: dict[str, Any] = case.told()["answers"]["topics"]
    return topics


def settings_of(case: Incident) -> StoreSettings:
    return StoreSettings.from_broker_conf(case.broker_conf)


def verified(case: Incident) -> Verification:
    return verify(*opened(case.root, case.version, settings_of(case)))


@pytest.mark.parametrize("name", NAMES)
def test_every_record_is_of_the_life_that_the_steps_say(name: str) -> None:
    store, known = opened(incident(name).root)
    lives = lives_of(store, known.rules)
    for topic, told in topics_of(incident(name)).items():
        found = lives.topics[topic]
        assert [(life.life, life.lives) for life in found] == [(life["life"], life["live"]) for life in told["lives"]]
        for life in told["lives"]:
            at = {lives.life_at(topic, place) for place in life["physicalOffsets"]}
            assert at == {found[life["life"] - 1]}
            assert found[life["life"] - 1].messages == life["records"]
    unchanged = {topic: len(found) for topic, found in lives.topics.items() if topic not in topics_of(incident(name))}
    assert set(unchanged.values()) == {1}


@pytest.mark.parametrize("name", NAMES)
def test_verify_finds_no_damage_and_names_stale_offsets(name: str) -> None:
    found = verified(incident(name))
    stale = {
        (group, topic, int(queue_id))
        for topic, told in topics_of(incident(name)).items()
        for group, of_group in told["groups"].items()
        for queue_id in of_group.get("staleOffsets", {})
    }
    named = {(f.evidence[0].split(" on ")[0], f.span.topic, f.span.queue_id) for f in found.findings}
    assert {finding.kind for finding in found.findings} <= {"consumer_offset_of_former_life"}
    assert named == stale
    assert sum(1 for state in found.explained if "life" in state.what or "deleted topic" == state.what) == sum(
        not life["live"] for told in topics_of(incident(name)).values() for life in told["lives"]
    )


@pytest.mark.parametrize("name", NAMES)
def test_rebuild_writes_the_queues_of_the_living_lives_only(name: str, tmp_path: Path) -> None:
    case = incident(name)
    report = rebuild(*opened(case.root, case.version, settings_of(case)), tmp_path / "new")
    made, own = tmp_path / "new" / "consumequeue", case.root / "consumequeue"
    assert contents(made) == {place: data for place, data in contents(own).items() if any(data)}
    ended = [life for told in topics_of(case).values() for life in told["lives"] if not life["live"]]
    assert sum(life.messages for life in report.left_out) == sum(life["records"] for life in ended)
    assert report.undecided == ()


def contents(root: Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}
