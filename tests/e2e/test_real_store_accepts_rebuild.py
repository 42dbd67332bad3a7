"""Our queues and index in place of the broker's own: the real store classes load them and serve every queue."""

from __future__ import annotations

import gzip
import json
import shutil
from hashlib import sha256
from pathlib import Path

import pytest

from parsers.store.store import open_store
from parsers.store.store_file import StoreFile
from recovery.rebuild.rebuild import rebuild
from recovery.rules.settings import StoreSettings
from tests.support.copies import copy_tree
from tests.support.fixtures import CHECKOUT, unpack_store
from tests.support.java_lab import needs_java, recover
from tests.support.opened import opened

BUNDLE = CHECKOUT / "demo" / "5.3.3-clean"
STATE = json.loads((BUNDLE / "truth" / "store_state.json").read_text())
LAYOUT = ("mappedFileSizeCommitLog", "mappedFileSizeConsumeQueue", "maxHashSlotNum", "maxIndexNum", "messageDelayLevel")
SETTINGS = {name: STATE["settings"][name] for name in LAYOUT}


def queue_ends() -> dict[str, tuple[int, int]]:
    with gzip.open(BUNDLE / "truth" / "queues.jsonl.gz", "rt") as lines:
        rows = [json.loads(line) for line in lines]
    return {
        f"{row['topic']}/{row['queueId']}": (row["minOffset"], row["maxOffset"]) for row in rows if row["maxOffset"]
    }


@pytest.mark.java
@needs_java
def test_the_store_classes_serve_what_was_rebuilt(tmp_path: Path) -> None:
    root = unpack_store(BUNDLE / "store.tar.gz", tmp_path)
    settings = StoreSettings.from_config({name: str(value) for name, value in SETTINGS.items()})
    rebuild(*opened(root, STATE["version"], settings), tmp_path / "new")
    for folder in ("consumequeue", "index"):
        shutil.rmtree(root / folder)
        copy_tree(tmp_path / "new" / folder, root / folder)
    ours = {file.path.relative_to(root).as_posix(): sha256(file.path.read_bytes()).hexdigest() for file in kept(root)}
    seen = recover(root, STATE["version"], SETTINGS)
    assert seen["load"] is True
    assert seen["dispatchedInLoad"]["count"] == 0
    ends = {name: (queue["min"], queue["max"]) for name, queue in seen["quiet"]["queues"].items() if queue["max"]}
    assert ends == queue_ends()
    assert ours == {name: sha256((root / name).read_bytes()).hexdigest() for name in ours}


def kept(root: Path) -> list[StoreFile]:
    store = open_store(root)
    return [file for files in store.queues.values() for file in files] + store.index
