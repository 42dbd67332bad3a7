"""A config file longer than any that is decoded: refused unread, and nothing is said of what a broker makes of it."""

from __future__ import annotations

import mmap
from pathlib import Path

import pytest

from parsers.config.document import read_document
from parsers.damage.errors import TooLarge
from parsers.evidence.mapped import map_file
from parsers.layouts.fastjson import MAX_BYTES
from parsers.store.store import open_store
from recovery.forecast.forecast import forecast
from recovery.verify.verify import verify
from tests.support.copies import copy_tree
from tests.support.files import Seen
from tests.support.opened import opened
from tests.support.stores import store_root

NAME = "consumerOffset.json"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A store whose saved offsets are a file of a byte more than is decoded, all of it a hole but the first."""
    copied = copy_tree(store_root("5.3.3-clean"), tmp_path / "store")
    with open(copied / "config" / NAME, "wb") as file:
        file.write(b"{")
        file.truncate(MAX_BYTES + 1)
    return copied


def test_it_is_not_read(root: Path) -> None:
    assert isinstance(map_file(root / "config" / NAME).obj, mmap.mmap)
    with pytest.raises(TooLarge) as refused:
        read_document(open_store(root).config, NAME)
    assert (refused.value.expected, refused.value.actual) == (str(MAX_BYTES), str(MAX_BYTES + 1))
    seen = Seen()
    found = read_document(open_store(root).config, NAME, damage=seen)
    assert [row.kind for row in seen.rows] == ["TooLarge"]
    assert found is None or found.file.path.name == f"{NAME}.bak"


def test_no_start_is_foretold(root: Path) -> None:
    with pytest.raises(TooLarge) as refused:
        forecast(*opened(root, "5.3.3"))
    assert refused.value.path == root / "config" / NAME


def test_no_state_of_it_is_a_finding(root: Path) -> None:
    found = verify(*opened(root, "5.3.3"))
    assert not [finding.kind for finding in found.findings if finding.kind.startswith("config_")]
    assert [each.why for each in found.explained if each.what == "not compared" and NAME in each.why]
