"""The rooms and the arrows between them, read from the imports."""

from __future__ import annotations

import ast
import importlib
import importlib.metadata
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.fixtures import CHECKOUT

ROOMS = ("parsers", "recovery", "rebalance", "pipelines", "rocketlens")
STDLIB = frozenset(sys.stdlib_module_names)
IMPURE = frozenset({"os", "pathlib", "io", "time", "random", "secrets", "logging", "socket", "subprocess", "tempfile"})
MAY_KNOW = {
    "parsers": {"parsers", "numpy", "numba", "llvmlite", "pyarrow", "rocksdict"},
    "recovery": {"recovery", "parsers", "numpy", "numba", "pyarrow"},
    "rebalance": {"rebalance", "parsers"},
}
RULES = ("parsers.java", "parsers.topics", "parsers.version")
"""Modules of rules without bytes: all that `rebalance` knows of `parsers`, and they know nothing but each other."""

CHAPTERS = {
    "rebalance": (
        "model",
        "facts",
        "readers",
        "strategies",
        "processes",
        "holes",
        "tenures",
        "ownership",
        "diagnosis",
    ),
}
"""The sub-packages of a room in the order of the data: a chapter knows those before it. Doors are files of the root."""


def imports_of(path: Path) -> Iterator[str]:
    """Top-level names of every module imported anywhere in the file."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            yield node.module.split(".")[0]


def strangers(room: str) -> set[tuple[str, str]]:
    return {
        (str(path.relative_to(CHECKOUT)), name)
        for path in sorted((CHECKOUT / room).rglob("*.py"))
        for name in imports_of(path)
        if name not in STDLIB and name not in MAY_KNOW[room]
    }


def chapters_imported(path: Path, room: str) -> set[str]:
    """Chapters of the room that a file imports anything of; `""` for a door."""
    modules = [
        node.module
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom) and node.module
    ]
    inside = [module.split(".") for module in modules if module.split(".")[0] == room]
    return {parts[1] if len(parts) > 1 and parts[1] in CHAPTERS[room] else "" for parts in inside}


@pytest.mark.parametrize("room", sorted(CHAPTERS))
def test_a_chapter_knows_only_those_before_it(room: str) -> None:
    order = CHAPTERS[room]
    folders = {path.name for path in (CHECKOUT / room).iterdir() if (path / "__init__.py").is_file()}
    assert folders == set(order)
    upward = {
        (str(path.relative_to(CHECKOUT)), known)
        for at, chapter in enumerate(order)
        for path in sorted((CHECKOUT / room / chapter).rglob("*.py"))
        for known in chapters_imported(path, room)
        if known not in order[: at + 1]
    }
    assert upward == set()


@pytest.mark.parametrize("room", sorted(MAY_KNOW))
def test_a_room_knows_only_what_it_may(room: str) -> None:
    assert strangers(room) == set()


def modules_of(path: Path, room: str) -> set[str]:
    """Modules of a room that a file imports."""
    nodes = ast.walk(ast.parse(path.read_text()))
    found = {node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module}
    return {module for module in found if module.split(".")[0] == room}


def test_rebalance_knows_the_rules_of_parsers_only() -> None:
    known = {module for path in (CHECKOUT / "rebalance").rglob("*.py") for module in modules_of(path, "parsers")}
    assert known <= set(RULES)
    assert not (CHECKOUT / "parsers" / "__init__.py").read_text()
    for rules in RULES:
        path = CHECKOUT.joinpath(*rules.split(".")).with_suffix(".py")
        assert modules_of(path, "parsers") <= set(RULES)
        assert {name for name in imports_of(path) if name not in STDLIB} <= {"parsers"}


def test_rebalance_sees_no_clock_file_or_chance() -> None:
    seen = {
        (path.name, name)
        for path in (CHECKOUT / "rebalance").rglob("*.py")
        for name in imports_of(path)
        if name in IMPURE
    }
    assert seen == set()


def test_notebooks_know_the_door_only() -> None:
    known = {name for path in (CHECKOUT / "notebooks").glob("*.py") for name in imports_of(path)}
    assert known - STDLIB == {"rocketlens"}


def test_no_room_knows_the_door() -> None:
    rooms = [path for room in ROOMS[:-1] for path in (CHECKOUT / room).rglob("*.py")]
    assert [path.name for path in rooms if "rocketlens" in imports_of(path)] == []


@pytest.mark.parametrize("room", ROOMS)
def test_top_level_names_are_ours(room: str) -> None:
    """The package index has projects called `pipelines` and `rebalance`; none of them may shadow ours."""
    found = importlib.import_module(room).__file__
    assert found is not None
    assert CHECKOUT in Path(found).resolve().parents
    owners = importlib.metadata.packages_distributions().get(room, ["rocketlens"])
    assert set(owners) == {"rocketlens"}


@pytest.mark.parametrize("path", sorted((CHECKOUT / "rebalance").rglob("*.py")), ids=lambda path: path.stem)
def test_files_and_functions_stay_readable(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count("\n") <= 350
    functions = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)]
    assert [f.name for f in functions if (f.end_lineno or 0) - f.lineno >= 60] == []
