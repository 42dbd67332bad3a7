"""Every reader of store files takes damage in the same two ways, and the documentation names all of them."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections.abc import Callable, Iterator
from typing import Any

import parsers
from tests.support.fixtures import CHECKOUT

READERS = ("read_", "summarize_", "open_index", "index_files", "find")
NO_ROWS = {"read_units", "read_small", "read_at"}
"""The bytes of a file as they are: they raise."""
PAGE = CHECKOUT / "docs" / "damage.md"


def readers() -> Iterator[tuple[str, Callable[..., Any]]]:
    for module in pkgutil.walk_packages(parsers.__path__, "parsers."):
        for name, function in inspect.getmembers(importlib.import_module(module.name), inspect.isfunction):
            if function.__module__ == module.name and name.startswith(READERS) and name not in NO_ROWS:
                yield name, function


def test_every_reader_raises_or_collects() -> None:
    found = dict(readers())
    assert len(found) >= 20
    for name, function in found.items():
        taken = inspect.signature(function).parameters
        assert "damage" in taken, name
        assert taken["damage"].kind is inspect.Parameter.KEYWORD_ONLY, name


def test_the_page_names_every_reader() -> None:
    part = PAGE.read_text("utf-8").partition("## Every reader")[2].partition("\n## ")[0]
    assert set(re.findall(r"`(\w+)`", part)) & {name for name, _ in readers()} == {name for name, _ in readers()}
