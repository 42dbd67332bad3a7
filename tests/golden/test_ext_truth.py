"""Queues with ConsumeQueueExt files (enableConsumeQueueExt) of real brokers: the units, and what is wrong with damaged
ones."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from parsers.consumequeue.ext import CQ_EXT_UNIT, read_ext
from parsers.consumequeue.ext_columns import ext_columns
from parsers.consumequeue.layout import CQ_UNIT
from parsers.java import LONG_MIN
from parsers.store import open_store
from recovery.rebuild.rebuild import rebuild
from recovery.rebuild.report import WITHOUT_EXT
from recovery.verify.verify import verify
from tests.support.build_store import overwrite
from tests.support.opened import opened, opened_golden
from tests.support.stores import store_names, store_root, truth_lines

EXT = store_names("cqext")
QUEUE = ("CfgB", 1)
FILE = f"{QUEUE[0]}/{QUEUE[1]}/{0:020d}"


@pytest.mark.parametrize("name", EXT)
def test_every_ext_unit_is_as_the_broker_reads_it(name: str) -> None:
    store = open_store(store_root(name))
    queues = {(line["topic"], line["queueId"]): line.get("ext") for line in truth_lines(name, "queues.jsonl.gz")}
    told = {key: rows for key, rows in queues.items() if rows}
    assert store.ext_queues.keys() == told.keys()
    for key, rows in told.items():
        columns = np.stack(ext_columns(store.ext_queues[key]), axis=1).tolist()
        assert columns == [[address - LONG_MIN, size, tags, at] for address, size, tags, at, _ in rows]
        units = [unit for file in store.ext_queues[key] for unit in read_ext(file)]
        assert [unit.bitmap.hex() or None for unit in units] == [bitmap for *_, bitmap in rows]


@pytest.mark.parametrize(
    ("file", "at", "kind"),
    [
        (f"consumequeue_ext/{FILE}", 7 * 24 + CQ_EXT_UNIT.offsets["unit_size"] + 1, "ext_unit_missing"),
        (f"consumequeue_ext/{FILE}", 7 * 24 + CQ_EXT_UNIT.offsets["tags_code"] + 7, "ext_unit_wrong"),
        (f"consumequeue_ext/{FILE}", 7 * 24 + CQ_EXT_UNIT.offsets["store_timestamp_ms"] + 7, "ext_unit_wrong"),
        (f"consumequeue_ext/{FILE}", 7 * 24 + CQ_EXT_UNIT.offsets["bitmap_size"] + 1, "ext_unit_missing"),
        (f"consumequeue/{FILE}", 7 * 20 + CQ_UNIT.offsets["tags_code"] + 7, "ext_unit_missing"),
    ],
)
@pytest.mark.parametrize("name", EXT)
def test_a_changed_byte_is_inside_a_finding(name: str, file: str, at: int, kind: str, tmp_path: Path) -> None:
    root = tmp_path / "store"
    shutil.copytree(store_root(name), root)
    before = (root / file).read_bytes()[at]
    overwrite(root / file, at, bytes([before ^ 1]))
    (found,) = verify(*opened(root)).findings
    assert found.kind == kind
    assert any(place.file == file and place.file_pos <= at < place.file_pos + place.length for place in found.places)


@pytest.mark.parametrize("name", EXT)
def test_an_ext_file_that_is_lost_is_every_unit_of_the_queue(name: str, tmp_path: Path) -> None:
    root = tmp_path / "store"
    shutil.copytree(store_root(name), root)
    (root / "consumequeue_ext" / FILE).unlink()
    (found,) = verify(*opened(root)).findings
    units = next(
        line["units"] for line in truth_lines(name, "queues.jsonl.gz") if (line["topic"], line["queueId"]) == QUEUE
    )
    assert (found.kind, found.count) == ("ext_unit_missing", len(units))


@pytest.mark.parametrize("name", EXT)
def test_a_rebuild_says_that_it_makes_no_ext_units(name: str, tmp_path: Path) -> None:
    report = rebuild(*opened_golden(name), tmp_path / "new")
    assert WITHOUT_EXT in report.differences
    assert not (tmp_path / "new" / "consumequeue_ext").exists()
