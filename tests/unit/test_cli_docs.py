"""docs/cli.md says what the commands say, and every command has a help text with an example."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipelines.cli.docs import leaves, page
from tests.support.cli import call

PAGE = Path(__file__).parents[2] / "docs" / "cli.md"
COMMANDS = leaves()


def test_page_is_in_step() -> None:
    """Otherwise: python -m pipelines.cli.docs docs/cli.md"""
    assert PAGE.read_text("utf-8") == page()


@pytest.mark.parametrize("name", COMMANDS)
def test_help_has_an_example_that_names_the_command(name: str) -> None:
    command = COMMANDS[name]
    assert f"rocketlens {name}" in command.help.split("Example: ", 1)[1]
    assert all(parameter.help for parameter in command.params)
    shown = call(*name.split(), "--help")
    assert shown.code == 0
    assert b"--quiet" in shown.out


def test_no_table_has_a_bar_that_the_site_shows_with_a_backslash() -> None:
    """GitHub takes `a \\| b` in a table for `a | b`; the site shows the backslash, and who copies it gets it."""
    pages = [page for page in PAGE.parent.rglob("*.md") if "\\|" in page.read_text("utf-8")]
    assert pages == []
