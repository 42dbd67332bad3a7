"""docs/formats says what the Layouts say: the pages are printed from them."""

from __future__ import annotations

from pathlib import Path

import pytest

from parsers.explain.formats import PAGES

FOLDER = Path(__file__).parents[2] / "docs" / "formats"


@pytest.mark.parametrize("name", PAGES)
def test_page_is_in_step(name: str) -> None:
    """Otherwise: python -m parsers.explain.formats docs/formats"""
    assert (FOLDER / f"{name}.md").read_text("utf-8") == PAGES[name].markdown()


def test_no_page_is_left_over() -> None:
    assert {page.stem for page in FOLDER.glob("*.md")} == set(PAGES)
