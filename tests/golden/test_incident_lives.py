"""Topics that were deleted, or deleted and created again, on real brokers: every command speaks of the living life."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from pipelines.answers.offsets.saved import offsets_in
from pipelines.ingest.derive import write_lag_history
from pipelines.lake.lake import Lake
from pipelines.notebook.lag_history import lag_history
from recovery.forecast.forecast import forecast
from recovery.lives.life import Ground
from recovery.lives.topic_lives import lives_of
from recovery.query.lag import AHEAD, NO_FILES, NOT_THEN, TOPIC_DELETED
from recovery.rebuild.rebuild import rebuild
from recovery.rules.settings import StoreSettings
from recovery.verify.verify import Verification, verify
from tests.support.broker_conf import settings_of_conf
from tests.support.cli import call
from tests.support.cluster_lake import fill_lake
from tests.support.copies import copy_tree
from tests.support.incidents import INCIDENTS, Incident, incident, incident_names
from tests.support.opened import opened

NAMES = incident_names("topic-deleted", "topic-recreated")


def topics_of(case: Incident) -> dict[str, Any]:
    topics: dict[str, Any] = case.told()["answers"]["topics"]
    return topics


def settings_of(case: Incident) -> StoreSettings:
    return settings_of_conf(case.broker_conf)


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
            stored = messages_of(incident(name), topic)
            at = {lives.life_at((topic, stored[place]["queueId"]), place) for place in life["physicalOffsets"]}
            assert at == {found[life["life"] - 1]}
            assert found[life["life"] - 1].messages == life["records"]
            sizes = (stored[place]["size"] for place in life["physicalOffsets"])
            assert found[life["life"] - 1].size_bytes == sum(sizes)
    unchanged = {topic: len(found) for topic, found in lives.topics.items() if topic not in topics_of(incident(name))}
    assert set(unchanged.values()) == {1}


KEPT = 10
"""Numbers of each queue of a former life that stay in the log; the next ones of a later life go with the rest."""


@pytest.mark.parametrize("name", incident_names("topic-recreated"))
@pytest.mark.parametrize("topic", ["Orders", "Stock"])
def test_a_life_that_began_in_lost_bytes_is_told_from_the_former_one(name: str, topic: str, tmp_path: Path) -> None:
    """The numbers of no queue fall any more: only its units tell that it started again."""
    case, root = incident(name), tmp_path / "store"
    copy_tree(case.root, root)
    stored, (former, living) = messages_of(case, topic), topics_of(case)[topic]["lives"]
    begin = min(at for at in former["physicalOffsets"] if stored[at]["queueOffset"] >= KEPT)
    taken = [at for at in living["physicalOffsets"] if stored[at]["queueOffset"] <= KEPT]
    end = max(at + stored[at]["size"] for at in taken)
    erase(root / "commitlog", begin, end)
    store, known = opened(root, case.version, settings_of(case))
    lives = lives_of(store, known.rules)
    assert [life.lives for life in lives.topics[topic]] == [False, True]
    for number, life in enumerate((former, living)):
        left = [at for at in life["physicalOffsets"] if not begin <= at < end]
        assert left != []
        assert {lives.life_at((topic, stored[at]["queueId"]), at) for at in left} == {lives.topics[topic][number]}
    report = rebuild(store, known, tmp_path / "new")
    assert topic in {life.topic for life in report.left_out}
    assert topic not in {
        finding.span.topic for finding in verify(store, known).findings if finding.kind == "not_dispatched"
    }


def erase(log: Path, begin: int, end: int) -> None:
    """Zeros in place of the bytes [begin, end) of a log."""
    for path in sorted(log.iterdir()):
        base, data = int(path.name), bytearray(path.read_bytes())
        first, behind = max(begin - base, 0), min(end - base, len(data))
        if first < behind:
            data[first:behind] = bytes(behind - first)
            path.write_bytes(data)


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
    unnamed = [state.why for state in found.explained if Ground.NOT_CONFIGURED.value in state.why]
    assert all("topics.json was lost, and cleanUnusedTopic" in why for why in unnamed)
    assert sum(1 for state in found.explained if "life" in state.what or state.what == "deleted topic") == sum(
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


STARTS = [(name, how) for name in NAMES for how in ("clean", "abort", "abort-nocheckpoint")]


@pytest.mark.parametrize(("name", "how"), STARTS)
def test_forecast_loses_nothing_and_says_what_a_start_brings_back(name: str, how: str, tmp_path: Path) -> None:
    case = incident(name)
    root = case.root if how == "clean" else crashed(case.root, tmp_path / "store", keeps_checkpoint=how == "abort")
    told = forecast(*opened(root, case.version, settings_of(case)))
    living, after = (case.told()["nextStart"][start]["queues"] for start in ("clean", how))
    assert {loss.what for loss in told.lost} <= ({"index_entries"} if how == "abort" else set())
    assert {loss.topic for loss in told.lost} <= living.keys()
    back = {(row.topic, row.queue_id): row.messages for row in told.brought_back}
    widths = {
        (topic, int(queue_id)): end - start
        for topic, queues in after.items()
        for queue_id, (start, end) in queues.items()
        if end and queue_id not in living.get(topic, {})
    }
    assert back.keys() == widths.keys()
    assert all(0 < messages <= widths[key] for key, messages in back.items())  # 4.9.7 counts pre-blanks, too
    assert told.has_loss == bool(told.brought_back or told.lost)
    assert not any("abort" in advice.repair.files for advice in told.advice)


@pytest.mark.parametrize("name", NAMES)
def test_forecast_of_an_orderly_store_says_what_a_crash_would_bring_back(name: str, tmp_path: Path) -> None:
    case = incident(name)
    told, after = (
        forecast(*opened(root, case.version, settings_of(case)))
        for root in (case.root, crashed(case.root, tmp_path / "store", keeps_checkpoint=True))
    )
    assert told.crash_brings_back == after.brought_back
    assert after.crash_brings_back == ()


@pytest.mark.parametrize("name", NAMES)
def test_a_lost_index_is_rebuilt_where_a_dispatch_would_bring_deleted_messages_back(name: str, tmp_path: Path) -> None:
    case, root = incident(name), tmp_path / "store"
    copy_tree(case.root, root, ignore=shutil.ignore_patterns("index"))
    foretold = forecast(*opened(root, case.version, settings_of(case)))
    assert foretold.outcome.lost_index
    (advice,) = foretold.advice
    assert advice.repair.do.startswith("put the index/ in place that `rocketlens rebuild` writes")
    rebuild(*opened(root, case.version, settings_of(case)), tmp_path / "new")
    shutil.move(tmp_path / "new" / "index", root / "index")
    mended = forecast(*opened(root, case.version, settings_of(case)))
    assert (mended.outcome.lost, mended.advice) == (dict.fromkeys(mended.outcome.lost, 0), ())


def crashed(root: Path, to: Path, *, keeps_checkpoint: bool) -> Path:
    """A copy of a store as if the machine had failed."""
    copy_tree(root, to)
    (to / "abort").touch()
    if not keeps_checkpoint:
        (to / "checkpoint").unlink()
    return to


def contents(root: Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


@pytest.mark.parametrize("name", NAMES)
def test_lag_says_which_offsets_are_of_a_former_life(name: str) -> None:
    case = incident(name)
    rows = {(row["group"], row["topic"], row["queue_id"]): row for row in call("lag", case.root, "--quiet").rows}
    for topic, told in topics_of(case).items():
        for group, of_group in told["groups"].items():
            for queue_id, stale in of_group.get("staleOffsets", {}).items():
                row = rows.get((group, topic, int(queue_id)))
                assert (row is not None) == (stale["queueMax"] > 0), "the topic came back with fewer queues"
                if row is not None:
                    assert "of a former life" in row["reason"]
                    assert f"skips {stale['queueMax']} living messages" in row["reason"]
                    assert (row["consumer_offset"], row["broker_offset"]) == (stale["committed"], stale["queueMax"])
    for (group, topic, queue_id), row in rows.items():
        stale = topics_of(case).get(topic, {}).get("groups", {}).get(group, {}).get("staleOffsets", {})
        if str(queue_id) not in stale:
            deleted = topic in topics_of(case) and not topics_of(case)[topic]["existsAtEnd"]
            has_files = (case.root / "consumequeue" / topic / str(queue_id)).is_dir()
            assert row["reason"] == (TOPIC_DELETED if deleted else None if has_files else NO_FILES)


@pytest.mark.parametrize("name", incident_names("topic-recreated"))
def test_an_offset_within_what_the_log_has_of_a_lost_queue_is_of_no_former_life(name: str, tmp_path: Path) -> None:
    """The queue that lost its files has living messages, and the group read them all."""
    root, last = tmp_path / "store", topics_of(incident(name))["Stock"]["lives"][-1]["queueOffsets"]["1"][1]
    copy_tree(incident(name).root, root)
    shutil.rmtree(root / "consumequeue" / "Stock" / "1")
    rows = call("lag", root, "--group", "CG_y-back", "--topic", "Stock").rows
    (lost,) = [row for row in rows if row["queue_id"] == 1]
    assert (lost["broker_offset"], lost["consumer_offset"]) == (0, last + 1)
    assert lost["reason"] == f"{AHEAD}: {NO_FILES}"


def test_the_queues_of_a_topic_that_nobody_configured_are_those_with_files(tmp_path: Path) -> None:
    """topics.json is of a time before the topic was created again, and its queues were not copied."""
    root = tmp_path / "store"
    copy_tree(incident("5.3.3-topic-recreated").root, root)
    shutil.rmtree(root / "consumequeue" / "Orders")
    for path in (root / "config").glob("topics.json*"):
        table = json.loads(path.read_text("utf-8"))
        del table["topicConfigTable"]["Orders"]
        path.write_text(json.dumps(table), "utf-8")
    findings = verify(*opened(root, "5.3.3")).findings
    assert {finding.kind for finding in findings if finding.span.topic == "Orders"} == {
        "queue_missing",
        "not_dispatched_yet",
    }


def test_a_lost_checkpoint_is_not_called_harmless_where_deleted_topics_come_back(tmp_path: Path) -> None:
    """The real broker gave five queues of deleted topics back on this store with abort and without its checkpoint."""
    case, root = incident("4.9.7-topic-deleted"), tmp_path / "store"
    copy_tree(case.root, root)
    (root / "checkpoint").unlink()
    (root / "abort").touch()
    told = json.loads(call("forecast", root, "--version", case.version).out)
    brought_back = {each["topic"] for each in told["brought_back"]}
    assert brought_back == set(case.told()["facts"]["deleted"])
    (finding,) = verify(*opened(root, case.version)).findings
    assert finding.kind == "checkpoint_missing"
    assert "With one, see what `forecast` brings back" in finding.rule.repair


def test_lag_at_an_instant_of_a_former_life_is_unknown() -> None:
    case = incident("4.9.7-topic-recreated")
    former = topics_of(case)["Orders"]["lives"][0]["lastStoreTimestamp"]
    history = INCIDENTS / case.name / "truth" / "offset_history"
    rows = call("lag", case.root, "--at", former, "--offsets", history, "--topic", "Orders", "--quiet").rows
    assert rows
    assert {(row["broker_offset"], row["status"]) for row in rows} == {(None, "unknown")}
    assert {row["reason"] for row in rows if row["consumer_offset"] is not None} == {NOT_THEN}


@pytest.mark.parametrize("name", NAMES)
def test_the_history_of_lag_in_a_lake_knows_the_lives_as_the_store_does(name: str, tmp_path: Path) -> None:
    case, lake = incident(name), Lake(tmp_path / "lake")
    store, _ = opened(case.root, case.version)
    copies = offsets_in(case.truth / "offset_history", pytest.fail)
    fill_lake(lake, store, copies)
    write_lag_history(lake)
    told = lag_history(store, copies, damage=lambda damage: pytest.fail(damage.reason))
    ours, theirs = (
        {tuple(map(row.get, PLACE)): list(map(row.get, TOLD)) for row in rows.to_pylist() if row["topic"] in topics}
        for topics in [topics_of(case)]
        for rows in (lake.query("SELECT * FROM lag_history"), told)
    )
    both = ours.keys() & theirs.keys()  # a lake has the queues with an offset, a store those that are configured
    assert {place: ours[place] for place in both} == {place: theirs[place] for place in both}
    assert {TOPIC_DELETED if name.endswith("deleted") else NOT_THEN} <= {ours[place][-1] for place in both}


PLACE = ("at", "group", "topic", "queue_id")
TOLD = ("broker_offset", "consumer_offset", "messages_behind", "status", "reason")


def messages_of(case: Incident, topic: str) -> dict[int, dict[str, Any]]:
    return {row["physicalOffset"]: row for row in case.lines("messages.jsonl.gz") if row.get("topic") == topic}


@pytest.mark.parametrize("name", NAMES)
def test_find_marks_messages_of_former_lives(name: str) -> None:
    case = incident(name)
    for topic, told in topics_of(case).items():
        stored = messages_of(case, topic)
        for life in told["lives"]:
            for place in life["physicalOffsets"][:: len(life["physicalOffsets"]) // 2]:
                found = call("find", case.root, "--topic", topic, "--unique-id", stored[place]["uniqKey"], "--quiet")
                assert [row["life"] for row in found.rows if row["physical_offset"] == place] == [
                    "living" if life["live"] else "former"
                ]


def committed_past(case: Incident, place: int, topic: str) -> dict[str, bool]:
    """Group -> whether the story of a message says that it was committed past."""
    unique_id = messages_of(case, topic)[place]["uniqKey"]
    rows = call("who", case.root, "--message-id", unique_id, "--quiet").rows
    return {row["group"]: row["step"] == "committed" for row in rows if row["step"] in ("committed", "consumed")}


def test_who_takes_no_offset_of_another_life_for_a_commit() -> None:
    case = incident("4.9.7-topic-recreated")
    former, living = (life["physicalOffsets"][3] for life in topics_of(case)["Orders"]["lives"])
    assert committed_past(case, living, "Orders") == {"CG_x-away": False, "CG_x-online": True}
    assert committed_past(case, former, "Orders") == {"CG_x-away": True, "CG_x-online": False}


def test_who_counts_what_was_committed_before_the_topic_was_deleted() -> None:
    case = incident("4.9.7-topic-deleted")
    (life,) = topics_of(case)["Invoices"]["lives"]
    assert committed_past(case, life["physicalOffsets"][3], "Invoices") == {"CG_late": True, "CG_live": True}
    unread = life["physicalOffsets"][-1]
    assert committed_past(case, unread, "Invoices") == {"CG_late": False, "CG_live": True}


@pytest.mark.parametrize("name", NAMES)
def test_topics_lists_every_life(name: str) -> None:
    case = incident(name)
    rows = call("topics", case.root, "--quiet").rows
    for topic, told in topics_of(case).items():
        found = [row for row in rows if row["topic"] == topic]
        assert [(row["life"], row["messages"], row["first_physical_offset"]) for row in found] == [
            (life["life"], life["records"], life["firstPhysicalOffset"]) for life in told["lives"]
        ]
        assert [row["state"] for row in found] == ["recreated" if life["live"] else "deleted" for life in told["lives"]]
        assert all(row["certain"] for row in found)
