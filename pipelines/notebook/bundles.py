"""The evidence that comes with rocketlens: a clean store, a crashed one, a recorded cluster."""

from __future__ import annotations

import os
import tarfile
import tempfile
from contextlib import suppress
from pathlib import Path

from pipelines.installed.shipped import DEMO, IS_INSTALLED
from pipelines.lake.configuration.sources import SourcesError, configured_file, demo_config, read_sources


def bundle(name: str) -> Path:
    """The folder of that name in `demo/`. Raises ValueError naming the ones there are."""
    known = sorted(archive.parent.name for archive in DEMO.glob("*/store.tar.gz"))
    if name not in known:
        raise ValueError(f"no bundle {name!r} in {DEMO} (there are {', '.join(known) or 'none'})")
    return DEMO / name


def bundled_store(name: str) -> Path:
    """The store root of a bundle, unpacked into a lake the first time it is asked for."""
    archive = bundle(name) / "store.tar.gz"
    home = _lake() / "demo"
    unpacked = home / name
    if not unpacked.is_dir():
        home.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f"{name}-", dir=home) as scratch, tarfile.open(archive) as tar:
            extract_all(tar, Path(scratch) / "whole")
            _put(Path(scratch) / "whole", unpacked)
    return unpacked / "store"


def _lake() -> Path:
    """The demo's lake; of an installed rocketlens the configured one, and `lake` in the current folder where none is or
    none is a folder."""
    with suppress(SourcesError):
        lake = read_sources(configured_file() if IS_INSTALLED else demo_config()).lake
        if isinstance(lake, Path):
            return lake
    return Path.cwd() / "lake"


def extract_all(tar: tarfile.TarFile, into: Path) -> None:
    """Unpack an archive, trusting none of its paths where this Python can refuse them (3.11.4 and later)."""
    if hasattr(tarfile, "data_filter"):
        tar.extractall(into, filter="data")
    else:
        tar.extractall(into)


def _put(whole: Path, unpacked: Path) -> None:
    """Move it into place at once: whoever looks sees all of it or nothing. Another process may have been first."""
    try:
        os.rename(whole, unpacked)
    except OSError:
        if not unpacked.is_dir():
            raise
