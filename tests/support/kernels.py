"""Compile the kernels before the tests begin: `python -m tests.support.kernels`.

The processes of a test run, and those that tests start, find them in numba's cache then; in a fresh clone each would
compile the same ones at the same time. A kernel that nothing here reaches is compiled by the first test that does.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from pipelines.spark import session
from tests.fuzz.commands.asked import OF_A_STORE, OFTEN
from tests.lake_faults.world import World
from tests.support.cli import call
from tests.support.plain_spark import plain_spark
from tests.support.stores import store_root

STORES = ("5.3.3-propcrc", "4.9.7-dledger")


def compile_kernels(folder: Path) -> None:
    """Ask every command of stores with and without DLedger, and ingest one."""
    for name in STORES:
        root = store_root(name)
        places = {"place": root, "file": root / "checkpoint", "inside": folder / "x", "out": folder / name}
        for command in (*OFTEN, *OF_A_STORE):
            call(*(word.format(**places, conf="none", number=0, percent=50) for word in command))
    session.spark_session = plain_spark
    world = World.make(folder / "world")
    call("ingest", "--config-file", world.config(world.folder / "lakes" / "one", ["a"]))


if __name__ == "__main__":
    with TemporaryDirectory() as made:
        compile_kernels(Path(made))
