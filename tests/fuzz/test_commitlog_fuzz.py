"""The corpus of the CommitLog fuzzer replayed, and mutations of it from a fixed seed, without the fuzzer."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random

import pytest

from tests.fuzz.commitlog_harness import read_anything
from tests.fuzz.make_commitlog_corpus import corpus

FOLDER = Path(__file__).parent / "corpus" / "commitlog"
CORPUS = sorted(FOLDER.iterdir())
ROUNDS = int(os.environ.get("ROCKETLENS_FUZZ_ROUNDS", "40"))
WORDS = [
    b"\0\0\0\0",
    b"\xff\xff\xff\xff",
    b"\x7f\xff\xff\xff",
    b"\x80\0\0\0",
    b"\xda\xa3\x20\xa7",
    b"\xcb\xd4\x31\x94",
    b"\x01",
    b"\x02",
]


def mutated(content: bytes, others: list[bytes], random: Random) -> bytes:
    """One to eight edits: a flip, a word, a cut, a repeat, or a piece of another file."""
    edited = bytearray(content)
    for _ in range(random.randint(1, 8)):
        start, end = sorted((random.randint(0, len(edited)), random.randint(0, len(edited))))
        kind = random.randrange(5)
        if kind == 0 and edited:
            edited[start % len(edited)] ^= 1 << random.randrange(8)
        elif kind == 1:
            word = random.choice(WORDS)
            edited[start : start + len(word)] = word
        elif kind == 2 and len(edited) > 8:
            del edited[start:end]
        elif kind == 3:
            edited[end:end] = edited[start:end][:1000]
        elif kind == 4:
            edited[start:start] = random.choice(others)
    return bytes(edited[:4096])


def test_the_corpus_is_what_its_maker_makes() -> None:
    assert {path.name: path.read_bytes() for path in CORPUS} == dict(corpus())


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.name)
def test_bytes_and_their_mutations_give_rows_or_findings(path: Path, tmp_path: Path) -> None:
    content, others = path.read_bytes(), [other.read_bytes() for other in CORPUS]
    read_anything(content, tmp_path)
    random = Random(path.name)
    for _ in range(ROUNDS):
        read_anything(mutated(content, others, random), tmp_path)
