"""A compiled function is made again when code that it calls was edited in another file."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

CALLED = "from parsers.numba_cache import cached_njit\n@cached_njit()\ndef called():\n    return {value}\n"
CALLER = """from parsers.numba_cache import cached_njit
from {folder}.called import called
@cached_njit()
def caller():
    return called()
"""


def answer(folder: Path) -> str:
    program = (
        f"import sys; sys.path.insert(0, {str(folder)!r}); from recovery_kernels.caller import caller; print(caller())"
    )
    checkout = str(Path(__file__).parents[2])
    environment = {**os.environ, "PYTHONPATH": checkout, "NUMBA_CACHE_DIR": str(folder / "cache")}
    run = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    return run.stdout.strip()


def test_an_edit_in_a_called_file_is_seen(tmp_path: Path) -> None:
    package = tmp_path / "recovery_kernels"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "caller.py").write_text(CALLER.format(folder=package.name))
    (package / "called.py").write_text(CALLED.format(value=1))
    assert answer(tmp_path) == "1"
    cached = sorted((tmp_path / "cache").rglob("*.nbc"))
    assert answer(tmp_path) == "1"
    assert sorted((tmp_path / "cache").rglob("*.nbc")) == cached != []
    (package / "called.py").write_text(CALLED.format(value=22))
    assert answer(tmp_path) == "22"


ALLOCATES = """import numpy as np
from parsers.numba_cache import cached_njit
@cached_njit()
def caller():
    return np.arange(7).sum()
"""


def test_a_loaded_function_can_allocate(tmp_path: Path) -> None:
    package = tmp_path / "recovery_kernels"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "caller.py").write_text(ALLOCATES)
    assert [answer(tmp_path), answer(tmp_path)] == ["21", "21"]
