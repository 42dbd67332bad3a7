"""The rooms and the arrows between them, read from the imports."""

from __future__ import annotations

import ast
import importlib
import importlib.metadata
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from itertools import chain
from pathlib import Path

import pytest

from tests.support.fixtures import CHECKOUT
from tools.rooms import BESIDE, CHAPTERS, ROOMS, page

STDLIB = frozenset(sys.stdlib_module_names)
IMPURE = frozenset({"os", "pathlib", "io", "time", "random", "secrets", "logging", "socket", "subprocess", "tempfile"})
MAY_KNOW = {
    "parsers": {"parsers", "numpy", "numba", "llvmlite", "pyarrow", "rocksdict"},
    "recovery": {"recovery", "parsers", "numpy", "pyarrow"},
    "rebalance": {"rebalance", "parsers"},
}
RULES = "parsers.values"
"""The chapter of rules without bytes: all that `rebalance` knows of `parsers`, and it knows nothing but itself."""

CALLS_A_DOOR = frozenset({("pipelines/cli/commands/shipped.py", "")})
"""The command `demo` is the door `pipelines.demo`."""


@cache
def import_statements(path: Path) -> tuple[ast.Import | ast.ImportFrom, ...]:
    """Those anywhere in a file, which is parsed once for all tests."""
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    return tuple(node for node in nodes if isinstance(node, (ast.Import, ast.ImportFrom)))


def imports_of(path: Path) -> Iterator[str]:
    """Top-level names of every module imported anywhere in the file."""
    for node in import_statements(path):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif node.module is not None:
            yield node.module.split(".")[0]


def strangers(room: str) -> set[tuple[str, str]]:
    return {
        (str(path.relative_to(CHECKOUT)), name)
        for path in sorted((CHECKOUT / room).rglob("*.py"))
        for name in imports_of(path)
        if name not in STDLIB and name not in MAY_KNOW[room]
    }


def modules_imported(path: Path) -> Iterator[Path]:
    """Files and folders of this checkout that a file imports anything of."""
    for node in import_statements(path):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] in ROOMS:
            module = Path(*node.module.split("."))
            for alias in node.names:
                inner = module / alias.name
                is_module = (CHECKOUT / inner).is_dir() or (CHECKOUT / inner).with_suffix(".py").is_file()
                yield inner if is_module else module


def chapter_of(module: Path, folder: str) -> str | None:
    """The chapter of `folder` in which a module is, `""` for its own files, None for one outside of it."""
    if not module.is_relative_to(folder):
        return None
    first = module.relative_to(folder).parts[:1]
    return first[0] if first and first[0] in CHAPTERS[folder] else ""


@pytest.mark.parametrize("folder", sorted(CHAPTERS))
def test_a_chapter_knows_only_those_before_it(folder: str) -> None:
    order = CHAPTERS[folder]
    upward = {
        (str(path.relative_to(CHECKOUT)), known)
        for path in sorted((CHECKOUT / folder).rglob("*.py"))
        for known in {chapter_of(module, folder) for module in modules_imported(path)} - {None}
        if order.index(known) > order.index(chapter_of(path.relative_to(CHECKOUT).with_suffix(""), folder) or "")
    }
    assert upward - CALLS_A_DOOR == set()


@pytest.mark.parametrize("folder", sorted(CHAPTERS))
def test_every_sub_package_has_its_place_in_the_order(folder: str) -> None:
    inside = {path.name for path in (CHECKOUT / folder).iterdir() if (path / "__init__.py").is_file()}
    assert inside == set(CHAPTERS[folder]) - {""}


@pytest.mark.parametrize("room", ROOMS[:-1])
def test_every_folder_of_folders_has_an_order(room: str) -> None:
    parents = {path.parent.parent.relative_to(CHECKOUT) for path in (CHECKOUT / room).glob("*/**/__init__.py")}
    assert {str(parent) for parent in parents} - set(CHAPTERS) == set()


def test_every_folder_of_a_checkout_is_known() -> None:
    kept = subprocess.run(["git", "ls-files"], cwd=CHECKOUT, capture_output=True, text=True, check=False).stdout
    folders = {line.split("/")[0] for line in kept.splitlines() if "/" in line and not line.startswith(".")}
    assert folders <= {*ROOMS, *BESIDE}  # none where this is no checkout of git
    assert all((CHECKOUT / folder).is_dir() for folder in BESIDE)


