"""A compiled function is made again when what it calls or reads was edited in another file."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.support.copies import copy_tree

CHECKOUT = Path(__file__).parents[2]
CALLED = "from parsers.kernels.numba_cache import cached_njit\n@cached_njit()\ndef called():\n    return {value}\n"
CALLER = """from parsers.kernels.numba_cache import cached_njit
from {folder}.called import called
@cached_njit()
def caller():
    return called()
"""


def answer(folder: Path) -> str:
    program = (
        f"import sys; sys.path.insert(0, {str(folder)!r}); from recovery_kernels.caller import caller; print(caller())"
    )
    return run_program(program, CHECKOUT, folder / "cache")


def run_program(program: str, packages: Path, cache: Path) -> str:
    environment = {**os.environ, "PYTHONPATH": str(packages), "NUMBA_CACHE_DIR": str(cache)}
    run = subprocess.run(
        [sys.executable, "-c", program], cwd=packages, env=environment, capture_output=True, text=True, check=True
    )
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
from parsers.kernels.numba_cache import cached_njit
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


TAKES_A_TUPLE = """from typing import NamedTuple
from parsers.kernels.numba_cache import cached_njit
class {name}(NamedTuple):
    value: int
@cached_njit()
def of(given):
    return given.value
def caller():
    return of({name}(21))
"""


def test_a_type_that_is_gone_from_the_code_is_a_miss(tmp_path: Path) -> None:
    package = tmp_path / "recovery_kernels"
    package.mkdir()
    (package / "__init__.py").touch()
    for name in ("Former", "Later"):
        (package / "caller.py").write_text(TAKES_A_TUPLE.format(name=name))
        assert [answer(tmp_path), answer(tmp_path)] == ["21", "21"]


CONSTANT = "VALUE = {value}\n"
BETWEEN = "from recovery_kernels.layouts import (\n    constant,\n)\nSUM = constant.VALUE + 1\n"
READS = """from parsers.kernels.numba_cache import cached_njit
from recovery_kernels.shapes.shape import SUM
@cached_njit()
def caller():
    return SUM
"""


def test_an_edited_constant_of_a_folder_further_off_is_seen(tmp_path: Path) -> None:
    package = tmp_path / "recovery_kernels"
    for folder in (package, package / "layouts", package / "shapes"):
        folder.mkdir()
        (folder / "__init__.py").touch()
    (package / "caller.py").write_text(READS)
    (package / "shapes" / "shape.py").write_text(BETWEEN)
    (package / "layouts" / "constant.py").write_text(CONSTANT.format(value=1))
    assert answer(tmp_path) == "2"
    (package / "layouts" / "constant.py").write_text(CONSTANT.format(value=22))
    assert answer(tmp_path) == "23"


IS_BLANK = """import numpy as np
from parsers.commitlog.compiled.shape import is_blank
print(is_blank(np.frombuffer(bytes.fromhex("ffffffff00000008"), np.uint8), 0, 1))
"""


def test_an_edited_constant_of_our_own_kernels_is_seen(tmp_path: Path) -> None:
    room = copy_tree(CHECKOUT / "parsers", tmp_path / "parsers", ignore=shutil.ignore_patterns("__pycache__"))
    assert run_program(IS_BLANK, tmp_path, tmp_path / "cache") == "True"
    layout = room / "commitlog" / "dledger_headers" / "layout.py"
    layout.write_text(layout.read_text().replace("MAGIC_BLANK = -1", "MAGIC_BLANK = -2"))
    assert run_program(IS_BLANK, tmp_path, tmp_path / "cache") == "False"
