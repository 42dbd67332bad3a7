"""The notebooks that read files: from top to bottom, and what they say is what the engines say."""

from __future__ import annotations

import json
import os
from collections import Counter
from html import unescape
from pathlib import Path
from typing import Any

import pytest

import rocketlens as rl
from parsers.store.store import open_store
from pipelines.answers.offsets.saved import offsets_in
from pipelines.lake.configuration.sources import read_sources
from pipelines.lake.lake import Lake
from pipelines.lake.questions import question
from pipelines.notebook.bundles import bundle, bundled_store
from pipelines.notebook.cluster import read_cluster
from pipelines.notebook.lag_history import lag_history
from pipelines.notebook.start_now import start_now
from rebalance.what_if import what_if
from recovery.forecast.forecast import forecast
from tests.support.cluster_lake import lake_of_cluster
from tests.support.notebooks import run_notebook
from tests.support.opened import opened
from tests.support.recovery_cases import golden_cases
from tests.support.stores import store_root

CRASHED = "5.3.1-crashed"


@pytest.fixture(autouse=True)
def _no_evidence_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("ROCKETLENS_")]:
        monkeypatch.delenv(name)


def test_the_bundled_forecast_is_what_the_broker_did() -> None:
    did = json.loads((bundle(CRASHED) / "truth.json").read_text("utf-8"))
    document = rl.store(bundled_store(CRASHED), "5.3.1").forecast().document
    assert document["load"]["ok"] is did["load"] is True
    for name, value in did["commitlog"].items():
        assert document["commitlog"][name] == value
    assert document["redispatched_messages"] == did["redispatched_messages"]
    queues = [{name: queue[name] for name in did["queues"][0]} for queue in document["after_dispatch"]["queues"]]
    assert queues == did["queues"]


def test_if_i_start_this_broker_now() -> None:
    told = run_notebook("02_if_i_start_this_broker_now")
    start = forecast(*opened(bundled_store(CRASHED), "5.3.1"))
    assert len(start.lost) == start.outcome.lost_messages == 136
    assert f"lost by it: {len(start.lost)} messages" in told.page_with("The last exit was abnormal")
    assert "CRC wrong" in told.page_with("total_size")
    ways, repaired = told.page_with("start as it is"), start.advice[-1].then
    assert repaired is not None
    assert repaired.lost_messages == 0
    assert "start once with checkCRCOnRecover=false" in ways
    assert f">{repaired.log_end}<" in ways
    assert f"and {len(start.lost) - 12} more rows" in told.page_with("A start would lose 136 messages")
    assert "The broker did the same: the end of the log, 328 messages, 6 queues." in told.printed
    assert "CG_lagging" in told.page_with("hold unread messages")
    assert told.pictures == 1


def test_a_store_of_ones_own_is_foretold(monkeypatch: pytest.MonkeyPatch) -> None:
    cases = golden_cases()
    with cases.built(cases.case("s551-halt-sync-003")) as root:
        monkeypatch.setenv("ROCKETLENS_STORE", str(root))
        told = run_notebook("02_if_i_start_this_broker_now")
        lost = start_now(root).told.outcome.lost_messages
    assert f"lost by it: {f'{lost} message' if lost else 'nothing'}" in told.page_with("The last exit was")
    assert "The broker did the same" not in told.printed


def test_who_owned_which_queue() -> None:
    told = run_notebook("03_who_owned_which_queue")
    replay = read_cluster([bundle("orders-cluster")]).replay
    page = told.page_with("<svg")
    assert page.count("maybe") - 8 == len(replay.intervals) > 30  # eight rules of the style say it too
    for anomaly in replay.anomalies:
        assert f">{anomaly.kind}</td>" in page
    assert "client_vanished" in told.page_with("what happened")
    moved = sum(span.moved_queues for span in what_if(replay, strategy="AVG_BY_CIRCLE"))
    assert f'>AVG_BY_CIRCLE</td><td class="n">{moved}</td>' in "".join(told.pages)
    exposed = read_cluster([bundle("orders-cluster")]).exposed(bundled_store("orders-cluster"))
    assert exposed.caption in told.page_with("hand-overs and overlaps")
    assert len(exposed.rows) < len(replay.exposures), "ranges without a message are left out"


def test_how_far_behind() -> None:
    told = run_notebook("04_how_far_behind")
    rows = cluster_history()
    assert f"{len(rows)} rows at {len({row['at'] for row in rows})} moments" in told.printed
    by_moment = Counter[object]()
    for row in rows:
        by_moment[row["at"]] += row["messages_behind"]
    assert f'<td class="n">{max(by_moment.values())}</td>' in told.page_with("most messages")
    assert "no offset is stored for this queue" in told.page_with("seconds unknown")
    assert told.pictures == 1


def cluster_history() -> list[dict[str, Any]]:
    """Rows of the lag of the recorded cluster at each of its kept offsets."""
    copies = offsets_in(bundle("orders-cluster") / "offsets", pytest.fail)
    store = open_store(bundled_store("orders-cluster"))
    rows: list[dict[str, Any]] = lag_history(
        store, copies, damage=lambda damage: pytest.fail(damage.reason)
    ).to_pylist()
    return rows


@pytest.fixture
def cluster_config(tmp_path: Path) -> Path:
    return lake_of_cluster(tmp_path)


