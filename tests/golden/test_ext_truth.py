"""Queues with ConsumeQueueExt files (enableConsumeQueueExt) of real brokers: the units, and what is wrong with damaged
ones."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from parsers.consumequeue.ext import CQ_EXT_UNIT, read_ext
from parsers.consumequeue.ext_columns import ext_columns
from parsers.consumequeue.layout import CQ_UNIT
from parsers.store.store import open_store
from parsers.values.java import LONG_MIN
from recovery.rebuild.rebuild import rebuild
from recovery.verify.verify import verify
from tests.support.build_store import overwrite
from tests.support.copies import copy_tree
from tests.support.fixtures import CHECKOUT, unpacked
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
    copy_tree(store_root(name), root)
    before = (root / file).read_bytes()[at]
    overwrite(root / file, at, bytes([before ^ 1]))
    (found,) = verify(*opened(root)).findings
    assert found.kind == kind
    assert any(place.file == file and place.file_pos <= at < place.file_pos + place.length for place in found.places)


@pytest.mark.parametrize("name", EXT)
def test_a_size_behind_the_last_ext_unit_is_found_since_it_stops_the_load(name: str, tmp_path: Path) -> None:
    root = tmp_path / "store"
    copy_tree(store_root(name), root)
    end = sum(unit.size for unit in read_ext(open_store(root).ext_queues[QUEUE][0]))
    overwrite(root / "consumequeue_ext" / FILE, end, b"\x7f\xff")
    (found,) = verify(*opened(root)).findings
    assert (found.kind, found.places[0].file_pos) == ("ext_unit_broken", end)


@pytest.mark.parametrize("name", EXT)
def test_an_ext_file_that_is_lost_is_every_unit_of_the_queue(name: str, tmp_path: Path) -> None:
    root = tmp_path / "store"
    copy_tree(store_root(name), root)
    (root / "consumequeue_ext" / FILE).unlink()
    (found,) = verify(*opened(root)).findings
    units = next(
        line["units"] for line in truth_lines(name, "queues.jsonl.gz") if (line["topic"], line["queueId"]) == QUEUE
    )
    assert (found.kind, found.count) == ("ext_unit_missing", len(units))


@pytest.mark.parametrize("name", EXT)
def test_without_consumequeue_ext_every_address_leads_to_nothing(name: str, tmp_path: Path) -> None:
    root = tmp_path / "store"
    copy_tree(store_root(name), root)
    shutil.rmtree(root / "consumequeue_ext")
    findings = verify(*opened(root)).findings
    assert {found.kind for found in findings} == {"ext_unit_missing"}
    assert all(place.file.startswith("consumequeue") for found in findings for place in found.places)


def contents(folder: Path) -> dict[str, bytes]:
    """The bytes of every queue file below a folder, by its place there."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.glob("*/*/*") if path.is_file()}


@pytest.mark.parametrize("name", EXT)
def test_a_rebuild_makes_the_ext_files_of_the_broker(name: str, tmp_path: Path) -> None:
    store, known = opened_golden(name)
    report = rebuild(store, known, tmp_path / "new")
    assert report.ext_doubts == ()
    for kind in ("consumequeue", "consumequeue_ext"):
        folder = store_root(name) / kind
        made = {
            path.relative_to(tmp_path / "new" / kind)
            for path in (tmp_path / "new" / kind).rglob("0*")
            if path.is_file()
        }
        assert made == {path.relative_to(folder) for path in folder.rglob("0*") if path.is_file()}
        for path in made:
            assert (tmp_path / "new" / kind / path).read_bytes() == (folder / path).read_bytes(), path


@pytest.mark.parametrize("version", ["5.2.0", "5.3.3", "5.5.0"])
def test_a_rebuild_makes_the_bit_maps_of_the_real_dispatcher(version: str, tmp_path: Path) -> None:
    """Eight filters, one of them refused, over ext files that a unit does not fill evenly."""
    root = unpacked(CHECKOUT / "tests" / "golden" / "ext" / f"{version}.tar.gz") / "store"
    store, known = opened(root)
    report = rebuild(store, known, tmp_path / "new")
    for kind in ("consumequeue", "consumequeue_ext"):
        assert contents(tmp_path / "new" / kind) == contents(root / kind)
    assert len(contents(root / "consumequeue_ext")) > 20
    assert sum(queue.units for queue in report.ext) == report.records


@pytest.mark.parametrize("name", EXT)
def test_a_rebuild_says_which_bit_maps_it_cannot_know(name: str, tmp_path: Path) -> None:
    """Without the filters none can be made; a filter that is newer than messages was not there when they came."""
    root = tmp_path / "store"
    copy_tree(store_root(name), root)
    filters = root / "config" / "consumerFilter.json"
    text = re.sub(r'("bornTime": ?)\d+', r"\g<1>9000000000000", filters.read_text("utf-8"))
    filters.write_text(text, "utf-8")
    (doubt,) = rebuild(*opened(root), tmp_path / "later").ext_doubts
    assert doubt.startswith("CfgB: ")
    for path in filters.parent.glob("consumerFilter.json*"):
        path.unlink()
    report = rebuild(*opened(root), tmp_path / "without")
    assert "no bit maps" in report.ext_doubts[0]
    assert {queue.bit_map_size for queue in report.ext} == {0}