def test_the_map_is_that_of_the_folders() -> None:
    printed = (CHECKOUT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    assert printed == page(), "python -m tools.rooms ARCHITECTURE.md"


@pytest.mark.parametrize("room", sorted(MAY_KNOW))
def test_a_room_knows_only_what_it_may(room: str) -> None:
    assert strangers(room) == set()


def modules_of(path: Path, room: str) -> set[str]:
    """Modules of a room that a file imports."""
    nodes = import_statements(path)
    found = {node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module}
    return {module for module in found if module.split(".")[0] == room}


def test_rebalance_knows_the_rules_of_parsers_only() -> None:
    def chapters(folder: str) -> set[str]:
        known = (modules_of(path, "parsers") for path in (CHECKOUT / folder).rglob("*.py"))
        return {".".join(module.split(".")[:2]) for module in chain.from_iterable(known)}

    rules = CHECKOUT.joinpath(*RULES.split("."))
    assert chapters("rebalance") == {RULES}
    assert chapters(str(rules)) <= {RULES}
    assert list(imports_of(CHECKOUT / "parsers" / "__init__.py")) == []
    assert {name for path in rules.glob("*.py") for name in imports_of(path)} <= STDLIB | {"parsers"}


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


SOURCES = [path for room in ROOMS for path in sorted((CHECKOUT / room).rglob("*.py"))]
MOST_FILES = 15
SIBLINGS = {
    "benchmarks": "each holds one reader against a baseline of the same run, and asserts what it counted",
    "pipelines/report/sections": "each makes the sections of one question from the facts of a store or a lake",
}
"""Folders with more files than MOST_FILES, and the one contract that all of their files are under."""


def test_a_folder_is_read_at_a_glance() -> None:
    folders = {path.parent for path in SOURCES} | {CHECKOUT / "benchmarks"}
    full = {
        str(folder.relative_to(CHECKOUT))
        for folder in folders
        if sum(path.name != "__init__.py" for path in folder.glob("*.py")) > MOST_FILES
    }
    assert full == set(SIBLINGS)


@pytest.mark.parametrize("folder", sorted({str(path.parent.relative_to(CHECKOUT)) for path in SOURCES}))
def test_a_package_says_what_comes_in_and_what_goes_out(folder: str) -> None:
    """Its last words are what it must not know or do; the door for Python says what answers are instead."""
    text = ast.get_docstring(ast.parse((CHECKOUT / folder / "__init__.py").read_text("utf-8")))
    assert text is not None
    assert folder.startswith("rocketlens") or ("In: " in text and "Out: " in text.split("In: ")[1])
    assert folder.startswith("rocketlens") or text.split("Out: ")[1].count(". ") >= 1


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(CHECKOUT)))
def test_files_and_functions_stay_readable(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count("\n") <= 350
    functions = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)]
    assert [f.name for f in functions if (f.end_lineno or 0) - f.lineno >= 60] == []
    assert [f.name for f in functions if parameters(f) > (9 if is_compiled(f) else 7)] == []


def test_what_a_program_runs_stands_at_its_end() -> None:
    """Functions below it are not there yet when it runs."""
    behind = {
        str(path.relative_to(CHECKOUT)): [type(node).__name__ for node in body[at + 1 :]]
        for path in SOURCES
        for body in (ast.parse(path.read_text(encoding="utf-8")).body,)
        for at, node in enumerate(body)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "__name__ == '__main__'"
    }
    assert "pipelines/demo.py" in behind
    assert {path: below for path, below in behind.items() if below} == {}


def parameters(function: ast.FunctionDef) -> int:
    """How many a caller gives."""
    names = [a.arg for a in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)]
    return len(names) - (names[:1] in (["self"], ["cls"]))


def is_compiled(function: ast.FunctionDef) -> bool:
    """Kernels may take two more: of a query of a microsecond, a tuple of numbers costs a third."""
    return any("kernel" in ast.unparse(each) for each in function.decorator_list)
