"""`rocketlens completion SHELL`: the script by which a shell completes commands and options."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from pipelines.cli.frame.asked.options import LAKE, TEXT
from pipelines.cli.frame.asked.shells import PROGRAM, VARIABLE
from pipelines.cli.frame.call.command import command
from pipelines.cli.frame.call.run import Run


class Shell(StrEnum):
    """Shells whose scripts Typer writes."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


@command("completion", panel=LAKE, answer=TEXT)
def completion(run: Run, shell: Annotated[Shell, typer.Argument(metavar="SHELL", help="bash, zsh or fish.")]) -> None:
    """Print the script that makes a shell complete commands and options; it is to be read by the shell's own start.

    bash: `rocketlens completion bash > ~/.local/share/bash-completion/completions/rocketlens`; zsh: into a file
    `_rocketlens` of a folder of `$fpath`; fish: into `~/.config/fish/completions/rocketlens.fish`.

    Example: `rocketlens completion bash`
    """
    from typer.completion import get_completion_script

    script = get_completion_script(prog_name=PROGRAM, complete_var=VARIABLE, shell=shell.value)
    run.write_lines(script.splitlines())
