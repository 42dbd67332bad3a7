"""Any store that damage can produce gives a document, and is left as it was."""

from __future__ import annotations

import json
import os
import random
import shutil
import tarfile
from pathlib import Path

import pytest

from parsers.store.store import NotAStore, open_store
from pipelines.notebook.bundles import extract_all
from recovery.forecast.document import forecast_document
from recovery.forecast.forecast import forecast
from recovery.retention.retention import retention
from recovery.rules.settings import StoreSettings
from recovery.rules.versions import PROVEN
from tests.support.fixtures import GOLDEN
from tests.support.opened import opened

BASES = [path for path in sorted((GOLDEN / "recovery" / "bases").glob("*.tar.gz")) if path.name[:5] != "empty"]
SEEDS = range(48)
SETTINGS = {
    "messageIndexSafe": ("true", "false"),
    "checkCRCOnRecover": ("true", "false"),
    "duplicationEnable": ("false", "true"),
    "forceVerifyPropCRC": ("false", "true"),
    "flushDiskType": ("ASYNC_FLUSH", "SYNC_FLUSH"),
    "recheckReputOffsetFromCq": ("false", "true"),
    "enableAcceleratedRecovery": ("false", "true"),
    "checkCommitLogOffsetOnRecover": ("false", "true"),
    "commitLogRecoverMaxNum": ("10", "2"),
    "maxIndexNum": ("700", "2"),
}
SIZES = {path: json.loads(Path(str(path).replace(".tar.gz", ".json")).read_text())["config"] for path in BASES}


def _damage(root: Path, chance: random.Random) -> None:
    files = sorted(path for path in root.rglob("*") if path.is_file())
    kinds = chance.choice((WITHIN_FILES, WITHIN_FILES, DAMAGES))
    for _ in range(chance.randrange(1, 9)):
        chance.choice(kinds)(chance.choice(files), chance)


def _flip(path: Path, chance: random.Random) -> None:
    if path.is_file() and (size := path.stat().st_size):
        with path.open("r+b") as file:
            for _ in range(chance.choice((1, 1, 4, 200))):
                file.seek(chance.randrange(size))
                file.write(chance.randbytes(chance.choice((1, 2, 8))))
        os.truncate(path, size)


def _cut(path: Path, chance: random.Random) -> None:
    if path.is_file():
        os.truncate(path, chance.choice((0, 1, 7, path.stat().st_size // 2, path.stat().st_size + 13)))


def _zero(path: Path, chance: random.Random) -> None:
    if path.is_file() and (size := path.stat().st_size):
        with path.open("r+b") as file:
            file.seek(chance.randrange(size))
            file.write(bytes(min(size, 4096)))
        os.truncate(path, size)


def _swap(path: Path, chance: random.Random) -> None:
    others = [other for other in path.parent.iterdir() if other.is_file()] if path.parent.is_dir() else []
    if len(others) > 1 and path.is_file():
        content, other = path.read_bytes(), chance.choice(others)
        path.write_bytes(other.read_bytes())
        other.write_bytes(content)


def _remove(path: Path, chance: random.Random) -> None:
    if path.is_file():
        path.unlink()


def _intrude(path: Path, chance: random.Random) -> None:
    name = chance.choice(("notes.txt", "-5", "+00000000000000000000", f"{7:020d}", "9" * 25, "x\n", ".hidden"))
    target = path.parent / name
    if path.parent.is_dir() and not target.exists():
        if chance.random() < 0.3:
            target.mkdir()
        else:
            target.write_bytes(chance.randbytes(chance.choice((0, 1, 300, 2000))))


def _marker(path: Path, chance: random.Random) -> None:
    root = next(parent for parent in path.parents if parent.name == "store")
    (root / "abort").touch()


WITHIN_FILES = (_flip, _flip, _zero, _swap, _marker)
DAMAGES = (*WITHIN_FILES, _cut, _remove, _intrude)


def _fingerprint(root: Path) -> dict[str, tuple[int, int, bytes]]:
    return {
        str(path.relative_to(root)): (path.stat().st_mtime_ns, path.stat().st_size, path.read_bytes())
        for path in root.rglob("*")
        if path.is_file()
    }


@pytest.mark.parametrize("seed", SEEDS)
def test_damage_gives_a_document_and_touches_nothing(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    archive = BASES[seed % len(BASES)]
    root = tmp_path / "store"
    with tarfile.open(archive) as tar:
        extract_all(tar, root)
    _damage(root, chance)
    if chance.random() < 0.2:
        shutil.rmtree(root / chance.choice(("commitlog", "consumequeue", "index")), ignore_errors=True)
    before = _fingerprint(root)
    try:
        open_store(root)
    except NotAStore:
        return
    config = {name: chance.choice(values) for name, values in SETTINGS.items() if chance.random() < 0.4}
    settings = StoreSettings.from_config(SIZES[archive] | config)
    version = chance.choice((*PROVEN, "4.4.0", "5.0.0", "5.1.2", "5.4.0"))
    store, known = opened(root, version, settings)
    document = forecast_document(forecast(store, known))
    assert json.loads(json.dumps(document))["version"] == str(version)
    assert document["load"]["ok"] or document["load"]["error"] or document["start"]["error"]
    kept = retention(store, known, 1_800_000_000_000, chance.choice((None, 20, 99)))
    json.dumps(kept.rows())
    assert _fingerprint(root) == before
