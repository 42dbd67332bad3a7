"""Damaged store files into every reader: pieces of real stores and the fuzzer's corpus, mutated from a fixed seed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from parsers.store import StoreFile, open_store
from tests.fuzz.make_store_corpus import corpus
from tests.fuzz.store_harness import PLACES, read_anything
from tests.support.files import put
from tests.support.stores import store_root

FOLDER = Path(__file__).parent / "corpus"
STORES = ("5.3.3-lmq", "5.3.3-batchcq", "4.9.7-ipv6")
ROUNDS = int(os.environ.get("ROCKETLENS_FUZZ_ROUNDS", "40"))
EXTREMES = [b"\0" * 8, b"\xff" * 8, b"\x7f" + b"\xff" * 7, b"\x80" + b"\0" * 7, b"\0\0\0\1", b"\x7f\xff\xff\xff"]
INTERESTING = 6000  # bytes from the start where mutations fall, in files that are mostly unwritten


def samples() -> Iterator[StoreFile]:
    """One or two files of each kind, the small ones first."""
    for name in STORES:
        store = open_store(store_root(name))
        queues = [files[0] for files in (*store.queues.values(), *store.batch_queues.values())]
        timers = [file for file in store.timer if file.size < 1 << 20]
        yield from [*queues[:2], *queues[-1:], *store.index[:1], *timers, *store.config]
        assert store.checkpoint is not None
        yield store.checkpoint


def mutated(content: bytes, random: Random) -> bytes:
    """One to four of: a flipped bit, an extreme number, a swapped, dropped, doubled or zeroed stretch, a cut."""
    data = bytearray(content)
    for _ in range(random.randint(1, 4)):
        reach = min(len(data), INTERESTING)
        at, size = random.randrange(reach + 1), random.choice((1, 4, 20, 46, 52, 300))
        match random.randrange(7):
            case 0 if reach:
                data[at % reach] ^= 1 << random.randrange(8)
            case 1:
                extreme = random.choice(EXTREMES)
                data[at : at + len(extreme)] = extreme
            case 2:
                data[at : at + 2 * size] = data[at + size : at + 2 * size] + data[at : at + size]
            case 3:
                del data[at : at + size]
            case 4:
                data[at:at] = data[at : at + size]
            case 5:
                data[at : at + size] = bytes(len(data[at : at + size]))
            case _:
                del data[at:]
    return bytes(data)


def place_in_store(file: StoreFile) -> str:
    """The same in every process, wherever the store was unpacked."""
    return file.path.relative_to(next(root for root in file.path.parents if root.name == "store")).as_posix()


@pytest.mark.parametrize("file", list(samples()), ids=lambda file: place_in_store(file)[-60:])
def test_damaged_bytes_give_rows_or_typed_errors(file: StoreFile, tmp_path: Path) -> None:
    random, content = Random(file.name), file.path.read_bytes()
    place = place_in_store(file)
    for _ in range(ROUNDS):
        read_anything(put(tmp_path, place, mutated(content, random)))


@pytest.mark.parametrize("kind", PLACES)
def test_the_corpus_and_its_mutations(kind: str, tmp_path: Path) -> None:
    random = Random(kind)
    for content in corpus()[kind].values():
        read_anything(put(tmp_path, PLACES[kind], content))
        for _ in range(ROUNDS):
            read_anything(put(tmp_path, PLACES[kind], mutated(content, random)))


@pytest.mark.parametrize("kind", PLACES)
def test_the_corpus_is_what_its_maker_makes(kind: str) -> None:
    """Otherwise: python -m tests.fuzz.make_store_corpus tests/fuzz/corpus"""
    assert {path.name: path.read_bytes() for path in (FOLDER / kind).iterdir()} == corpus()[kind]
