"""How the tests are shared among the processes of one run."""

from __future__ import annotations

from pathlib import PurePosixPath

from xdist.scheduler import LoadFileScheduling

WITH_SPARK = PurePosixPath("tests/e2e")


class FilesAndSpark(LoadFileScheduling):
    """A file's tests stay together: they share a replayed cluster, a store. Those of the folder that has Spark's stay
    together, too: they share a session, and what waits for it does not wait for another one besides."""

    def _split_scope(self, nodeid: str) -> str:
        file = str(super()._split_scope(nodeid))
        return str(WITH_SPARK) if WITH_SPARK in PurePosixPath(file).parents else file
