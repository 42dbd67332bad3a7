"""Workers that do not see the lake or a store are told before any work, by a worker that really does not see them."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

from pipelines.spark.shared_folders import NotShared, require_shared
from tests.support.plain_spark import PlainSpark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

WORKER = "import pickle, sys; f, t = pickle.load(sys.stdin.buffer); sys.stdout.buffer.write(pickle.dumps(f(t)))"
APART = ("unshare", "--mount", "sh", "-c", 'mount -t tmpfs none "$0" && exec "$@"')


class ElsewhereSpark(PlainSpark):
    """Its one worker is a process to which a folder looks empty."""

    master = "spark://elsewhere:7077"

    def __init__(self, hidden: Path) -> None:
        self.hidden = hidden

    def parallelize(self, tasks: Any, slices: int) -> Any:
        return self

    def map(self, function: Callable[[Any], Any]) -> Any:
        self.function = function
        return self

    def collect(self) -> list[Any]:
        command = [*APART, str(self.hidden), sys.executable, "-c", WORKER]
        ended = subprocess.run(command, input=pickle.dumps((self.function, 0)), capture_output=True, check=True)
        return [pickle.loads(ended.stdout)]


def may_hide() -> bool:
    return sys.platform == "linux" and subprocess.run([*APART, "/mnt", "true"], capture_output=True).returncode == 0


@pytest.mark.skipif(not may_hide(), reason="this user may not mount")
@pytest.mark.parametrize("hidden", ["lake", "store", None])
def test_a_worker_that_sees_another_folder_is_named_with_it(tmp_path: Path, hidden: str | None) -> None:
    for name in ("lake", "store", "other"):
        (tmp_path / name).mkdir()
    (tmp_path / "store" / "checkpoint").touch()
    spark = cast("SparkSession", ElsewhereSpark(tmp_path / (hidden or "other")))
    if hidden is None:
        require_shared(spark, tmp_path / "lake", [tmp_path / "store"])
    else:
        with pytest.raises(NotShared, match=rf"\S+ does not see {tmp_path / hidden} as it is here$"):
            require_shared(spark, tmp_path / "lake", [tmp_path / "store"])
    assert not list((tmp_path / "lake").iterdir())
