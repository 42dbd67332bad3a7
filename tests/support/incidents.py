"""The incidents: stores that real brokers left after ordinary operational life, with what was done to them.

`tests/golden/incidents/README.md` explains every file and every answer.
"""

from __future__ import annotations

import gzip
import json
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pipelines.notebook.bundles import extract_all
from tests.support.fixtures import GOLDEN, move_once, run_folder

INCIDENTS = GOLDEN / "incidents"
LAB_FOLDER = "/mnt"
"""What stands in a broker.conf for the folder that the archive is unpacked to."""


@dataclass(frozen=True)
class Incident:
    """One incident, unpacked: `folder` holds the store root, folders outside it, and `broker.conf` with true paths."""

    name: str
    folder: Path

    @property
    def version(self) -> str:
        return self.name.partition("-")[0]

    @property
    def root(self) -> Path:
        """The store root: the folder that the broker's storePathRootDir names."""
        return self.folder / "store"

    @property
    def killed_root(self) -> Path:
        """The store as SIGKILL left it (incidents `kill9` and `kill9-pool` only)."""
        return self.folder / "store-killed"

    @property
    def broker_conf(self) -> Path:
        return self.folder / "broker.conf"

    @property
    def logs(self) -> Path:
        return INCIDENTS / self.name / "logs"

    @property
    def truth(self) -> Path:
        return INCIDENTS / self.name / "truth"

    def told(self) -> dict[str, Any]:
        """`incident.json`: the steps, the facts, and the answers an operator wants."""
        loaded: dict[str, Any] = json.loads((self.truth / "incident.json").read_text("utf-8"))
        return loaded

    def lines(self, file: str) -> Iterator[dict[str, Any]]:
        """The objects of one `.jsonl.gz` of the truth."""
        with gzip.open(self.truth / file, "rt", encoding="utf-8") as lines:
            yield from map(json.loads, lines)


def incident_names(*kinds: str) -> list[str]:
    """`<version>-<kind>` of the incidents of these kinds, or of all."""
    folders = (path.name for path in INCIDENTS.iterdir() if path.is_dir())
    return sorted(name for name in folders if not kinds or name.partition("-")[2] in kinds)


@cache
def incident(name: str) -> Incident:
    """The incident, unpacked once per test run. Readers never write to it."""
    folder = run_folder() / f"incident-{name}"
    if not folder.is_dir():
        with TemporaryDirectory(dir=run_folder()) as scratch:
            whole = Path(scratch) / "whole"
            whole.mkdir()
            _unpack(name, whole, folder)
            move_once(whole, folder)
    return Incident(name, folder)


def _unpack(name: str, whole: Path, folder: Path) -> None:
    """Fill `whole`, which will be `folder`: broker.conf names that."""
    for archive in (INCIDENTS / name).glob("*.tar.gz"):
        with tarfile.open(archive) as tar:
            extract_all(tar, whole)
    conf = (INCIDENTS / name / "broker.conf").read_text("utf-8")
    (whole / "broker.conf").write_text(conf.replace(LAB_FOLDER, str(folder)), "utf-8")
