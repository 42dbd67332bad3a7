"""Starts with consumers' filters: what the ext units and addresses are then, recorded from the broker's own classes."""

from __future__ import annotations

import json
import shutil
import tarfile
from pathlib import Path

import pytest

from pipelines.notebook.bundles import extract_all
from recovery.rebuild.filter_bits import filter_bits
from tests.support.ext_starts import DAMAGES, play
from tests.support.fixtures import GOLDEN, unpacked
from tests.support.opened import opened
from tests.support.stores import store_names, store_root

RECORDED = json.loads((GOLDEN / "ext" / "starts.json").read_text("utf-8"))


@pytest.mark.parametrize("compiled", [True, False], ids=["compiled", "scalar"])
@pytest.mark.parametrize("name", DAMAGES)
@pytest.mark.parametrize("version", RECORDED)
def test_a_start_writes_bit_maps_and_addresses(version: str, name: str, compiled: bool, tmp_path: Path) -> None:
    with tarfile.open(GOLDEN / "ext" / f"{version}.tar.gz") as packed:
        extract_all(packed, tmp_path)
    DAMAGES[name](tmp_path / "store")
    assert play(tmp_path / "store", version, compiled=compiled) == RECORDED[version][name]


@pytest.mark.parametrize("version", RECORDED)
@pytest.mark.parametrize("gone", ["", "consumequeue"])
def test_bit_maps_in_ext_units_tell_that_the_broker_calculates_them(version: str, gone: str, tmp_path: Path) -> None:
    """With nothing said and also where the queues are gone, so that a rebuild or forecast goes by the filters."""
    with tarfile.open(GOLDEN / "ext" / f"{version}.tar.gz") as packed:
        extract_all(packed, tmp_path)
    if gone:
        shutil.rmtree(tmp_path / "store" / gone)
    _, known = opened(tmp_path / "store")
    assert known.settings.enable_calc_filter_bit_map


@pytest.mark.parametrize(("name", "expected"), [*((name, 8) for name in store_names("cqext")), ("5.3.3.tar.gz", 64)])
def test_filters_are_taken_where_they_have_the_size_that_the_settings_give(name: str, expected: int) -> None:
    """`expected`: expectConsumerNumUseFilter of these brokers, whose own class made the bits in the file."""
    root = unpacked(GOLDEN / "ext" / name) / "store" if name.endswith(".gz") else store_root(name)
    taken = {
        number: filter_bits(*opened(root, version="5.3.3", config={"expectConsumerNumUseFilter": str(number)}))
        for number in (expected, 2 * expected)
    }
    assert taken[expected].topics
    assert not taken[2 * expected].topics
    assert "expectConsumerNumUseFilter" in taken[2 * expected].why_not
