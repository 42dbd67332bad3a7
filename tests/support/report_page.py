"""A page of the report as a browser takes it: well formed, and the sections that it leads to."""

from __future__ import annotations

import re
from html.parser import HTMLParser

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
