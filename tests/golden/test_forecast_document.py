"""The document of the command line against the recorded starts, and the advice it gives."""

from __future__ import annotations

import json
from typing import Any

import pytest

from parsers.commitlog.batches.read import read_commitlog
from parsers.store.store import NotAStore, open_store
from recovery.forecast.document import forecast_document
from recovery.forecast.forecast import Forecast, forecast
from recovery.rules.settings import StoreSettings
from recovery.rules.versions import BrokerVersion
from tests.support.opened import opened
from tests.support.recovery_cases import Case, golden_cases
from tests.support.recovery_judge import LAB_HEAP_BYTES, effective_settings

CASES = golden_cases()
PASS_FILES_OVER = ("3.2.6", "4.2.0", "4.3.2", "4.4.0")
"""Versions that read a log up to a file of another size; the files after it stay where they are."""
STARTS = [name for name in CASES.names() if "-retention" not in name]


def _foretold(case: Case, *, any_version: bool = False, with_advice: bool = False) -> tuple[Forecast, dict[str, Any]]:
    """The forecast of a case's store and its document, as JSON gives it back."""
    with CASES.built(case) as root:
        settings = StoreSettings.from_config(effective_settings(case))
        version = None if any_version else case["version"]
        told = forecast(*opened(root, version, settings), heap_bytes=LAB_HEAP_BYTES, with_advice=with_advice)
        return told, json.loads(json.dumps(forecast_document(told)))


def _assert_as_recorded(document: dict[str, Any], truth: dict[str, Any]) -> None:
    assert truth.get("hang") or document["load"]["ok"] == bool(truth.get("load"))
    if not truth.get("load"):  # also where it hung, then or in start()
        assert document["after_dispatch"] is None
        return
    assert document["start"]["returns"] == truth["start"]
    if not truth["start"]:
        thrown, told_error = truth["startException"].replace("<store>/", ""), document["start"]["error"]
        assert thrown == told_error or (
            thrown.startswith("java.lang.IllegalArgument") and "holds no unit" in told_error
        )
        assert document["after_dispatch"] is None
        return
    after, quiet = document["after_dispatch"], truth["quiet"]
    log = document["commitlog"]
    assert (log["min_physical_offset"], log["max_physical_offset"]) == (quiet["commitLogMin"], quiet["commitLogMax"])
    on_disk = sorted(
        path[10:] for path in quiet["files"] if path.startswith("commitlog/") and path[10:].lstrip("-").isdigit()
    )
    passed_over = on_disk[len(log["files"]) :] if document["version"] in PASS_FILES_OVER else []
    assert log["files"] + passed_over == on_disk
    for rows, state in ((document["before_dispatch"], truth["afterLoad"]), (after, quiet)):
        told = {f"{row['topic']}/{row['queue_id']}": row for row in rows["queues"]}
        assert told.keys() == state["queues"].keys()
        for name, queue in state["queues"].items():
            assert (told[name]["min_queue_offset"], told[name]["max_queue_offset"]) == (queue["min"], queue["max"])
    hashes = {
        f"{name}/{file['file']}": file["sha256"] for name, queue in quiet["queues"].items() for file in queue["files"]
    }
    assert after["consumequeue_sha256"] == hashes
    if "dispatchedInLoad" in truth:  # the dispatch of 3.2.6 tells nobody
        dispatched = truth["dispatchedInLoad"]["count"] + truth["dispatchedInReput"]["count"]
        assert document["redispatched_messages"] == dispatched
    before = {path[6:] for path in truth["filesBefore"] if path.startswith("index/")}
    recorded = {row["file"] for row in quiet["index"]}
    told_files = {row["name"]: row["action"] for row in after["index_files"] if row["name"]}
    assert {name for name, action in told_files.items() if action == "kept"} == recorded & before
    assert sum(row["action"] == "written" for row in after["index_files"]) == len(recorded - before)


