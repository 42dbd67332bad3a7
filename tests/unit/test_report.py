"""The report: one page that is well formed, needs nothing else, and names what is not known."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from pipelines.report.model import Facts
from pipelines.report.render import render
from pipelines.report.svg import Bar, bars
from tests.support.cli import call
from tests.support.fixtures import GOLDEN
from tests.support.incidents import incident
from tests.support.stores import store_root

VOID = {"meta", "br", "link", "img", "rect", "line"}
SECTIONS = ["contents", "agreement", "ledger", "lag", "forecast", "retention", "ownership"]


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
    assert "<script" not in page
    return checker


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


def test_out_is_asked_for() -> None:
    assert call("report", store_root("5.3.3-propcrc")).code == 2
