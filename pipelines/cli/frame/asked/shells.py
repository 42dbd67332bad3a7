"""What a shell asks the program while its user types, and how the program knows."""

from __future__ import annotations

import os

PROGRAM, VARIABLE = "rocketlens", "_ROCKETLENS_COMPLETE"


def answer_the_shell() -> None:
    """Let Typer know the shells, where one of them asks."""
    if VARIABLE in os.environ:
        from typer.completion import completion_init

        completion_init()
