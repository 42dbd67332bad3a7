"""Damages to a store whose ext units have bit maps, and what we say a broker with its filters makes of each copy.

What the real classes made of them is in tests/golden/ext/starts.json; `tests/golden/make/ext/starts.py` wrote it.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

from recovery.broker.mapped_file_queue import FileList
from recovery.broker.store_folder import read_evidence
from recovery.config.start import config_start_of
from recovery.rules.settings import StoreSettings
from recovery.rules.versions import BrokerVersion
from recovery.start.restart import memory_before_load, restart
from tests.support.recovery_cases import sha256

Told = dict[str, str]
SETTINGS = {
    "mappedFileSizeCommitLog": "65536",
    "mappedFileSizeConsumeQueue": "2000",
    "mappedFileSizeConsumeQueueExt": "1000",
    "enableConsumeQueueExt": "true",
    "enableCalcFilterBitMap": "true",
    "maxHashSlotNum": "100",
    "maxIndexNum": "400",
}
QUEUES, EXT, FILTERS = "consumequeue", "consumequeue_ext", "config/consumerFilter.json"


def _crash(root: Path, *gone: str) -> None:
    """Everything that the queues lack is dispatched again, from the log's first message on."""
    (root / "abort").touch()
    for name in ("checkpoint", "index", *gone):
        path = root / name
        shutil.rmtree(path) if path.is_dir() else path.unlink()


def _cut_log(root: Path) -> None:
    _crash(root, QUEUES, EXT)
    os.truncate(min((root / "commitlog").iterdir()), 40_000)
    os.truncate(min((root / "commitlog").iterdir()), 65_536)


def _changed_filter(name: str, value: object) -> Callable[[Path], None]:
    def damage(root: Path) -> None:
        _crash(root, QUEUES, EXT)
        document = json.loads((root / FILTERS).read_text("utf-8"))
        stored = document["filterDataByTopic"]["Many"]["groupFilterData"]["g1"]
        (stored if name in stored else stored["bloomFilterData"])[name] = value
        (root / FILTERS).write_text(json.dumps(document), "utf-8")

    return damage


def _file_for_queue(root: Path) -> None:
    _crash(root, f"{QUEUES}/Many/0")
    (root / QUEUES / "Many" / "0").touch()


DAMAGES: Mapping[str, Callable[[Path], None]] = {
    "as_it_is": lambda root: None,
    "crash": _crash,
    "crash_without_queues_and_ext": lambda root: _crash(root, QUEUES, EXT),
    "crash_without_queues": lambda root: _crash(root, QUEUES),
    "crash_without_a_queue": lambda root: _crash(root, f"{QUEUES}/Many/1"),
    "crash_without_ext": lambda root: _crash(root, EXT),
    "crash_without_filters": lambda root: _crash(root, QUEUES, EXT, FILTERS),
    "crash_with_a_cut_log": _cut_log,
    "filter_that_does_not_compile": _changed_filter("expression", "a >"),
    "filter_of_another_size": _changed_filter("bitNum", 8),
    "file_in_the_place_of_a_queue": _file_for_queue,
}


def play(root: Path, version: str, *, compiled: bool) -> Told:
    """Used bytes and SHA-256 of every queue file and ext file once dispatch is quiet."""
    settings, broker = StoreSettings.from_config(SETTINGS), BrokerVersion.parse(version)
    evidence = read_evidence(root, settings)
    config = config_start_of(evidence, broker, settings)
    memory = memory_before_load(evidence, broker, settings, with_index_entries=not compiled)
    played = restart(memory, config=config)
    told = {"load": str(played.loaded).lower()}
    for (topic, queue_id), queue in played.memory.queues.items():
        assert queue.ext is not None
        for kind, files in ((QUEUES, queue.mapped), (EXT, queue.ext.mapped)):
            told |= {f"{kind}/{topic}/{queue_id}/{name}": text for name, text in _used(files).items()}
    return told


def _used(files: FileList) -> Told:
    return {file.name: f"{file.wrote_position} {sha256(file.content(file.wrote_position))}" for file in files.files}
