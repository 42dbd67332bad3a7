"""`rocketlens`: every command, and the way in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer
from typer.exceptions import TyperException

from pipelines.cli.contents import Contents
from pipelines.cli.frame.asked.bundles import Body, arguments_of, signed, single_options
from pipelines.cli.frame.asked.help_page import WIDEST
from pipelines.cli.frame.asked.options import OutputOptions
from pipelines.cli.frame.asked.shells import answer_the_shell
from pipelines.cli.frame.call.start import start_light, with_room
from pipelines.cli.frame.errors import ExitCode
from pipelines.cli.frame.visible import say

app = typer.Typer(
    name="rocketlens",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    cls=Contents,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": WIDEST},
)


def _print_version(asked: bool) -> None:
    if asked:
        from pipelines.installed.version import installed_version

        print(f"rocketlens {installed_version()}")
        raise typer.Exit


def _callback(body: Body) -> Body:
    """What Typer calls before any command: `body`, its bundles filled from single options."""

    def call(**given: Any) -> None:
        body(**arguments_of(body, given))

    return app.callback()(signed(call, body, single_options(body)))


@_callback
def rocketlens(
    ctx: typer.Context,
    output: OutputOptions,
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_print_version, help="Print the version of rocketlens.")
    ] = False,
) -> None:
    """Read, check and reproduce the store files and consumer rebalances of Apache RocketMQ.

    A broken store: `verify STORE` says where its files disagree, `forecast STORE` what a start would lose, `find` and
    `dump` what is in it. A group that misbehaved: `replay LOGS` says who owned which queue, `lag STORE` how far behind
    it is. Store files are opened read-only and nothing is ever written beside them. The options below are understood
    before and after the name of a command.

    Exit codes: 0 fine, 1 findings, 2 wrong usage or an unknown topic or group, 3 input unreadable or not a store,
    4 read in part.
    """
    ctx.obj = output


@with_room
def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and give its exit code; wrong usage is one sentence and where to read on.

    Without arguments this is the program itself, with the ones of the process.
    """
    if arguments is None:
        start_light()
        answer_the_shell()
    try:
        ended = app(arguments, prog_name="rocketlens", standalone_mode=False)
    except TyperException as wrong:
        return _wrong_usage(wrong)
    except typer.Abort:
        return ExitCode.INTERRUPTED
    return int(ended or ExitCode.FINE)


def _wrong_usage(wrong: TyperException) -> int:
    context = getattr(wrong, "ctx", None)
    where = context.command_path if context is not None else "rocketlens"
    sentence = wrong.format_message().replace("Value error, ", "").rstrip(".")
    if sentence:
        say(f"{sentence}{' See' if sentence.endswith('?') else '; see'} `{where} --help`")
    return ExitCode.WRONG_USAGE
