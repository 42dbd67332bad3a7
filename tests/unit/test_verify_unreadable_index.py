"""Index files whose slots and entries no layout explains."""

from __future__ import annotations

from pathlib import Path

from parsers.index.layout import INDEX_HEADER
from recovery.verify.findings.finding import Place
from recovery.verify.verify import verify
from tests.support.build_store import SETTINGS, VERSION, overwrite, shop
from tests.support.opened import opened


def test_index_files_that_no_layout_fits_are_named_one_by_one_and_their_keys_are_missing(tmp_path: Path) -> None:
    root = shop(tmp_path / "store").finish()
    paths = sorted((root / "index").iterdir())
    for path in paths:
        overwrite(path, INDEX_HEADER.size, b"\x7f" * (path.stat().st_size - INDEX_HEADER.size))
    *unreadable, missing = verify(*opened(root, VERSION, SETTINGS)).findings
    assert len(paths) > 1
    assert {one.kind for one in unreadable} == {"index_unreadable"}
    assert [place for one in unreadable for place in one.places] == [
        Place(f"index/{path.name}", 0, path.stat().st_size) for path in paths
    ]
    assert (missing.kind, missing.count) == ("index_keys_missing", sum(map(index_entries, paths)))


def index_entries(path: Path) -> int:
    return INDEX_HEADER.unpack(path.read_bytes())["index_count"] - 1
