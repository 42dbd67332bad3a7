"""The console blocks of README, tutorial and runbooks, run on the evidence they speak of; the site, built."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.fixtures import CHECKOUT, unpack_store
from tools.console_blocks import blocks, printed, workplace

DOCS = CHECKOUT / "docs"
PAGES = [CHECKOUT / "README.md", DOCS / "tutorial.md", *sorted((DOCS / "runbooks").glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=[page.stem for page in PAGES])
def test_the_blocks_of_a_page(page: Path, tmp_path: Path) -> None:
    """Otherwise, for a page of docs: python -m tools.console_blocks PAGE"""
    workplace(tmp_path)
    if page.name == "README.md":  # speaks of what `run.py demo` unpacks
        unpack_store(CHECKOUT / "demo" / "5.3.3-clean" / "store.tar.gz", tmp_path / "lake" / "demo" / "5.3.3-clean")
    found = blocks(page.read_text("utf-8"))
    assert len(found) >= 2
    for block in found:
        assert printed(block.command, tmp_path) == block.output, block.command


def test_the_site_is_built_and_no_link_of_it_is_dead(tmp_path: Path) -> None:
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path / "site")],
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    assert (tmp_path / "site" / "runbooks" / "disk-full.html").is_file()
