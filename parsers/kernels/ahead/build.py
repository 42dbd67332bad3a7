"""Compile kernels ahead, into libraries that need no compiler: `python -m parsers.kernels.ahead.build [TARGET ...]`.

Without a target: for the processor that this runs on, in `parsers/kernels/built`, where this checkout finds it; nothing
is done where that library is up to date. numba makes LLVM's code of a kernel as it always does; what is added is a door
for Python, and the link, by the machine's C compiler (`cc`, or `$CC`).
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory

from parsers.kernels.kernel import AHEAD, CHOICE
from parsers.kernels.library import BUILT, NATIVE, NativeStamp
from parsers.kernels.sources import HOME, source_stamp
from parsers.kernels.targets import TARGETS, Target

HAS_KERNELS = re.compile(r"^ *@(?:inline_)?kernel$", re.M)
ROOMS = ("parsers", "recovery")
DOORS = Path(__file__).parent / "doors.c"
LINKED = ("-shared", "-fPIC", "-O2", "-nostdlib", "-Wl,--gc-sections", "-Wl,--strip-all")
"""Without the C library: what of it the code needs, the interpreter has loaded, whichever one that is."""


class BuildError(Exception):
    """The library cannot be made: one sentence."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the libraries that are asked for; 1 and a sentence where one cannot be made."""
    parser = argparse.ArgumentParser(prog="python -m parsers.kernels.ahead.build", description=__doc__)
    names = [target.name for target in TARGETS]
    parser.add_argument("target", nargs="*", help=f"{', '.join(names)}; without one, this very processor")
    parser.add_argument("--to", type=Path, default=BUILT, metavar="DIR", help="where libraries of targets are put")
    parser.add_argument("--check", action="store_true", help="do nothing; 0 where this checkout's is up to date, or 1")
    asked = parser.parse_args(arguments)
    try:
        if asked.check:
            return int(not is_up_to_date())
        if asked.target:
            build(asked.to, targets_named(asked.target))
        else:
            build_native()
    except BuildError as refused:
        print(f"kernels are not compiled ahead: {refused}", file=sys.stderr)
        return 1
    return 0


def targets_named(names: Sequence[str]) -> list[Target]:
    """The targets with these names. Raises BuildError for one that is unknown, or of another kind of machine."""
    here = {target.name: target for target in TARGETS if target.machine == platform.machine()}
    if others := [name for name in names if name not in here]:
        raise BuildError(f"no target here is named {others[0]}: {', '.join(here) or 'this machine has none'}")
    return [here[name] for name in names]


def build(to: Path, targets: Sequence[Target]) -> None:
    """A library in `to` for each target, each made by a process of its own at the same time. Raises BuildError."""
    to.mkdir(parents=True, exist_ok=True)
    _wait([_compiling(to, target) for target in targets])


def is_up_to_date() -> bool:
    """The library of this checkout is there, of the sources as they are and for this processor."""
    stamp = NativeStamp.read(BUILT)
    return stamp is not None and stamp.holds() and (BUILT / f"{NATIVE}.so").is_file()


def build_native() -> None:
    """The library of this checkout for this processor, unless it is up to date. Raises BuildError."""
    if not is_up_to_date():
        BUILT.mkdir(exist_ok=True)
        _wait([_compiling(BUILT, None)])


def _compiling(to: Path, target: Target | None) -> subprocess.Popen[str]:
    """numba compiles for the processor that its environment names when it is imported."""
    linker()
    environment = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    environment |= {CHOICE: AHEAD, "PYTHONPATH": str(HOME)}
    if target is not None:
        environment |= {"NUMBA_CPU_NAME": target.cpu, "NUMBA_CPU_FEATURES": target.features}
    name = NATIVE if target is None else target.name
    program = f"from parsers.kernels.ahead.build import compile_here; compile_here({name!r}, {str(to)!r})"
    command = [sys.executable, "-c", program]
    return subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)


def _wait(running: Sequence[subprocess.Popen[str]]) -> None:
    for process in running:
        _, said = process.communicate()
        if process.returncode:
            reason = said.strip().splitlines() or ["no reason is given"]
            raise BuildError(f"the compiler ended with {process.returncode}: {reason[-1]}")


def linker() -> str:
    """The C compiler that links. Raises BuildError where there is none."""
    found = shutil.which(os.environ.get("CC") or "cc")
    if found is None:
        raise BuildError("no C compiler (cc) is here to link them")
    return found


def compile_here(name: str, to: str) -> None:
    """Make one library in this process, whose environment says for which processor."""
    from parsers.kernels.ahead.doors import object_code
    from parsers.kernels.jit import CALLED

    modules = list(modules_with_kernels())
    for module in modules:
        import_module(module)
    stamp = NativeStamp.here(source_stamp(modules))
    with TemporaryDirectory(dir=to) as folder:
        scratch = Path(folder)
        objects: list[Path] = []
        for number, dispatcher in enumerate(CALLED):
            objects.append(scratch / f"{number}.o")
            objects[-1].write_bytes(object_code(dispatcher))
        made, exported = scratch / f"{name}.so", scratch / "exported"
        exported.write_text(f"{{ global: {' '.join(f'{room}__*;' for room in ROOMS)} kernels_open_door; local: *; }};")
        options: list[str | Path] = [*LINKED, f"-Wl,--version-script={exported}", "-o", made]
        subprocess.run([linker(), *options, DOORS, *objects], check=True)
        os.replace(made, Path(to) / made.name)
        if name == NATIVE:  # last: a stamp never speaks for a library that is not there yet
            stamp.write(scratch)
            os.replace(scratch / f"{name}.json", Path(to) / f"{name}.json")


def modules_with_kernels() -> Iterator[str]:
    """Names of the modules that have any, in order."""
    for room in ROOMS:
        for file in sorted((HOME / room).rglob("*.py")):
            if HAS_KERNELS.search(file.read_text("utf-8")):
                yield ".".join(file.relative_to(HOME).with_suffix("").parts)


if __name__ == "__main__":
    sys.exit(main())
