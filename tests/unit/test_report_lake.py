"""The report of a lake: every broker by itself, what is unknown of each, and a page that stays small."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from pipelines.answers.verdicts import BrokerVerdict
from pipelines.lake.configuration.sources import BrokerSource, Sources
from pipelines.lake.lake import Lake
from pipelines.report.drawn.figures import figures_of
from pipelines.report.facts.lake import BrokerFacts, LakeFacts, facts_of_lake
from pipelines.report.facts.model import Facts
from pipelines.report.facts.store import facts_of_store
from pipelines.report.render import MOST_BYTES, render
from pipelines.report.sections.forecast import forecast_section
from pipelines.report.sections.overview import lake_figures
from recovery.knowledge.knowledge import knowledge_of, open_known
from tests.support.report_page import SECTIONS, checked
from tests.support.small_lake import put
from tests.support.stores import store_root

FORECAST = {
    "version": "5.3.3",
    "holds_for": ["5.3.3"],
    "exit": "abnormal",
    "load": {"ok": True, "error": None},
    "start": {"returns": True, "error": None},
    "commitlog": {"min_physical_offset": 0, "max_physical_offset": 7, "files_deleted": [], "missing": []},
    "dispatch_from": 0,
    "redispatched_messages": 2,
    "lost": [],
    "lost_counts": {"message": 0},
    "config": None,
    "losses_are_known": True,
    "reasons": [],
    "advice": [],
    "unknown": [],
    "otherwise": [],
}
NO_OFFSETS = {
    "lost_counts": {
        "topics": 0,
        "groups": 0,
        "offsets": None,
        "groups_without_offsets": 2,
        "delay_levels": 0,
        "gone_back": 0,
    },
    "lost": {"offsets": None},
}
FINDING = {"kind": "body_crc_wrong", "severity": "critical", "place": "commitlog/0", "begin": 5, "end": 7}
WHY = json.dumps({"why": "The body differs.", "broker_would": "It cuts."})


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    """Broker `worst` with damage and its repairs, `fine` without, and `gone`, whose store is not there any more."""
    lake = Lake(tmp_path / "lake")
    files = [
        {"broker": name, "file": "commitlog/0", "kind": "commitlog", "size": 2**20}
        for name in ("fine", "worst", "gone")
    ]
    put(lake, "store_files", *files)
    region = {
        "file": "commitlog/0",
        "physical_offset": 5,
        "file_pos": 5,
        "length": 2,
        "kind": "damage",
        "reason": "crc",
    }
    put(lake, "commitlog_regions", {**region, "broker": "worst"}, {**region, "broker": "fine", "kind": "messages"})
    put(lake, "consistency_findings", {**FINDING, "broker": "worst", "repair": "Restore it.", "document": WHY})
    then = {"losses_are_known": True, "lost_counts": {"message": 1}, "lost_config": 0}
    advice = {"do": "move checkpoint away", "evidence": "keys are missing", "costs": "time", "then": then}
    lossy = {**FORECAST, "lost_counts": {"message": 3}, "lost": [LOSS] * 3, "advice": [advice]}
    documents = [("fine", FORECAST), ("worst", lossy)]
    put(lake, "recovery_forecast", *({"broker": name, "document": json.dumps(told)} for name, told in documents))
    return lake


LOSS = {"what": "message", "topic": "T", "queue_id": 0, "queue_offset": 1, "physical_offset": 5, "reason": "cut off"}


def test_a_lake_of_several_brokers_names_each_of_them(lake: Lake) -> None:
    brokers = tuple(BrokerSource(name, Path("/data") / name) for name in ("fine", "worst", "gone"))
    page = render(facts_of_lake(lake, Sources(lake.root, brokers)))
    anchors = checked(page).anchors
    each = [name for name in SECTIONS if name != "ownership"]
    assert anchors == ["brokers", *(f"broker-{n}-{name}" for n in range(3) for name in each), "ownership"]
    overview = page.split('id="brokers"')[1].split("</section>")[0]
    first = [f'href="#broker-{n}">{name}</a>' for n, name in enumerate(("worst", "gone", "fine"))]
    assert all(link in overview for link in first), "the one to look at first, then what is not known"
    parts = re.findall(r'<details class="part"( open|)><summary><h2 class="\w+">(\w+)<', page)
    assert parts == [(" open", "worst"), (" open", "gone"), ("", "fine")], "what is well takes a line"
    assert "critical body_crc_wrong" in overview
    assert "1.0 MiB" in overview
    worst, gone, fine = page.split('<details class="part"')[1:]
    assert all(f'id="broker-{number}"' in part for number, part in enumerate((worst, gone, fine)))
    assert "lost by it: 3 messages" in worst, "the forecast of the table"
    assert worst.count("Restore it.") == 2, "beside the damage and beside the finding"
    assert "What would lose less" in worst
    assert "move checkpoint away" in worst
    assert "rocketlens verify /data/worst" in worst
    assert "They agree: no finding." in fine
    assert "Not compared." in gone
    assert "No forecast was made." in gone


def test_what_was_looked_for_and_not_found_is_not_what_was_not_looked_for(lake: Lake) -> None:
    put(lake, "made_from", *({"broker": "fine", "made": table} for table in ("popped_messages", "offset_events")))
    told = facts_of_lake(lake, Sources(lake.root, (BrokerSource("fine", Path("/a")), BrokerSource("gone", Path("/b")))))
    gone, fine = (render(told).split(f'id="broker-{n}"')[1].split(f'id="broker-{n + 1}"')[0] for n in range(2))
    for sentence in ("The log has no checkpoint of a popped message.", "No move is on record."):
        assert sentence in fine
        assert sentence not in gone
    assert "Not looked at." in fine, "the other tables were not made of it"


def test_disorders_are_told_where_nobody_is_known_to_have_owned_a_queue(lake: Lake) -> None:
    sources = Sources(lake.root, (BrokerSource("fine", Path("/data/fine")),))
    nothing = render(facts_of_lake(lake, sources)).split('id="ownership"')[1]
    assert "No broker logs, client logs or captures were given." in nothing
    put(lake, "log_events", {"source": "logs", "line": 1, "kind": "broker_started"})
    heard = render(facts_of_lake(lake, sources)).split('id="ownership"')[1]
    assert "The record tells of no group that owned a queue." in heard
    put(lake, "ownership_anomalies", {"kind": "commit_rollback", "group": "G", "topic": "T", "queue_id": 1})
    disordered = render(facts_of_lake(lake, sources)).split('id="ownership"')[1]
    assert "no group that owned a queue, 1 disorder." in disordered
    assert "commit_rollback" in disordered
    put(lake, "ownership_notes", {"source": "logs", "group": "G", "kind": "record_ends", "detail": "after 12:00"})
    unsure = render(facts_of_lake(lake, sources)).split('id="ownership"')[1]
    assert "Where not all of it is certain" not in disordered
    assert "Where not all of it is certain" in unsure
    assert "after 12:00" in unsure


@pytest.mark.parametrize(
    ("names", "number", "state"),
    [(("gone",), None, "unknown"), (("fine", "gone"), "0", "unknown"), (("fine",), "0", "good")],
)
def test_the_figures_of_a_lake_are_good_only_where_every_broker_was_read(
    lake: Lake, names: tuple[str, ...], number: str | None, state: str
) -> None:
    sources = Sources(lake.root, tuple(BrokerSource(name, Path("/data") / name) for name in names))
    figures = {
        each.label: each for each in lake_figures([each.verdict for each in facts_of_lake(lake, sources).brokers])
    }
    for label in ("Findings", "Lost by a start now"):
        assert (figures[label].number, figures[label].state) == (number, state), label


@pytest.mark.parametrize(
    ("told", "number", "words"),
    [
        ({}, "0", "lost by it: nothing"),
        ({"config": NO_OFFSETS}, "settings", "lost by it: 2 groups without their committed offsets"),
        ({"start": {"returns": False, "error": "dispatch never ends"}}, "no start", "not come up: dispatch never ends"),
    ],
)
def test_a_start_that_loses_offsets_or_hangs_is_not_told_for_good(
    told: dict[str, object], number: str, words: str
) -> None:
    facts = Facts("/data/store", read_at_ms=0, forecast={**FORECAST, **told})
    (figure,) = (each for each in figures_of(facts) if each.label == "Lost by a start now")
    section = forecast_section(facts)
    assert (figure.number, figure.state, section.state) == (number, *(["finding" if told else "good"] * 2))
    assert words in section.verdict


def test_a_hundred_brokers_fit_into_five_megabytes() -> None:
    store = open_known(store_root("5.3.3-propcrc"))
    facts = facts_of_store(store, knowledge_of(store))
    facts.queues = [{**row, "topic": "t" * 200} for row in (facts.queues or [])[:1] * 100]
    facts.unread = ["a file that could not be read, and why: " + "x" * 200] * 100
    verdict = BrokerVerdict("b", "/data/b", 0, None, facts.forecast, 0, 0.0, 0, 1)
    page = render(LakeFacts("lake", 0, [BrokerFacts(verdict, facts)] * 100))
    assert len(page.encode()) <= MOST_BYTES
    assert "more rows" in page
    assert "more remarks" in page
    checked(page)
    head = page.split("<nav>")[1].split("</nav>")[0]
    assert head.count("<a ") == 1, "a hundred names would push the figures out of the window"
    assert page.count('href="#broker-99"') == 1, "the table leads to each of them"
