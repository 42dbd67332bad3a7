"""topics.json and subscriptionGroup.json as they were saved: a store's own, the .bak beside them, and kept copies."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import get_args

from parsers.config.document import BACKUP, Document, decode_document, holds_table, read_document
from parsers.damage.errors import DamageSink, StoreFormatError, report, why_unreadable
from parsers.evidence.seen import files_below
from parsers.store.store import Store
from parsers.store.store_file import StoreFile
from pipelines.recordings.kept_copy import read_copy, written_ms
from pipelines.recordings.lines import Problem
from recovery.lives.config_states import TABLES, ConfigState, Subject, state_of

States = Mapping[Subject, list[ConfigState]]
SUBJECTS: tuple[Subject, ...] = get_args(Subject)


def saved_states(store: Store, kept: Path | None, damage: DamageSink, problem: Problem) -> States:
    """Every state of both tables that a store and a folder of kept copies hold.

    Raises FileNotFoundError: `kept` is not there.
    """
    found: dict[Subject, list[ConfigState]] = {subject: [] for subject in SUBJECTS}
    for subject in SUBJECTS:
        found[subject] += _of_store(store, subject, damage)
    for subject, state in _kept(kept, problem) if kept is not None else ():
        found[subject].append(state)
    return found


def _of_store(store: Store, subject: Subject, damage: DamageSink) -> Iterator[ConfigState]:
    name = TABLES[subject][0]
    document = read_document(store.config, name, damage=damage)
    if document is not None:
        yield state_of(subject, document, document.file.mtime_ns // 1_000_000, document.file.name)
    for file in store.config:
        if file.path.name == name + BACKUP and holds_table(file, name):
            try:
                backup = decode_document(file)
            except StoreFormatError as error:
                report(error, damage)
                continue
            if backup is not None and (document is None or document.file.path != file.path):
                yield state_of(subject, backup, file.mtime_ns // 1_000_000, file.name)


def _kept(place: Path, problem: Problem) -> Iterator[tuple[Subject, ConfigState]]:
    place.stat()
    for path in files_below(place):
        if ".json" not in path.suffixes and place.is_dir():
            continue
        try:
            seen, content = path.stat(), read_copy(path)
        except (StoreFormatError, OSError, EOFError, zlib.error) as unreadable:
            problem(f"{path}: {why_unreadable(unreadable)}")
            continue
        stored = content if isinstance(content, dict) else {}
        document = Document(StoreFile(path, "config", seen.st_size, seen.st_mtime_ns), stored)
        for subject in SUBJECTS:
            if TABLES[subject][1] in stored:
                yield subject, state_of(subject, document, written_ms(path), path.name)