def test_the_lake_tells_the_same_history(cluster_config: Path) -> None:
    lake = Lake(read_sources(cluster_config).lake)
    found = [{**row, "broker": None} for row in lake.query(question("lag_history")).to_pylist()]
    expected = sorted(cluster_history(), key=_place)
    assert len(found) == len(expected) > 200
    for ours, theirs in zip(sorted(found, key=_place), expected, strict=True):
        assert ours == {**theirs, "seconds_behind": pytest.approx(theirs["seconds_behind"], abs=1e-3)}


def _place(row: dict[str, Any]) -> tuple[str, ...]:
    return tuple(str(row[name]) for name in ("at", "group", "topic", "queue_id"))


def test_how_far_behind_from_a_lake(cluster_config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROCKETLENS_CONFIG", str(cluster_config))
    told = run_notebook("04_how_far_behind")
    assert f"{len(cluster_history())} rows at 28 moments" in told.printed


def test_the_three_files_against_each_other() -> None:
    told = run_notebook("05_the_three_files_against_each_other")
    (finding,) = rl.store(bundled_store(CRASHED), "5.3.1").verify()
    assert finding["kind"] in told.page_with("the right side")
    record = rl.explain(bundled_store(CRASHED) / finding["place"], finding["begin"])
    assert f">{record['value'][0]}</td>" in told.page_with("prepared_transaction_offset"), "its size"
    assert ">a record without a unit</td>" in told.page_with("an index entry without a readable record")


def test_the_story_of_one_message() -> None:
    told = run_notebook("06_the_story_of_one_message")
    story = rl.store(bundled_store("orders-cluster")).who(
        told.printed.strip(), logs=[bundle("orders-cluster")], offsets=bundle("orders-cluster") / "offsets"
    )
    page = told.page_with(">committed</td>")
    assert {row["step"] for row in story} >= {"stored", "owned", "committed"}
    assert [row["what"] for row in story if row["what"] not in unescape(page)] == []
    assert "the broker's clock" in told.page_with("prepared_transaction_offset").replace("&#39;", "'")
    assert "client_vanished" in told.page_with("begin earliest")


def test_what_if() -> None:
    told = run_notebook("07_what_if")
    replay = read_cluster([bundle("orders-cluster")]).replay
    moved = [sum(s.moved_queues for s in what_if(replay, strategy="AVG", more_clients=n)) for n in (0, 1, 2, 4)]
    page = "".join(told.pages)
    for more, queues in zip((0, 1, 2, 4), moved, strict=True):
        assert f'<td class="line">{more}</td><td class="n">{queues}</td>' in page
    lost = [forecast(*opened(bundled_store(CRASHED), version)).outcome.lost_messages for version in ("5.3.1", "5.5.1")]
    row = told.page_with("messages lost by a start").split("as the files show")[1].split("</tr>")[0]
    assert row.count(f">{lost[0]}</td>") == 2, "5.3.1 and 5.3.3 alike"
    assert row.endswith(f">{lost[1]}</td>")


def test_the_formats_byte_by_byte() -> None:
    told = run_notebook("08_the_formats_byte_by_byte")
    fields = [page for page in told.pages if ">file pos<" in page]
    assert len(fields) == 7, "log, queue, index, checkpoint, config, timer wheel, timer log"
    for field in ("magic_code", "tags_code", "master_flushed_offset"):
        assert [page for page in fields if f">{field}</td>" in page], field


def test_the_formats_of_a_store_in_dledger_mode(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROCKETLENS_STORE", str(store_root("4.9.7-dledger")))
    told = run_notebook("08_the_formats_byte_by_byte")
    log = next(page for page in told.pages if ">file pos<" in page)
    assert ">magic_code</td>" in log


def test_one_night_one_page() -> None:
    told = run_notebook("09_one_night_one_page")
    page = told.page_with("was furthest behind")
    behind = Counter[object]()
    for row in cluster_history():
        behind[row["at"]] += row["messages_behind"]
    (at, most), *_ = behind.most_common(1)
    assert f"furthest behind at {at:%H:%M:%S}: {most} messages" in page  # type: ignore[attr-defined]
    replay = read_cluster([bundle("orders-cluster")]).replay
    for incident in replay.incidents:
        assert f">{incident.kind}</td>" in page
    killed_and_back = "127.0.0.11@25871"
    assert f"{killed_and_back} had taken them by 15:08:15, after client_started {killed_and_back}" in page
    assert page.count('class="zooms"') == 1


@pytest.mark.parametrize(
    ("name", "given", "wanted"),
    [
        ("03_who_owned_which_queue", "ROCKETLENS_STORE", "ROCKETLENS_LOGS"),
        ("04_how_far_behind", "ROCKETLENS_OFFSETS", "ROCKETLENS_STORE"),
        ("09_one_night_one_page", "ROCKETLENS_STORE", "ROCKETLENS_LOGS"),
        ("09_one_night_one_page", "ROCKETLENS_OFFSETS", "ROCKETLENS_LOGS"),
    ],
)
def test_bundled_evidence_is_not_shown_as_ones_own(
    name: str, given: str, wanted: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from nbclient.exceptions import CellExecutionError  # here, as in run_notebook: it takes two seconds

    monkeypatch.setenv(given, str(tmp_path))
    with pytest.raises(CellExecutionError, match=f"{wanted} is not"):
        run_notebook(name)