@pytest.mark.parametrize("name", STARTS)
def test_a_document_tells_what_was_recorded(name: str) -> None:
    case = CASES.case(name)
    try:
        _, document = _foretold(case)
    except NotAStore:
        assert case["base"] == "empty" or case["damageClass"] == "store.emptied"
        return
    _assert_as_recorded(document, case["truth"])


@pytest.mark.parametrize(
    ("name", "config"),
    [("s533-clean-003", {"checkCRCOnRecover": "false"}), ("s533-clean-111", {"duplicationEnable": "false"})],
)
def test_a_setting_that_saves_messages_is_offered(name: str, config: dict[str, str]) -> None:
    told, _ = _foretold(CASES.case(name), with_advice=True)
    assert told.outcome.lost_messages > 0
    assert told.advice[0].then is None  # a copy first
    offered = next(advice for advice in told.advice if advice.repair.config == config)
    assert offered.then is not None
    assert offered.then.lost_messages == 0


def test_lost_messages_are_those_behind_the_new_end() -> None:
    case = CASES.case("s533-clean-003")
    told, document = _foretold(case)
    with CASES.built({**case, "edits": []}) as undamaged:
        log = read_commitlog(open_store(undamaged), columns=["physical_offset"])
        written = [offset for batch in log for offset in batch["physical_offset"].to_pylist()]
    end = document["commitlog"]["max_physical_offset"]
    assert [loss.physical_offset for loss in told.lost] == [offset for offset in written if offset >= end]
    assert {loss.what for loss in told.lost} == {"message"}


def test_messages_without_a_unit_are_named() -> None:
    """The last units of every queue are gone: a crashed broker dispatches them again, a stopped one not all."""
    crashed = CASES.case("s533-clean-077")
    stopped = {**crashed, "edits": [*crashed["edits"], {"op": "delete", "path": "abort"}]}
    assert _foretold(crashed)[0].lost == ()
    told, _ = _foretold(stopped)
    assert len({(loss.topic, loss.queue_id) for loss in told.lost}) > 1
    assert all(loss.what == "queue_unit" and loss.reason for loss in told.lost)


def test_bytes_of_units_that_depend_on_filters_are_not_known() -> None:
    """The consumers' filters are in config/, which a copy of the store's files alone lacks."""
    crashed = CASES.case("s533-clean-077")
    ext = {"enableConsumeQueueExt": "true", "enableCalcFilterBitMap": "true"}
    filtered = {**crashed, "configOverrides": {**crashed["configOverrides"], **ext}}
    plain, with_ext = (_foretold(case)[1]["after_dispatch"]["consumequeue_sha256"] for case in (crashed, filtered))
    known = {name: sha256 for name, sha256 in with_ext.items() if sha256 is not None}
    assert with_ext.keys() == plain.keys() > known.keys()
    assert known.items() <= plain.items()


def test_a_file_cut_short_can_be_extended() -> None:
    told, _ = _foretold(CASES.case("s533-clean-041"), with_advice=True)
    assert not told.outcome.starts
    assert "extend" in told.advice[0].repair.do
    assert told.advice[0].then is not None
    assert told.advice[0].then.starts


def test_a_clean_store_loses_nothing_and_asks_only_for_its_config() -> None:
    """The recorded case comes without config/."""
    told, _ = _foretold(CASES.case("s533-clean-001"), with_advice=True)
    assert (told.lost, told.advice, told.has_loss) == ((), (), False)
    assert [unknown.why.partition(":")[0] for unknown in told.unknown] == ["the store has no config/"]


def test_without_a_version_the_answer_says_what_it_holds_for() -> None:
    told, document = _foretold(CASES.case("s533-clean-059"), any_version=True)
    versions = [str(version) for each in (told, *told.otherwise) for version in each.holds_for]
    assert sorted(versions) == ["5.3.1", "5.3.3"], (
        "V2 records and abort.bak rule out 4.9.8, an index without tags 5.5.1"
    )
    assert told.version == BrokerVersion(5, 3, 3), "the one that the files suggest"
    assert document["holds_for"] == [str(version) for version in told.holds_for]
    assert len(document["otherwise"]) == len(told.otherwise)
