"""Times are declared once, each with its reason, and printed in the documentation."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from rebalance.model import timing
from rebalance.model.timing_document import page, table
from tests.support.fixtures import CHECKOUT

ROOM = CHECKOUT / "rebalance"
DECLARED = ("timing.py", "settings.py")


def times_named(path: Path) -> Iterator[str]:
    """Constants of a file that hold a number of milliseconds."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign):
            names = [name.id for target in node.targets for name in ast.walk(target) if isinstance(name, ast.Name)]
            parts = list(ast.walk(node.value))
            numbers = [part.value for part in parts if isinstance(part, ast.Constant)]
            if any(isinstance(number, int) for number in numbers) and not any(isinstance(p, ast.Call) for p in parts):
                yield from (name for name in names if name.endswith("_MS"))


@pytest.mark.parametrize("path", sorted(ROOM.rglob("*.py")), ids=lambda path: path.stem)
def test_no_other_file_declares_a_time(path: Path) -> None:
    allowed = {"GMT_8_MS"} if path.name == "stamp.py" else set()
    assert path.name in DECLARED or set(times_named(path)) <= allowed


def test_every_time_has_a_reason_and_a_use() -> None:
    names = {name for name in vars(timing) if name.endswith("_MS")}
    assert names == set(table())
    assert all(why.reason and why.source for why in table().values())
    texts = [path.read_text(encoding="utf-8") for path in ROOM.rglob("*.py") if path.name != "timing.py"]
    assert [name for name in names if not any(name in text for text in texts)] == []


def test_the_page_is_printed_from_the_table() -> None:
    assert (CHECKOUT / "docs" / "rebalance-timing.md").read_text(encoding="utf-8") == page()
