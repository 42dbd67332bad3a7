"""Commands that speak of the same bytes say the same of them, whatever the damage."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from parsers.commitlog.batches.read import read_commitlog
from parsers.commitlog.batches.segment import regions_of
from parsers.commitlog.files.region import Region
from parsers.consumequeue.layout import CQ_UNIT
from parsers.damage.errors import unheard
from parsers.queues.store_queues import StoreQueues
from parsers.store.store import Store, open_store
from pipelines.answers.derived.queue_figures import queue_figures
from pipelines.report.facts.store import facts_of_store
from recovery.forecast.forecast import forecast
from recovery.knowledge.inference import StoreKnowledge
from recovery.rebuild.rebuild import rebuild
from recovery.scan.log_runs import LogGap, log_runs
from recovery.verify.findings.finding import Finding, Place
from recovery.verify.verify import verify
from tests.support.agreement import contradictions
from tests.support.cli import call
from tests.support.opened import opened
from tests.support.random_damage import BASES, damaged_store

SEEDS = st.lists(st.integers(0, 2**32 - 1), min_size=1, max_size=4)
DAMAGES = st.lists(st.integers(0, 2**32 - 1), max_size=3)
FEWER = settings(max_examples=settings().max_examples // 4)
"""Of tests that call each command by its own door."""
DUMPS = (("dump", "commitlog"), ("dump", "regions"))
COMPARED = (*DUMPS, ("dump", "consumequeue"), ("queues",), ("lag",), ("verify",))
VERSIONS = {"s498": "4.9.8", "s531": "5.3.1", "s533": "5.3.3", "s551": "5.5.1"}
CRC_FINDINGS = ("body_crc_wrong", "record_crc_wrong")
Ranges = set[tuple[str, int, int]]
Units = dict[tuple[str, int, int], tuple[int, int]]
"""By topic, queue and number in it: where a message is, and its size."""


def rows(store: Store) -> dict[int, int]:
    """What `dump commitlog` shows: the size of the message at each physical offset."""
    columns = ["physical_offset", "total_size"]
    batches = read_commitlog(store, columns=columns, damage=unheard)
    return {at: size for batch in batches for at, size in zip(*(batch[c].to_pylist() for c in columns), strict=True)}


def other_bytes(regions: list[Region]) -> Ranges:
    """The ranges without a message that `dump regions` shows."""
    return {
        (region.path.name, region.file_pos, region.length)
        for region in regions
        if region.kind != "messages" and not is_a_row(region)
    }


def is_a_row(region: Region) -> bool:
    """A message that contradicts its CRC: its range is damage, and it is a row."""
    return region.kind == "damage" and region.error is not None and region.error.field in ("body_crc", "__CRC32#")


@given(base=st.sampled_from(BASES), seeds=SEEDS)
def test_recovery_reads_the_records_and_gaps_that_dump_shows(base: str, seeds: list[int]) -> None:
    with damaged_store(base, seeds) as root:
        store = open_store(root)
        gaps: list[LogGap] = []
        runs = list(log_runs(store.commitlog, gaps.append))
        found = [run.base_offset + at for run in runs for at in run.positions.tolist()]
        regions = [region for file in store.commitlog for region in regions_of(file)]
        assert found == list(rows(store))
        assert {(gap.file.name, gap.file_pos, gap.length) for gap in gaps} == other_bytes(regions)


@given(base=st.sampled_from(BASES), seeds=SEEDS)
def test_verify_names_the_damage_that_dump_shows(base: str, seeds: list[int]) -> None:
    with damaged_store(base, seeds) as root:
        store, known = opened(root)
        regions = [region for file in store.commitlog for region in regions_of(file)]
        findings = verify(store, known).findings
        for region in regions:
            if region.kind in ("damage", "stale"):
                assert any(covers(finding, region) for finding in findings), region
        for finding in findings:
            if finding.kind in ("log_damaged", "stale_tail", "body_crc_wrong", "record_crc_wrong"):
                assert any(region.kind != "messages" and covers(finding, region) for region in regions), finding


def covers(finding: Finding, region: Region) -> bool:
    """The finding names every byte of the region, whole if it is a message whose CRC is wrong."""
    name = f"commitlog/{region.path.name}"
    places = [place for place in finding.places if place.file == name]
    return any(place.file_pos <= region.file_pos and region.end <= place.file_pos + place.length for place in places)


@given(base=st.sampled_from(BASES), seeds=SEEDS)
def test_verify_names_the_wrong_crcs_that_dump_shows(base: str, seeds: list[int]) -> None:
    with damaged_store(base, seeds) as root:
        store, known = opened(root)
        found = (finding for finding in verify(store, known).findings if finding.kind in CRC_FINDINGS)
        named = {(place.file, at) for finding in found for place in finding.places for at in bytes_of(place)}
        regions = [region for file in store.commitlog for region in regions_of(file) if is_a_row(region)]
        assert named == {
            (f"commitlog/{region.path.name}", at) for region in regions for at in range(region.file_pos, region.end)
        }


def bytes_of(place: Place) -> range:
    return range(place.file_pos, place.file_pos + place.length)


@given(base=st.sampled_from(BASES), seeds=SEEDS)
def test_rebuilt_queues_point_to_the_messages_that_dump_shows(base: str, seeds: list[int]) -> None:
    with damaged_store(base, seeds) as root, TemporaryDirectory() as folder:
        store, known = opened(root)
        report = rebuild(store, known, Path(folder) / "new")
        messages = rows(store)
        assert report.records == len(messages)
        for file in (Path(folder) / "new" / "consumequeue").glob("*/*/*"):
            units = CQ_UNIT.array(memoryview(file.read_bytes()))
            for unit in units[(units["msg_size"] > 0) & (units["msg_size"] != np.int32(2**31 - 1))]:
                assert messages.get(int(unit["physical_offset"])) == int(unit["msg_size"])


@given(base=st.sampled_from(BASES), seeds=SEEDS)
def test_forecast_loses_the_messages_that_dump_shows_behind_the_end(base: str, seeds: list[int]) -> None:
    with damaged_store(base, seeds) as root:
        store, known = opened(root, VERSIONS[base[:4]])
        told = forecast(store, known, with_advice=False)
        log = told.played.memory.commitlog
        listed = {file.base_offset: file.size for file in (*log.files, *log.deleted)}
        behind = {
            at for at in rows(store) if at >= log.max_offset and any(b <= at < b + size for b, size in listed.items())
        }
        lost = {loss.physical_offset for loss in told.lost if loss.what == "message"}
        stray = {loss.physical_offset for loss in told.lost if loss.readable is False}
        assert lost - stray == (behind if told.outcome.starts else set())
        assert not stray & rows(store).keys()


def units(store: Store) -> Units:
    """What `dump consumequeue` shows."""
    with StoreQueues(store, damage=unheard) as queues:
        return {
            (row["topic"], row["queue_id"], row["queue_offset"]): (row["physical_offset"], row["msg_size"])
            for queue in queues.values()
            for batch in queue.batches()
            for row in batch.to_pylist()
            if row["kind"] == "unit"
        }


def numbered(store: Store) -> Units:
    """The messages of the log by their number, those left out whose number two of them have."""
    columns = ["topic", "queue_id", "queue_offset", "physical_offset", "total_size"]
    found: Units = {}
    seen: Counter[tuple[str, int, int]] = Counter()
    for batch in read_commitlog(store, columns=columns):
        for topic, queue_id, number, at, size in zip(*(batch[name].to_pylist() for name in columns), strict=True):
            found[topic, queue_id, number] = at, size
            seen[topic, queue_id, number] += 1
    return {number: place for number, place in found.items() if seen[number] == 1}


@given(base=st.sampled_from(BASES), seeds=DAMAGES)
def test_rebuilt_queues_have_the_units_that_lead_to_their_messages(base: str, seeds: list[int]) -> None:
    with damaged_store(base, seeds) as root, TemporaryDirectory() as folder:
        store, known = opened(root, VERSIONS[base[:4]])
        report = rebuild(store, known, Path(folder) / "new")
        moved = {(queue.topic, queue.queue_id) for queue in report.queues if queue.out_of_order}
        rebuilt, there = open_store(Path(folder) / "new"), numbered(store)
        right = {number: place for number, place in units(store).items() if there.get(number) == place}
        new = units(rebuilt)
        assert {(*number[:2], place) for number, place in right.items()} <= {
            (*n[:2], place) for n, place in new.items()
        }
        assert all(new[number] == place for number, place in right.items() if number[:2] not in moved)
        if not verify(store, known).findings:
            assert figures(rebuilt, known) == figures(store, known)


def figures(store: Store, known: StoreKnowledge) -> list[tuple[int, int, int]]:
    """What `queues` says of each queue: its units, its first message and its end."""
    rows = queue_figures(store, known.version, lambda damage: None)
    return [(row["units"], row["min_queue_offset"], row["max_queue_offset"]) for row in rows]


@FEWER
@given(base=st.sampled_from(BASES), seeds=DAMAGES, offsets=st.lists(st.integers(-2, 300), min_size=6, max_size=6))
def test_no_command_contradicts_another(base: str, seeds: list[int], offsets: list[int]) -> None:
    with damaged_store(base, seeds) as root, TemporaryDirectory() as folder:
        write_offsets(root, offsets)
        told = {" ".join(words): call(*words, root, "--version", VERSIONS[base[:4]]) for words in COMPARED}
        told["rebuild"] = call("rebuild", root, "--to", Path(folder) / "new", "--version", VERSIONS[base[:4]])
        assert list(contradictions(told)) == []


def write_offsets(root: Path, offsets: list[int]) -> None:
    """Groups on queues that have messages, or none, or are not read, and on a topic that is not there."""
    topics = {topic: {"topicName": topic, "readQueueNums": 3, "writeQueueNums": 3} for topic in ("TopicA", "TopicB")}
    table = {f"{topic}@grp": {str(2 * i): at for i, at in enumerate(offsets)} for topic in (*topics, "Gone")}
    (root / "config").mkdir(exist_ok=True)
    (root / "config" / "topics.json").write_text(json.dumps({"topicConfigTable": topics}))
    (root / "config" / "consumerOffset.json").write_text(json.dumps({"offsetTable": table}))


@FEWER
@given(base=st.sampled_from(BASES), seeds=DAMAGES)
def test_the_report_gathers_what_the_commands_say(base: str, seeds: list[int]) -> None:
    with damaged_store(base, seeds) as root:
        version = VERSIONS[base[:4]]
        store, known = opened(root, version)
        facts = facts_of_store(store, known)
        told = {words: call(*words, root, "--version", version) for words in (("verify",), ("queues",), *DUMPS)}
        assert facts.findings == told["verify",].rows
        assert facts.queues == told["queues",].rows
        shown = (
            [{name: row[name] for name in facts.regions[0]} for row in told["dump", "regions"].rows]
            if facts.regions
            else []
        )
        assert (facts.regions or []) == shown
        assert sum(row["messages"] for row in facts.topics or []) == len(told["dump", "commitlog"].rows)
        (foretold,) = call("forecast", root, "--version", version).rows
        assert facts.forecast is not None
        assert json.loads(json.dumps(facts.forecast["lost"])) == foretold["lost"]
