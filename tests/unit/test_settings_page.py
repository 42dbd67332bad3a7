"""docs/settings.md says what the declared settings say."""

from __future__ import annotations

from pathlib import Path

from recovery.rules.settings import StoreSettings
from recovery.rules.settings_document import page

PAGE = Path(__file__).parents[2] / "docs" / "settings.md"


def test_page_is_in_step() -> None:
    """Otherwise print it anew, as its head says."""
    assert PAGE.read_text("utf-8") == page()


def test_every_setting_has_a_row() -> None:
    assert all(f"| `{name}` |" in page() for name in StoreSettings().as_config())
