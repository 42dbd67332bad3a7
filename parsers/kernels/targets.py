"""Processors that a library of kernels is compiled for."""

from __future__ import annotations

import hashlib
import platform
import re
from dataclasses import dataclass
from functools import cache

PROCESSORS = "/proc/cpuinfo"
FLAGS = re.compile(rb"^(?:flags|Features)\s*:(.*)$", re.M)
FIRST_PROCESSOR = 16 << 10
"""Bytes of PROCESSORS that hold the first one's flags; there is an entry for each of hundreds."""

AVX2 = ("avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe", "pclmulqdq")
AVX512 = ("avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl")


@dataclass(frozen=True, slots=True)
class Target:
    """A kind of processor.

    Attributes:
        machine: as `platform.machine()` says it.
        cpu, features: in LLVM's words.
        needs: flags of the kernel (PROCESSORS) without which the code does not run.
    """

    name: str
    machine: str
    cpu: str
    features: str = ""
    needs: tuple[str, ...] = ()

    @property
    def folds(self) -> bool:
        """It multiplies without carries."""
        return "+pclmul" in self.features


TARGETS = (
    Target("x86-64-v4", "x86_64", "x86-64-v4", "+pclmul", AVX2 + AVX512),
    Target("x86-64-v3", "x86_64", "x86-64-v3", "+pclmul", AVX2),
    Target("x86-64", "x86_64", "x86-64"),
    Target("aarch64", "aarch64", "generic"),
)
"""What a wheel brings for each kind of machine, the fastest first."""


@cache
def processor_flags() -> frozenset[str]:
    """What the first processor can do, in the words of Linux; empty on another system."""
    try:
        with open(PROCESSORS, "rb") as told:
            found = FLAGS.search(told.read(FIRST_PROCESSOR))
    except OSError:
        return frozenset()
    return frozenset(found[1].decode("ascii", "replace").split()) if found else frozenset()


def processor_stamp() -> str:
    """Tells processors apart: a hash of machine and flags, equal where one runs whatever code the other does."""
    return hashlib.sha256(" ".join([platform.machine(), *sorted(processor_flags())]).encode()).hexdigest()


def targets_here() -> tuple[Target, ...]:
    """Those whose code runs here, the fastest first."""
    machine, flags = platform.machine(), processor_flags()
    return tuple(target for target in TARGETS if target.machine == machine and flags.issuperset(target.needs))
