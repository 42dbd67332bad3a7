"""The report: one page that is well formed, needs nothing else, and names what is not known."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from pipelines.answers.verdicts import BrokerVerdict
from pipelines.lake.configuration.sources import BrokerSource, Sources
from pipelines.lake.lake import Lake
from pipelines.report.drawn.figures import figures_of
from pipelines.report.drawn.svg import Bar, bars
from pipelines.report.facts.lake import BrokerFacts, LakeFacts, facts_of_lake
from pipelines.report.facts.model import Column, Facts, PrintedTable
from pipelines.report.facts.store import facts_of_store
from pipelines.report.render import MOST_BYTES, kept, render, with_code
from pipelines.report.sections.forecast import forecast_section
from pipelines.report.sections.overview import lake_figures
from pipelines.report.sections.store import contents_section, lag_section
from recovery.knowledge.knowledge import knowledge_of, open_known
from tests.support.cli import call
from tests.support.fixtures import GOLDEN
from tests.support.incidents import incident
from tests.support.small_lake import put
from tests.support.stores import store_root

VOID = {"meta", "br", "link", "img", "rect", "line"}
SECTIONS = [
    "contents",
    "agreement",
    "ledger",
    "lag",
    "episodes",
    "backlog",
    "offsets",
    "starts",
    "lives",
    "groups",
    "delays",
    "retries",
    "transactions",
    "pops",
    "traces",
    "forecast",
    "retention",
    "ownership",
]


class Checker(HTMLParser):
    """Every tag that opens closes, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.anchors: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "section":
            self.anchors.append(dict(attrs)["id"] or "")
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """`<rect/>` opens nothing."""

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag


def checked(page: str) -> Checker:
    checker = Checker()
    checker.feed(page)
    assert checker.open == []
    assert not re.search(r"(src|href)=\"(?!#)", page)
    assert page.count("<script>") == page.lower().count("<script") == 1, "its own"
    assert "://" not in page.split("<script>")[1]
    return checker


def test_bars_of_the_queues_of_a_long_name_are_told_apart() -> None:
    drawn = bars([Bar(f"CG_lagging · OrderTopicOfEverything · {queue}", 1, "1") for queue in (3, 14)])
    shown = re.findall(r'text-anchor="end"[^>]*>([^<]*)<', drawn)
    assert [label.rsplit(" ", 1)[1] for label in shown] == ["3", "14"]


def test_a_page_of_nothing_names_every_unknown() -> None:
    page = render(Facts("/data/store", read_at_ms=0))
    assert checked(page).anchors == SECTIONS
    assert page.count('class="verdict unknown"') == len(SECTIONS)
    assert ">0<" not in page


@pytest.mark.parametrize("name", ["5.3.3-propcrc", "5.3.3-batchcq", "4.9.7-ipv6"])
def test_a_real_store(name: str, tmp_path: Path) -> None:
    target = tmp_path / "report.html"
    called = call("report", store_root(name), "--out", target, "--quiet")
    assert called.code in (0, 4), called.err
    page = target.read_text("utf-8")
    assert checked(page).anchors == SECTIONS
    assert "Every byte is a message" in page


def test_what_groups_miss_is_told(tmp_path: Path) -> None:
    target = tmp_path / "report.html"
    call("report", incident("4.9.7-offsets-reset").root, "--out", target, "--quiet")
    page = target.read_text("utf-8")
    checked(page)
    assert "1 354 expired" in page.replace("\u202f", " ").replace("\u00a0", " ")


def test_moves_of_offsets_are_told(tmp_path: Path) -> None:
    target, case = tmp_path / "report.html", incident("4.9.7-offsets-reset")
    call("report", case.root, "--logs", case.logs, "--out", target, "--quiet")
    page = target.read_text("utf-8")
    checked(page)
    assert "reset by an admin to the time 1795337157535" in page


def test_ownership_is_drawn_for_a_recorded_cluster(tmp_path: Path) -> None:
    target = tmp_path / "report.html"
    session = GOLDEN / "rebalance" / "sessions" / "c-497-ordered-kill"
    call("report", store_root("5.3.3-propcrc"), "--logs", session, "--out", target, "--quiet")
    page = target.read_text("utf-8")
    checked(page)
    assert page.count('maybe"') > 5
    assert "lock_stall" in page


def test_hostile_names_stay_text() -> None:
    topics = [{"topic": "<script>alert(1)</script>", "messages": 1, "bytes": 1}]
    regions = [{"file": "f", "file_pos": 0, "length": 1, "kind": "messages", "reason": None}]
    page = render(Facts("<b>x</b>", read_at_ms=0, topics=topics, regions=regions))
    checked(page)
    assert "<b>x</b>" not in page


