"""The report: one page that is well formed, needs nothing else, and names what is not known."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pipelines.report.drawn.svg import Bar, bars
from pipelines.report.facts.model import Column, Facts, PrintedTable, with_notes
from pipelines.report.facts.store import tell_ownership
from pipelines.report.render import kept, render, shown, with_code
from pipelines.report.sections.ledger import ledger_section
from pipelines.report.sections.ownership import ownership_section
from pipelines.report.sections.starts import starts_section
from pipelines.report.sections.store import contents_section, lag_section
from rebalance.ownership.notes import NOT_OBSERVED
from rebalance.replay import replay
from tests.support.cli import call
from tests.support.damaged_records import each, facts_of_files, log_files, upto
from tests.support.fixtures import GOLDEN
from tests.support.incidents import incident
from tests.support.report_page import SECTIONS, checked
from tests.support.stores import store_root


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


def test_what_a_cut_record_leaves_open_is_told() -> None:
    session = GOLDEN / "rebalance" / "sessions" / "c-497-ordered-kill"
    facts = Facts("logs", read_at_ms=0)
    tell_ownership(facts, replay(facts_of_files(each(log_files(session), upto(5), only="c1"))))
    (why,) = [table for table in ownership_section(facts).tables if table.caption == "Where not all of it is certain"]
    assert {row["kind"] for row in why.rows} == {NOT_OBSERVED}


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
        ("look at it", "line"),
        ("a few more words than that", ""),
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
    assert with_code("name it (--logs), a-b--c") == 'name it (<code class="line">--logs</code>), a-b--c'


def test_properties_of_a_message_are_names_and_values() -> None:
    assert shown([{"name": "TAGS", "value": "A"}, {"name": "KEYS", "value": "k 1"}]) == "TAGS=A, KEYS=k 1"
    assert shown([None, 7, {"other": 1}]) == "unknown, 7, {'other': 1}"


def test_a_column_of_remarks_that_no_row_has_is_left_out() -> None:
    columns = [Column("group", "group"), Column("reason", "reason", blank=True), Column("unread", "unread", True)]
    rows = [{"group": "G", "reason": None, "unread": None}, {"group": "H", "reason": "", "unread": 0}]
    assert [c.key for c in PrintedTable(columns, rows).telling] == ["group", "unread"], "unknown is told"
    told = [*rows, {"group": "I", "reason": "its file is damaged", "unread": None}]
    assert PrintedTable(columns, told).telling == columns
    assert PrintedTable(columns, []).telling == columns


def test_a_note_of_every_row_is_said_once() -> None:
    """`note 1` in each of 63 rows said nothing, and took a column."""
    rows, notes = with_notes([{"reason": "a copy"}, {"reason": "a copy"}])
    assert (rows, notes) == ([{"reason": None}, {"reason": None}], ["every row: a copy"])
    rows, notes = with_notes([{"reason": "a copy"}, {"reason": "a copy"}, {"reason": None}])
    assert [row["reason"] for row in rows] == ["note 1", "note 1", None]
    assert notes == ["note 1: a copy"]
    assert with_notes([{"reason": "a copy"}, {"reason": "lost"}]) == ([{"reason": "a copy"}, {"reason": "lost"}], [])


def test_what_is_behind_is_the_first_word_on_lag() -> None:
    row = {"topic": "T", "group": "G", "broker_offset": 9, "consumer_offset": 2, "status": "number", "reason": None}
    lag = [{**row, "queue_id": n, "messages_behind": 7 - 9 * n, "seconds_behind": 1.0} for n in (0, 1)]
    said = lag_section(Facts("/data/store", read_at_ms=0, lag=lag)).verdict
    assert said.startswith("7 messages behind on 1 queue; 0 of 2 queues"), "none is behind where it is ahead"


def test_a_loss_in_the_store_is_no_loss_of_a_group() -> None:
    row = {"topic": "T", "queue_id": 0, "first_queue_offset": 1, "end_queue_offset": 2, "messages": 1, "reason": None}
    told = ledger_section(Facts("/data/store", 0, ledger=[{**row, "group": None, "state": "damaged"}]))
    assert told.verdict.endswith("1 damaged.")
    assert told.tables[0].caption == "What is lost"


def test_a_new_group_begins_on_topics_of_users() -> None:
    row = {"queue_id": 0, "policy": "last", "earliest": 0, "latest": 3, "never_delivered": 3, "certain": True}
    topics = ("orders", "SCHEDULE_TOPIC_XXXX", "RMQ_SYS_TRANS_HALF_TOPIC")
    starts = [{**row, "topic": topic, "reason": None} for topic in topics]
    told = starts_section(Facts("/data/store", 0, starts=starts))
    assert [row["topic"] for row in told.tables[0].rows] == ["orders"]
