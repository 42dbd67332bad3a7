"""An index that was lost and begun anew: what `find` says of it, and what reading the log itself gives."""

from __future__ import annotations

import pytest

from recovery.query.query import StoreQuery
from recovery.verify.verify import verify
from tests.support.cli import call, rows_of
from tests.support.incidents import incident, incident_names
from tests.support.opened import opened
from tests.support.stores import CLASSIC_KINDS, store_names, store_root

NAMES = incident_names("index-lost")


@pytest.mark.parametrize("name", NAMES)
def test_the_index_says_how_far_it_goes_and_what_it_lacks(name: str) -> None:
    case = incident(name)
    told = case.told()["answers"]
    query = StoreQuery(*opened(case.root, case.version))
    missing, reach = query.uncovered(), query.index_reach()
    assert missing is not None
    assert reach is not None
    assert missing.messages == told["messagesNotCovered"]
    assert reach.first_physical_offset == told["indexCoversFromPhysicalOffset"]


@pytest.mark.parametrize("name", NAMES)
def test_a_scan_finds_what_no_query_by_key_can(name: str) -> None:
    case = incident(name)
    examples = [example for example in case.told()["answers"]["examples"] if example["inLog"]]
    assert examples
    for example in examples[:6]:
        asked = ["find", case.root, "--topic", example["topic"], "--key", example["key"]]
        by_index = call(*asked)
        assert (by_index.code, len(by_index.rows)) == (4, example["brokerFinds"])
        assert "--scan" in by_index.err
        found = rows_of(*asked, "--scan")
        assert [row["physical_offset"] for row in found] == sorted(example["physicalOffsetsInLog"], reverse=True)
        assert {row["found_by"] for row in found} == {"scan"}


@pytest.mark.parametrize("name", NAMES)
def test_verify_names_the_range_once(name: str) -> None:
    case = incident(name)
    (found,) = verify(*opened(case.root, case.version)).findings
    assert found.kind == "index_keys_missing"
    assert found.span.end_physical_offset == case.told()["answers"]["indexCoversFromPhysicalOffset"]


@pytest.mark.parametrize("name", store_names(*CLASSIC_KINDS, "batchcq", "dledger"))
def test_an_index_that_is_whole_reaches_every_message(name: str) -> None:
    assert StoreQuery(*opened(store_root(name))).uncovered() is None