def test_an_unknown_amount_is_hatched_and_named() -> None:
    drawn = bars([Bar("known", 3, "3"), Bar("unknown one", None, "unknown")])
    assert 'class="hatch"' in drawn
    assert drawn.count("<rect x=") == 2


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
    order = [overview.index(f'">{name}</a>') for name in ("worst", "gone", "fine")]
    assert order == sorted(order), "the one to look at first, then what is not known"
    assert "critical body_crc_wrong" in overview
    assert "1.0 MiB" in overview
    assert re.search(r'href="#broker-1">worst', overview)
    worst = page.split('id="broker-1"')[1].split('id="broker-2"')[0]
    assert "lost by it: 3 messages" in worst, "the forecast of the table"
    assert worst.count("Restore it.") == 2, "beside the damage and beside the finding"
    assert "What would lose less" in worst
    assert "move checkpoint away" in worst
    assert "rocketlens verify /data/worst" in worst
    fine = page.split('id="broker-0"')[1].split('id="broker-1"')[0]
    assert "They agree: no finding." in fine
    gone = page.split('id="broker-2"')[1]
    assert "Not compared." in gone
    assert "No forecast was made." in gone


def test_what_was_looked_for_and_not_found_is_not_what_was_not_looked_for(lake: Lake) -> None:
    put(lake, "made_from", *({"broker": "fine", "made": table} for table in ("popped_messages", "offset_events")))
    told = facts_of_lake(lake, Sources(lake.root, (BrokerSource("fine", Path("/a")), BrokerSource("gone", Path("/b")))))
    fine, gone = (render(told).split(f'id="broker-{n}"')[1].split(f'id="broker-{n + 1}"')[0] for n in range(2))
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


def test_a_log_that_could_not_be_read_is_not_in_order() -> None:
    facts = Facts("/data/store", read_at_ms=0, regions=[{"kind": "messages", "length": 7}])
    assert contents_section(facts).state == "unknown"


def test_the_page_says_where_it_was_written(tmp_path: Path) -> None:
    target = tmp_path / "report.html"
    assert f"written to {target}" in call("report", store_root("5.3.3-propcrc"), "--out", target).err


def test_out_is_asked_for() -> None:
    assert call("report", store_root("5.3.3-propcrc")).code == 2


def test_no_popped_queue_counts_as_read() -> None:
    """Also one of which the lag does not say that it is popped: it looks at the newest checkpoints only."""
    row = {"topic": "T", "queue_id": 0, "broker_offset": 9, "consumer_offset": 9, "seconds_behind": 0.0}
    lag = [{**row, "group": group, "messages_behind": 0, "status": "ok", "reason": None} for group in ("A", "B")]
    said = lag_section(Facts("/data/store", read_at_ms=0, lag=lag, pops=[{"group": "B", "topic": "T"}])).verdict
    assert "1 of 2 queues of all groups are proven to be read to the end; 1 more are popped" in said


def test_a_stale_copy_of_abort_is_told_from_abort() -> None:
    """`abort.bak` stays behind after an orderly exit; shown as `abort` it would say that the broker was killed."""
    files = [{"kind": "abort", "file": "abort.bak", "size": 0}, {"kind": "index", "file": "index/1", "size": 8}]
    told = contents_section(Facts("store", 0, files=files)).tables[-1]
    assert [row["kind"] for row in told.rows] == ["abort.bak", "index"]


@pytest.mark.parametrize(
    ("value", "css"),
    [
        ("orders", "line"),
        ("FD0000000000000000000000000000025F514E0E2F2A6BF63EE80609", "word"),
        ("id that the producer gave the message", "prose"),
        ("a few words", ""),
    ],
)
def test_a_long_word_breaks_before_it_pushes_columns_out(value: str, css: str) -> None:
    """Unique ids of 56 digits hid the last columns of tables in notebooks."""
    assert kept(value) == css


def test_commands_in_a_sentence_look_like_what_one_types() -> None:
    assert (
        with_code("`abort` is there: <b> & `lag`, `")
        == "<code>abort</code> is there: &lt;b&gt; &amp; <code>lag</code>, `"
    )


def test_a_column_of_remarks_that_no_row_has_is_left_out() -> None:
    columns = [Column("group", "group"), Column("reason", "reason", blank=True), Column("unread", "unread", True)]
    rows = [{"group": "G", "reason": None, "unread": None}, {"group": "H", "reason": "", "unread": 0}]
    assert [c.key for c in PrintedTable(columns, rows).telling] == ["group", "unread"], "unknown is told"
    told = [*rows, {"group": "I", "reason": "its file is damaged", "unread": None}]
    assert PrintedTable(columns, told).telling == columns
    assert PrintedTable(columns, []).telling == columns
