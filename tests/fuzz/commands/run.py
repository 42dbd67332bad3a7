"""Inputs one after the other: `python -m tests.fuzz commands --inputs 10000 [--seed N]`."""

from __future__ import annotations

import argparse
import gc
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import monotonic

import typer

from pipelines.cli import app
from tests.fuzz.commands.asked import OF_A_STORE, OF_RECORDINGS, OFTEN, Fault, asked
from tests.fuzz.commands.inputs import Input, make_input
from tests.support.agreement import contradictions
from tests.support.cli import Called
from tests.support.peak_memory import grown_mib

OTHERS = 3
"""Further commands that one input is asked by; all of them have their turn."""
MEMORY_EVERY = 200
MOST_MIB = 700
Fingerprint = dict[str, tuple[int, int, int, int, bytes | str]]


def fingerprint(folder: Path) -> Fingerprint:
    """Of every name in a folder, links not followed: kind and rights, inode, size, time of change, content."""
    found: Fingerprint = {}
    for path in [folder, *folder.rglob("*")]:
        seen = path.lstat()
        content: bytes | str = b""
        if path.is_symlink():
            content = os.readlink(path)
        elif path.is_file():
            content = path.read_bytes()
        found[str(path)] = (seen.st_mode, seen.st_ino, seen.st_size, seen.st_mtime_ns, content)
    return found


def check(seed: str) -> Input:
    """One input through the commands.

    Raises:
        Fault: something that must not be.
    """
    with tempfile.TemporaryDirectory(prefix="rocketlens-fuzz-") as folder:
        place, out = Path(folder) / "input", Path(folder) / "out"
        place.mkdir()
        out.mkdir()
        given = make_input(place, seed)
        before = fingerprint(place)
        told: dict[str, Called] = {}
        for command in commands_for(given):
            called = asked(given, command, out)
            told.setdefault(" ".join(word for word in command if word[0] not in "{-"), called)
            if fingerprint(place) != before:
                raise Fault(f"{command} changed what it read; {given.done}")
            shutil.rmtree(out)
            out.mkdir()
        if given.base.is_store and (found := list(contradictions(told))):
            raise Fault("; ".join(found[:3]))
        return given


def commands_for(given: Input) -> list[tuple[str, ...]]:
    """The commands that are compared, and some of the others; of recordings some of all."""
    if given.base.is_store:
        return [*OFTEN, *given.chance.sample(OF_A_STORE, OTHERS)]
    return given.chance.sample(OF_RECORDINGS, OTHERS)


@contextmanager
def commands_built_once() -> Iterator[None]:
    """Typer builds every command anew for each call, which takes longer than most of them on stores of this size."""
    typed = app.app
    app.app = typer.main.get_command(typed)  # type: ignore[assignment]
    try:
        yield
    finally:
        app.app = typed


def run(inputs: int, seed: int, first: int = 0, *, goes_on: bool = False, memory: bool = True) -> int:
    """Check inputs, until one fails unless it `goes_on`; how many did not."""
    with commands_built_once():
        return _run(inputs, seed, first, goes_on, memory)


def _run(inputs: int, seed: int, first: int, goes_on: bool, memory: bool) -> int:
    failed = 0
    for number in range(first, first + inputs):
        name = f"{seed}-{number}"
        try:
            check(name)
            if memory and number % MEMORY_EVERY == MEMORY_EVERY - 1 and (grown := grown_mib(check, name)) > MOST_MIB:
                raise Fault(f"{grown} MiB of memory")
        except Fault as fault:
            with tempfile.TemporaryDirectory() as folder:
                given = make_input(Path(folder), name)
                told = f"{given.base.name}, {', '.join(given.done) or 'as it was'}"
            print(f"input {number} ({told}): {fault}\nagain: --seed {seed} --first {number} --inputs 1", flush=True)
            failed += 1
            if not goes_on:
                return number - first
        if number % 100 == 99:
            gc.collect()
            print(f"{number + 1} inputs", flush=True)
    return inputs - failed


def main(arguments: Sequence[str]) -> int:
    """0 when all inputs were without a fault."""
    parser = argparse.ArgumentParser(prog="tests.fuzz commands", description=__doc__)
    parser.add_argument("--inputs", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="begin with this input of the seed")
    parser.add_argument("--keep-going", action="store_true", help="do not end with the first fault")
    given = parser.parse_args(arguments)
    began = monotonic()
    done = run(given.inputs, given.seed, given.first, goes_on=given.keep_going)
    print(f"{done} inputs without a fault, {monotonic() - began:.0f} s")
    return int(done < given.inputs)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
