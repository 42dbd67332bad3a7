"""Exit codes, and the errors that a command ends with."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """What the shell sees. Stable."""

    FINE = 0
    FINDINGS = 1
    WRONG_USAGE = 2
    UNREADABLE = 3
    READ_IN_PART = 4
    FAULT = 70
    """A fault of rocketlens itself (sysexits.h EX_SOFTWARE)."""
    INTERRUPTED = 130


class Stop(Exception):
    """End the command with this sentence and this exit code."""

    def __init__(self, sentence: str, code: ExitCode) -> None:
        super().__init__(sentence)
        self.sentence, self.code = sentence, code


class WrongUsage(Stop):
    """The call itself is wrong; nothing was read."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence, ExitCode.WRONG_USAGE)


class Unreadable(Stop):
    """The input cannot be read, or is not what was asked for."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence, ExitCode.UNREADABLE)
