"""Dagster's pages after an ingest: the graph of all tables, and a red check that says what to do.

Opt in with `ROCKETLENS_BROWSER=1`. `ROCKETLENS_PICTURES=docs/pictures` keeps what was seen there.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pipelines.definitions import defs
from pipelines.lake.lake import Lake
from tests.support.browser import CLI, Page, free_port, keep, needs_browser, serving

pytestmark = needs_browser

SECONDS = 300
"""Dagster's pages load in parts, each by a query of its own."""
BOXES = "[...document.querySelectorAll('foreignObject')].map(box => box.textContent)"
IN_SIGHT = """[...document.querySelectorAll('foreignObject')].every(box => {
    if (!box.textContent) return true;  // around an opened group, behind its tables
    const {left, top, right, bottom} = box.getBoundingClientRect();
    return bottom <= innerHeight
        && [left + 5, right - 5].every(x => box.contains(document.elementFromPoint(x, top + 5)));
})"""
"""Whether every box of the graph is in the window, and none lies behind what stands around the graph."""
HEIGHT = """(() => {
    const boxes = [...document.querySelectorAll('foreignObject')].map(box => box.getBoundingClientRect());
    return 200 + Math.max(...boxes.map(box => box.bottom)) - Math.min(...boxes.map(box => box.top));
})()"""
"""How high a window must be for the graph in it: Dagster puts its middle in the middle and does not shrink it."""
GROUPS = sorted({spec.group_name or "" for spec in defs.resolve_all_asset_specs()})


@pytest.fixture(scope="module")
def ui(lake: Path) -> Iterator[str]:
    """The address of `rocketlens ui` over the lake."""
    port = free_port()
    command = [*CLI, "ui", "--port", str(port), "--config-file", str(lake)]
    with serving(command, f"http://127.0.0.1:{port}/server_info", lake.parent, seconds=SECONDS):
        yield f"http://127.0.0.1:{port}"


def says(page: Page, *texts: str) -> None:
    """Wait until the page shows all of them."""
    for text in texts:
        page.wait_for(f"document.body.innerText.includes({json.dumps(text)})", SECONDS)


def graph(page: Page, address: str, height: int) -> None:
    """Open it in a window of that height, and wait for a box of every group."""
    page.open(address, width=1600, height=height)
    for group in GROUPS:
        page.wait_for(f"{BOXES}.some(text => text.startsWith({json.dumps(group)}))", SECONDS)


def worst(config: Path) -> dict[str, Any]:
    """The finding that the check names first."""
    asked = "SELECT * FROM consistency_findings WHERE severity IN ('error', 'critical') ORDER BY broker, severity"
    found: dict[str, Any] = Lake(config.parent / "lake").query(asked).to_pylist()[0]
    return found


def test_the_graph_shows_what_is_red(ui: str, page: Page) -> None:
    """The groups with how many of their tables are well, one of them opened: each table with its checks."""
    address = f"{ui}/asset-groups?expanded=global@global:consistency"
    graph(page, address, 4000)  # it leaves out boxes that are not in the window
    graph(page, address, round(page.run(HEIGHT)))
    red = "text.startsWith('consistency_findings') && text.includes('Materialized') && text.includes('0 / 1 Passed')"
    page.wait_for(f"{BOXES}.some(text => {red})", SECONDS)
    page.wait_for(f"!{BOXES}.some(text => text.includes('fetching'))", SECONDS)
    page.wait_for(IN_SIGHT, SECONDS)
    keep(page, "dagster-graph")
    assert page.errors == []


def test_a_red_check_says_where_and_what_to_do(ui: str, page: Page, lake: Path) -> None:
    finding = worst(lake)
    page.open(f"{ui}/assets/consistency_findings?view=checks", width=1700, height=900)
    says(page, "files_agree", "Failed")
    says(page, f"{finding['place']}: bytes {finding['begin']} to {finding['end']}", finding["repair"])
    says(page, f"rocketlens verify {lake.parent / 'store'}", "1 row breaks it. First: broker broker-a")
    keep(page, "dagster-check")


def test_a_table_that_was_ingested_is_not_unsynced(ui: str, page: Page) -> None:
    page.open(f"{ui}/assets/consistency_findings", width=1200, height=800)
    says(page, "Latest materialization", "what each side says", "Passing")
    assert not page.run("document.body.innerText.includes('Unsynced')")
    assert page.run("document.body.innerText.includes('broker-a')"), "rows of the table"
