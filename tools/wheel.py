"""What a wheel holds beside the sources: the kernels, compiled for the kinds of processor of this kind of machine.

`ROCKETLENS_TARGETS` names other targets than all (`parsers.kernels.targets`); `native` is this very processor alone,
with the library of the checkout. On a machine without targets the wheel holds no library, and numba compiles the
kernels when they are called; so it is, for whoever has numba, where the variable is empty.
"""

from __future__ import annotations

import os
import platform
import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).parents[1]
CHOICE = "ROCKETLENS_TARGETS"
SYSTEM = "manylinux_2_17"
"""The libraries need nothing of a C library that the interpreter does not bring."""


class CustomBuildHook(BuildHookInterface[Any]):
    """hatchling finds it by its name."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, and say what the wheel is for."""
        if version == "editable" or sys.platform != "linux":
            return
        sys.path.insert(0, str(ROOT))
        from parsers.kernels import library, targets
        from parsers.kernels.ahead import build

        here = " ".join(target.name for target in targets.TARGETS if target.machine == platform.machine())
        names = os.environ.get(CHOICE, here).split()
        if not names:
            return
        self.libraries = TemporaryDirectory()
        folder = Path(self.libraries.name)
        build.build(folder, build.targets_named([name for name in names if name != library.NATIVE]))
        if library.NATIVE in names:
            build.build_native()
            shutil.copy(library.BUILT / f"{library.NATIVE}.so", folder)
            library.NativeStamp.here(()).write(folder)
        for file in folder.iterdir():
            build_data["force_include"][str(file)] = f"parsers/kernels/{library.BUILT.name}/{file.name}"
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{SYSTEM}_{platform.machine()}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """The wheel is written: remove what was compiled for it."""
        if hasattr(self, "libraries"):
            self.libraries.cleanup()
