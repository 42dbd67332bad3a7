"""A recorded cluster for reading: every table of it, and the exposed ranges cut to what a store holds."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipelines.notebook.bundles import bundle, bundled_store
from pipelines.notebook.cluster import Cluster, read_cluster
from pipelines.notebook.show import show
from pipelines.report.sections.ownership import MEANINGS, in_short, ownership_section, ticks_of
from rebalance.diagnosis.anomaly import ANOMALY_KINDS
from tests.support.build_store import StoreBuilder, write_json
from tests.support.fixtures import GOLDEN

SESSIONS = sorted((GOLDEN / "rebalance" / "sessions").iterdir())
STRATEGIES = ("AVG", "AVG_BY_CIRCLE", "CONSISTENT_HASH")


def pages(cluster: Cluster) -> str:
    tables = [cluster.sources(), cluster.incidents(), cluster.metrics(), cluster.exposed(), cluster.notes()]
    tables.append(cluster.strategies(STRATEGIES, more_clients=1))
    return show(ownership_section(cluster.facts))._repr_html_() + "".join(show(each)._repr_html_() for each in tables)


@pytest.mark.parametrize("session", SESSIONS, ids=lambda path: path.name)
def test_a_recorded_session_can_be_shown(session: Path) -> None:
    cluster = read_cluster([session])
    assert cluster.problems == []
    shown = pages(cluster)
    groups = {interval.group for interval in cluster.replay.intervals}
    assert f"{len(cluster.replay.intervals)} ownership intervals of {len(groups)} group" in shown
    for anomaly in cluster.replay.anomalies:
        assert f">{anomaly.kind}</td>" in shown
        assert f"<li>{anomaly.kind}: " in shown


def test_every_kind_of_disorder_has_a_meaning() -> None:
    assert set(ANOMALY_KINDS) == MEANINGS.keys()


def test_every_client_of_a_cause_is_called_by_its_short_name() -> None:
    names = {"10.0.0.1@7#81": "10.0.0.1@7", "10.0.0.2@7#82": "10.0.0.2@7"}
    cause = "client_left 10.0.0.1@7#81; lock_granted; client_left 10.0.0.2@7#82"
    assert in_short(cause, names) == "client_left 10.0.0.1@7; lock_granted; client_left 10.0.0.2@7"
    assert in_short(None, names) is None


def test_nothing_recorded_is_said(tmp_path: Path) -> None:
    shown = pages(read_cluster([tmp_path]))
    assert '<p class="verdict unknown">The record tells of no group that owned a queue.</p>' in shown
    assert shown.count('<p class="rest">nothing</p>') >= 5


def test_exposed_ranges_end_where_the_queue_does() -> None:
    cluster = read_cluster([bundle("orders-cluster")])
    blind, seeing = cluster.exposed(), cluster.exposed(bundled_store("orders-cluster"))
    assert len(blind.rows) == len(cluster.replay.exposures) > len(seeing.rows)
    assert {row["topic"] for row in blind.rows} - {row["topic"] for row in seeing.rows} == {"%RETRY%cg_orders"}
    for row in seeing.rows:
        assert 0 < row["messages"] == row["to_queue_offset"] - row["from_queue_offset"]
        assert "#" not in row["from_client"] + row["cause"]


def test_a_bundle_that_is_not_there_names_those_that_are() -> None:
    with pytest.raises(ValueError, match="orders-cluster"):
        bundle("no-such")


@pytest.mark.parametrize("mine", ["broker-0", "broker-1", None])
def test_a_store_limits_the_queues_of_its_own_broker_only(mine: str | None, tmp_path: Path) -> None:
    """Two brokers have queues of one topic and number; a store tells whose it is by the topic of its broker's name."""
    store = StoreBuilder(tmp_path / "store")
    store.put("invoices", 3)
    root = store.finish()
    topics = {name: {"topicName": name, "perm": 6} for name in ("invoices", mine) if name is not None}
    write_json(root / "config" / "topics.json", {"topicConfigTable": topics})
    cluster = read_cluster([GOLDEN / "rebalance" / "sessions" / "b-497-two-brokers"])
    blind, seeing = cluster.exposed(), cluster.exposed(root)
    others = [row for row in blind.rows if row["broker"] != mine and row["messages"] != 0]
    assert len(others) < len([row for row in blind.rows if row["messages"] != 0]) or mine is None
    assert [row for row in seeing.rows if row["broker"] != mine] == others
    assert not [row for row in seeing.rows if row["broker"] == mine]  # its queues end before all of them
    assert ("whose store it is cannot be told" in seeing.caption) == (mine is None)


def test_each_timeline_says_which_group_it_is_of() -> None:
    facts = read_cluster([bundle("orders-cluster")]).facts
    groups = dict.fromkeys(row["group"] for row in facts.intervals or [])
    charts = ownership_section(facts).charts
    assert [chart.partition("<svg")[0] for chart in charts] == [f'<p class="of">{group}</p>' for group in groups]


@pytest.mark.parametrize("seconds", [0.06, 1.9, 60, 3 * 86_400])
def test_ticks_are_told_from_each_other(seconds: float) -> None:
    ticks = [tick.text for tick in ticks_of(1_795_337_187.775, 1_795_337_187.775 + seconds)]
    assert len(set(ticks)) == len(ticks)
    assert sum(map(len, ticks)) <= 80, "side by side"
