"""Kernels come from a library, or are compiled when they are called; neither way is older code used."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from parsers.consumequeue.kernel import count_units, decode_units
from parsers.index.kernel import hash_keys, proves
from parsers.kernels.ahead.build import ROOMS, BuildError, targets_named
from parsers.kernels.kernel import CHOICE, JUST_IN_TIME
from parsers.kernels.library import BUILT, NATIVE, NativeStamp
from parsers.kernels.utf8 import _sequence
from tests.support.copies import copy_tree
from tests.support.light import LINKED

CHECKOUT = Path(__file__).parents[2]
CALLED = "from parsers.kernels.kernel import kernel\n@kernel\ndef called():\n    return {value}\n"
CALLER = """from parsers.kernels.kernel import kernel
from {folder}.called import called
@kernel
def caller():
    return called()
"""


def answer(folder: Path) -> str:
    program = (
        f"import sys; sys.path.insert(0, {str(folder)!r}); from recovery_kernels.caller import caller; print(caller())"
    )
    return run_program(program, CHECKOUT, folder / "cache")


def run_program(program: str, packages: Path, cache: Path, choice: str = JUST_IN_TIME) -> str:
    environment = {**os.environ, "PYTHONPATH": str(packages), "NUMBA_CACHE_DIR": str(cache), CHOICE: choice}
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


TAKES_A_TUPLE = """from typing import NamedTuple
from parsers.kernels.kernel import kernel
class {name}(NamedTuple):
    value: int
@kernel
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
READS = """from parsers.kernels.kernel import kernel
from recovery_kernels.shapes.shape import SUM
@kernel
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


def copy_of_the_kernels(to: Path) -> Path:
    """The rooms that they are made from, with times as here, and the library, where there is one."""
    for room in ROOMS:
        copy_tree(CHECKOUT / room, to / room, ignore=shutil.ignore_patterns("__pycache__"))
    return to / "parsers"


IS_BLANK = """import numpy as np
from parsers.commitlog.compiled.resync import find_entry_blank
print(find_entry_blank(np.frombuffer(bytes(8) + bytes.fromhex("ffffffff00000008"), np.uint8), 0, 16))
"""


def test_an_edited_constant_of_our_own_kernels_is_seen(tmp_path: Path) -> None:
    layout = copy_of_the_kernels(tmp_path) / "commitlog" / "dledger_headers" / "layout.py"
    assert run_program(IS_BLANK, tmp_path, tmp_path / "cache") == "8"
    layout.write_text(layout.read_text().replace("MAGIC_BLANK = -1", "MAGIC_BLANK = -2"))
    assert run_program(IS_BLANK, tmp_path, tmp_path / "cache") != "8"


WRITTEN = """import sys
import numpy as np
from parsers.kernels.written import written_bytes
print(written_bytes(np.frombuffer(bytes(3) + b"x" + bytes(90), np.uint8)), "numba" in sys.modules)
"""


def test_an_edited_intrinsic_is_seen(tmp_path: Path) -> None:
    intrinsics = copy_of_the_kernels(tmp_path) / "kernels" / "llvm" / "bigendian.py"
    assert run_program(IS_BLANK, tmp_path, tmp_path / "cache") == "8"
    intrinsics.write_text(intrinsics.read_text().replace("swapped = builder.bswap", "swapped = builder.not_"))
    assert run_program(IS_BLANK, tmp_path, tmp_path / "cache") != "8"


@LINKED
@pytest.mark.parametrize("edited", ["commitlog/record/layout.py", "kernels/llvm/blocks.py", "kernels/ahead/doors.c"])
def test_the_library_is_used_until_its_sources_are_edited(tmp_path: Path, edited: str) -> None:
    source = copy_of_the_kernels(tmp_path) / edited
    assert run_program(WRITTEN, tmp_path, tmp_path / "cache", choice="") == "4 False"
    source.write_text(source.read_text() + "\n")
    assert run_program(WRITTEN, tmp_path, tmp_path / "cache", choice="") == "4 True"


@LINKED
def test_a_library_that_does_not_run_here_is_not_used(tmp_path: Path) -> None:
    built = copy_of_the_kernels(tmp_path) / BUILT.relative_to(CHECKOUT / "parsers")
    stamp = NativeStamp.read(built)
    assert stamp is not None
    replace(stamp, processor="another").write(built)
    assert run_program(WRITTEN, tmp_path, tmp_path / "cache", choice="") == "4 True"
    (built / f"{NATIVE}.json").write_text("{}")
    assert run_program(WRITTEN, tmp_path, tmp_path / "cache", choice="") == "4 True"
    stamp.write(built)
    (built / f"{NATIVE}.so").write_bytes(b"half of one")
    assert run_program(WRITTEN, tmp_path, tmp_path / "cache", choice="") == "4 True"


@LINKED
def test_arguments_that_are_not_as_annotated_are_refused() -> None:
    data, longs = np.zeros(64, np.uint8), np.zeros(2, np.int64)
    hash_keys(data, longs, 0, longs.copy())
    with pytest.raises(TypeError, match=r"hash_keys: 1 dimension\(s\) of 'B' are taken, not 1 of 'l'"):
        hash_keys(longs, longs, 0, longs)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="not 2 of 'B'"):
        hash_keys(data.reshape(8, 8), longs, 0, longs)
    with pytest.raises(ValueError, match="contiguous"):
        hash_keys(data[::2], longs, 0, longs)
    with pytest.raises(TypeError, match="too few"):
        hash_keys(data)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="takes 4"):
        hash_keys(data, longs, 0, longs, longs)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="int"):
        hash_keys(data, longs, 1.5, longs)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="tuple of 1 parts is too short"):
        decode_units(data, 0, False, (longs,))  # type: ignore[arg-type]


@LINKED
def test_a_private_kernel_is_called_by_kernels_alone() -> None:
    with pytest.raises(TypeError, match="kernels alone"):
        _sequence(np.zeros(64, np.uint8), 0, 1)


def test_a_target_that_is_none_of_this_machine_is_refused() -> None:
    for name in ("x86-64-v9", "aarch64" if platform.machine() == "x86_64" else "x86-64"):
        with pytest.raises(BuildError, match=name):
            targets_named([name])


def test_results_are_of_pythons_types() -> None:
    assert count_units(np.zeros(40, np.uint8)) == (0, 0, -1)
    assert [type(part) for part in count_units(np.zeros(40, np.uint8))] == [int] * 3
    assert proves(np.zeros(1 << 10, np.uint8), 4, 4, 4) is False
