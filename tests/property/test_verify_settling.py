"""What the first pass settles, no rule has anything to say about: the findings are those of the rules over everything.

Stores are damaged anywhere, and their logs are cut into parts anywhere.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from parsers.store.store import Store, open_store
from recovery.knowledge.knowledge import Said, knowledge_of
from recovery.verify.first_pass import files_of, first_pass
from recovery.verify.settle.outline import Part
from recovery.verify.verify import Verification, judged, verify
from tests.support.build_store import SETTINGS, VERSION, shop
from tests.support.copies import copy_tree

Edit = tuple[int, str, float, int]
"""Which file, what is done to it, where (of what is written), how much."""

UNIT = 20
edits = st.lists(
    st.tuples(
        st.integers(0, 1000),
        st.sampled_from(("flip", "zero", "swap", "shift", "cut", "grow", "delete", "repeat")),
        st.floats(0, 1, exclude_max=True),
        st.integers(1, 400),
    ),
    min_size=1,
    max_size=5,
)


@pytest.fixture(scope="module", params=[0, 8192], ids=["from the start", "expired head"])
def whole(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store without damage; with an expired head its log lost its first files."""
    root = shop(tmp_path_factory.mktemp("whole") / "store", 90).finish()
    for path in sorted((root / "commitlog").iterdir())[: request.param // SETTINGS.mapped_file_size_commit_log]:
        path.unlink()
    return root


def damage(root: Path, edit: Edit) -> None:
    number, what, where, amount = edit
    files = sorted(path for path in root.rglob("*") if path.is_file() and path.parent.name != "config")
    path = files[number % len(files)]
    if what == "delete":
        path.unlink()
        return
    data = bytearray(path.read_bytes())
    used = len(data.rstrip(b"\0")) or len(data)
    at = int(where * used)
    row, other = at - at % UNIT, amount * UNIT % (used - used % UNIT or UNIT)
    if what == "flip":
        data[at : at + 1] = bytes(byte ^ (1 << amount % 8) for byte in data[at : at + 1])
    elif what == "zero":
        data[at : at + amount] = bytes(len(data[at : at + amount]))
    elif what == "swap":
        data[row : row + UNIT], data[other : other + UNIT] = data[other : other + UNIT], data[row : row + UNIT]
    elif what == "repeat":
        data[row : row + UNIT] = data[other : other + UNIT]
    elif what == "shift":
        data[row:] = data[row + UNIT :] + bytes(min(UNIT, len(data) - row))
    elif what == "cut":
        del data[at:]
    else:
        data += bytes(amount)
    path.write_bytes(data)


def in_parts(store: Store, step: int) -> Verification:
    """The findings when parts of `step` bytes are read one by one."""
    known = knowledge_of(store, Said(VERSION, SETTINGS))
    files = files_of(store, known)
    parts = [
        [Part(file, start, min(file.size, start + step))]
        for file in store.commitlog
        for start in range(0, file.size, step)
    ]
    return judged(store, known, files, first_pass(store, known, files, parts))


@given(edits=edits, abort=st.booleans(), step=st.integers(400, 5000))
@example(edits=[(1, "swap", 0.8515625, 81)], abort=False, step=90)  # a culprit of two rules, and its left neighbour
@example(edits=[(128, "zero", 0.0, 125)], abort=False, step=90)  # an index header and the first entry
@example(edits=[(118, "zero", 0.9375, 32)], abort=False, step=400)  # entries lost from within the last one on
def test_damaged_stores_have_the_findings_that_all_rules_over_everything_have(
    whole: Path, edits: list[Edit], abort: bool, step: int
) -> None:
    with TemporaryDirectory() as folder:
        root = Path(folder) / "store"
        copy_tree(whole, root)
        for edit in edits:
            damage(root, edit)
        if abort:
            (root / "abort").touch()
        store = open_store(root)
        everything = verify(store, knowledge_of(store, Said(VERSION, SETTINGS)), settles=False)
        assert verify(store, knowledge_of(store, Said(VERSION, SETTINGS))) == everything
        assert in_parts(store, step) == everything


def test_a_store_without_damage_is_settled_but_for_its_first_and_last_entries(whole: Path) -> None:
    store = open_store(whole)
    known = knowledge_of(store, Said(VERSION, SETTINGS))
    files = files_of(store, known)
    seen = first_pass(store, known, files)
    assert seen.records > 0
    assert not any(trace.left or trace.spans for trace in seen.queues.values())
    assert not seen.left_keys
    assert in_parts(store, 700) == verify(store, knowledge_of(store, Said(VERSION, SETTINGS)))
