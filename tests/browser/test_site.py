"""The documentation as people open it: from a folder, without a server and without a network."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.support.browser import Page, needs_browser
from tests.support.fixtures import CHECKOUT

FOUND = '[...document.querySelectorAll(".md-search-result__link")].some(link => link.href.includes("tables.html"))'


@needs_browser
def test_the_site_is_searched_in_a_folder(page: Page, tmp_path: Path) -> None:
    build = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", str(tmp_path)]
    subprocess.run(build, cwd=CHECKOUT, check=True, capture_output=True)
    assert "https://unpkg.com" not in (tmp_path / "index.html").read_text()
    page.open((tmp_path / "index.html").as_uri())
    page.type_into("input.md-search__input", "watermark")
    page.wait_for(FOUND, seconds=30)
    assert not page.errors
