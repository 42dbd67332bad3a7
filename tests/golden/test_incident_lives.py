"""Topics that were deleted, or deleted and created again, on real brokers: every command speaks of the living life."""

from __future__ import annotations

from typing import Any

import pytest

from parsers.store import open_store
from recovery.consistency import Verification, verify
from recovery.inference import infer
from recovery.settings import StoreSettings
from recovery.topic_lives import lives_of
from recovery.versions import BrokerVersion
from tests.support.opened import opened
from tests.support.incidents import Incident, incident, incident_names

NAMES = incident_names("topic-deleted", "topic-recreated")


def topics_of(case: Incident) -> dict[str, Any]:
    topics: dict[str, Any] = case.told()["answers"]["topics"]
    return topics


def verified(case: Incident) -> Verification:
    settings = StoreSettings.from_broker_conf(case.broker_conf)
    return verify(*opened(case.root, case.version, settings))


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
