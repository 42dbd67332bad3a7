"""Pages in a real browser: the report, one night, and every notebook in JupyterLab.

Opt in with `ROCKETLENS_BROWSER=1`. `ROCKETLENS_PICTURES=docs/pictures` keeps what was seen there.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import rocketlens as rl
from pipelines.notebook.bundles import bundle, bundled_store
from pipelines.report.facts.model import Column, PrintedTable
from pipelines.report.render import render_piece
from tests.support.browser import Page, free_port, keep, needs_browser, serving
from tests.support.cli import call
from tests.support.copies import copy_tree
from tests.support.fixtures import CHECKOUT

pytestmark = needs_browser

NOTEBOOKS = sorted(path.stem for path in (CHECKOUT / "notebooks").glob("*.py"))

PAGED = render_piece(PrintedTable([Column("n", "n", True)], [{"n": n} for n in range(30)], shown=20))


BEYOND_THE_PAPER = """[...document.querySelectorAll('table, svg')].filter(
    each => each.getBoundingClientRect().right > innerWidth + 1).map(each => each.closest('section')?.id)"""
"""Where something is wider than the window: paper does not scroll."""


def fits(page: Page) -> bool:
    """Whether nothing reaches beyond the window's right edge."""
    return bool(page.run("document.documentElement.scrollWidth <= innerWidth"))


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of a report of the recorded cluster's broker."""
    folder, before = tmp_path_factory.mktemp("report"), Path.cwd()
    copy_tree(bundled_store("orders-cluster"), folder / "data" / "store")
    os.chdir(folder)  # its title is the store as it is named
    try:
        told = call("report", "data/store", "--logs", bundle("orders-cluster"), "--out", "report.html")
    finally:
        os.chdir(before)
    assert told.code in (0, 1), told.err
    return (folder / "report.html").as_uri()


def test_the_report_light_dark_narrow_and_printed(report: str, page: Page) -> None:
    page.dark(False)
    page.open(report, width=1100, height=1000)
    keep(page, "report-light")
    ink = "getComputedStyle(document.body).backgroundColor"
    light = page.run(ink)
    assert fits(page)
    page.dark()
    keep(page, "report-dark")
    assert page.run(ink) != light
    page.dark(False)
    page.resize(390, 844)
    keep(page, "report-narrow")
    assert fits(page)
    page.as_printed()
    page.resize(1030, 728)  # A4 across, without its margins
    assert page.run(BEYOND_THE_PAPER) == []
    assert page.printed().startswith(b"%PDF")
    assert page.errors == []


def test_one_night_on_one_page(page: Page, tmp_path: Path) -> None:
    """As an output cell shows it, without JupyterLab around it."""
    night = rl.replay([bundle("orders-cluster")]).night(
        rl.store(bundled_store("orders-cluster")), bundle("orders-cluster") / "offsets"
    )
    cell = tmp_path / "night.html"
    style = "max-width:1000px;margin:12px auto;padding:0 12px"
    html = f'<!doctype html><meta charset="utf-8"><body style="{style}">{night._repr_html_()}{PAGED}</body>'
    cell.write_text(html, "utf-8")
    page.open(cell.as_uri(), width=1040, height=730)
    assert fits(page)
    keep(page, "night")
    rows = "[...document.querySelectorAll('table')].at(-1).querySelectorAll('tbody tr:not([hidden])')"
    assert page.run(f"{rows}.length") == 20
    page.run("[...document.querySelectorAll('.rest button')].at(-1).click()")
    assert page.run(f"{rows}[0].textContent") == "20"
    page.run("[...document.querySelectorAll('th')].at(-1).click()")
    page.run("[...document.querySelectorAll('th')].at(-1).click()")
    assert page.run(f"{rows}[0].textContent") == "29"
    assert page.errors == []


def test_tables_sort_and_filter_and_timelines_zoom(report: str, page: Page) -> None:
    page.open(report, width=1100, height=1000)
    left, top, width = page.run(
        "(() => { const s = document.querySelector('svg.zooms'); s.scrollIntoView();"
        " const b = s.getBoundingClientRect(); return [b.left, b.top, b.width]; })()"
    )
    page.point_at(left + width * 0.4, top + 12)
    assert "client_started" in page.run("document.querySelector('.hint:not([hidden])').textContent")
    wide = "Number(document.querySelector('svg.zooms .plot rect').getAttribute('width'))"
    before = page.run(wide)
    page.drag(left + width * 0.3, top + 12, left + width * 0.5)
    assert page.run(wide) != before
    table = "document.querySelector('#contents table')"
    shown = f"[...{table}.tBodies[0].rows].filter(row => !row.hidden).map(row => row.cells[0].textContent)"
    topics = page.run(shown)
    page.run(f"{table}.tHead.rows[0].cells[0].click()")
    assert page.run(shown) == page.run(f"{json.dumps(topics)}.sort((a, b) => a.localeCompare(b))")
    assert page.errors == []


@pytest.fixture(scope="module")
def lab(lake: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a JupyterLab on a copy of the notebooks, which lets a script press its buttons."""
    from pipelines.cli.commands.lake.workbench import lab_environment

    folder = tmp_path_factory.mktemp("lab")
    copy_tree(CHECKOUT / "notebooks", folder / "notebooks")
    port = free_port()
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", f"--port={port}"]
    command += [
        f"--notebook-dir={folder / 'notebooks'}",
        "--IdentityProvider.token=",
        "--LabApp.expose_app_in_browser=True",
    ]
    told = {
        "PYTHONPATH": str(CHECKOUT),
        **lab_environment(),
        "ROCKETLENS_CONFIG": str(lake),
        "JUPYTER_CONFIG_DIR": str(folder / "config"),
    }
    with serving(command, f"http://127.0.0.1:{port}/api", folder, environment=told):
        yield f"http://127.0.0.1:{port}"


PANEL = (
    "[...(window.jupyterapp?.shell.widgets('main') ?? [])].find(each => each.content?.widgets && each.sessionContext)"
)
CODE = f"{PANEL}.content.widgets.filter(cell => cell.model.type === 'code')"
OUTPUTS = f"{CODE}.flatMap(cell => cell.model.outputs.toJSON())"
SHOW_ITS_PICTURE = f"""
(() => {{
  const notebook = {PANEL}.content;
  const drawn = cell => cell.model.type === "code" && JSON.stringify(cell.model.outputs.toJSON()).includes("<svg");
  notebook.activeCellIndex = Math.max(notebook.widgets.findIndex(drawn), 0);
  notebook.scrollToItem(notebook.activeCellIndex, "start");
}})()
"""


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_runs_to_its_end_in_jupyterlab(name: str, lab: str, page: Page) -> None:
    page.open(f"{lab}/lab/tree/{name}.py?reset", width=1200, height=1000)
    page.wait_for(f"{PANEL}?.sessionContext.session?.kernel?.status === 'idle'")
    page.run(f"window.jupyterapp.shell.activateById({PANEL}.id)")
    page.run("window.jupyterapp.commands.execute('application:toggle-left-area')")
    page.run("window.jupyterapp.commands.execute('notebook:run-all-cells')")
    page.wait_for(f"{CODE}.length && {CODE}.every(cell => cell.model.executionCount)", 300)
    assert page.run(f"{OUTPUTS}.filter(found => found.output_type === 'error').map(found => found.evalue)") == []
    page.run(SHOW_ITS_PICTURE)
    page.wait_for("document.querySelector('.rocketlens[data-alive]')")
    time.sleep(1)
    keep(page, f"notebook-{name[:2]}")
