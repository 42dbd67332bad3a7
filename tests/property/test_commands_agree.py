"""Commands that speak of the same bytes say the same of them, whatever the damage."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from parsers.commitlog.read import read_commitlog
from parsers.commitlog.region import Region
from parsers.commitlog.segment import regions_of
from parsers.consumequeue.layout import CQ_UNIT
from parsers.store import Store, open_store
from recovery.checks.finding import Finding
from recovery.consistency import verify
from recovery.forecast import forecast
from recovery.log_runs import LogGap, log_runs
from recovery.rebuild import rebuild
from tests.support.opened import opened
from tests.support.random_damage import BASES, damaged_store

SEEDS = st.lists(st.integers(0, 2**32 - 1), min_size=1, max_size=4)
VERSIONS = {"s498": "4.9.8", "s531": "5.3.1", "s533": "5.3.3", "s551": "5.5.1"}
Ranges = set[tuple[str, int, int]]


def rows(store: Store) -> dict[int, int]:
    """What `dump commitlog` shows: the size of the message at each physical offset."""
    columns = ["physical_offset", "total_size"]
    batches = read_commitlog(store, columns=columns, on_damage="collect")
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
    name = f"commitlog/{region.path.name}"
    places = [place for place in finding.places if place.file == name]
    return any(place.file_pos <= region.file_pos < place.file_pos + place.length for place in places)


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
