"""A broker deletes and cuts files while its store is read: between listing and opening, one is gone or shorter."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from parsers.store.store import Store, open_store
from recovery.broker.store_folder import Evidence, read_evidence
from recovery.forecast import forecast
from recovery.knowledge import knowledge
from recovery.retention import retention
from recovery.rules.settings import StoreSettings
from tests.fuzz.test_cli_fuzz import COMMANDS, ENDINGS, FILES
from tests.support.cli import call
from tests.support.copies import copy_tree
from tests.support.stores import store_root


def _delete(path: Path) -> None:
    path.unlink(missing_ok=True)


def _empty(path: Path) -> None:
    if path.exists():
        os.truncate(path, 0)


def _cut(path: Path) -> None:
    if path.exists():
        os.truncate(path, path.stat().st_size // 2 + 1)


def _delete_folder(path: Path) -> None:
    shutil.rmtree(path.parent, ignore_errors=True)


CHANGES: dict[str, Callable[[Path], None]] = {
    "deleted": _delete,
    "emptied": _empty,
    "cut": _cut,
    "folder_deleted": _delete_folder,
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("part", [part for part in FILES if part not in ("checkpoint", "timerwheel")])
@pytest.mark.parametrize("newest", [False, True])
def test_commands_on_a_store_that_changes_after_it_was_listed(
    part: str, change: str, newest: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, kept = tmp_path / "store", store_root("5.3.3-propcrc")

    def changed() -> None:
        files = sorted(path for path in (root / part).rglob("*") if path.is_file())
        CHANGES[change](files[-1 if newest else 0])

    def listed_store(path: Path, **folders: Any) -> Store:
        listed = open_store(path, **folders)
        changed()
        return listed

    def listed_evidence(path: Path, settings: StoreSettings) -> Evidence:
        if not root.exists() or not any(path.is_file() for path in (root / part).rglob("*")):
            return read_evidence(path, settings)
        found = read_evidence(path, settings)
        changed()
        return found

    monkeypatch.setattr(knowledge, "open_store", listed_store)
    monkeypatch.setattr(forecast, "read_evidence", listed_evidence)
    monkeypatch.setattr(retention, "read_evidence", listed_evidence)
    for command in COMMANDS:
        shutil.rmtree(root, ignore_errors=True)
        copy_tree(kept, root)
        called = call(*(word.format(store=root) for word in command))
        gone = called.code == 3 and command[0] == "who" and "no message with the id" in called.err
        assert gone or called.code in ENDINGS - {3}, (command, called.err)  # the rest of the store is read
        assert "Traceback" not in called.err
