"""`rocketlens allocate`: who gets which queue, as Java's strategy classes answer."""

from __future__ import annotations

import json
from functools import partial
from typing import Annotated, Any

import typer

from pipelines.cli.frame.asked.options import DOCUMENT, OWNERSHIP, ParamOption, VersionOption
from pipelines.cli.frame.call.batch import answers
from pipelines.cli.frame.call.command import command
from pipelines.cli.frame.call.run import Run
from pipelines.cli.frame.errors import WrongUsage


@command("allocate", panel=OWNERSHIP, answer=DOCUMENT)
def allocate(
    run: Run,
    strategy: Annotated[
        str,
        typer.Option(
            metavar="S",
            help="Java's getName(): AVG, AVG_BY_CIRCLE, CONSISTENT_HASH, CONFIG, MACHINE_ROOM, MACHINE_ROOM_NEARBY-…",
        ),
    ] = "AVG",
    param: ParamOption = None,
    version: VersionOption = None,
    sort: Annotated[bool, typer.Option("--sort", help="Sort both lists first, as the client does.")] = False,
) -> None:
    """Allocate queues to consumers as the Java client does, one question a line.

    Standard input: JSON lines `{"strategy"?, "params"?, "version"?, "group", "current", "mq_all": [[topic, broker,
    queue_id], …], "cid_all": […]}`; options give what a line leaves out. Standard output: one line each, with `result`
    or `error: {class, message}`. Lists are taken as given, as the Java classes do.

    Example: `echo '{"group":"g","current":"b","mq_all":[["T","x",0]],"cid_all":["a","b"]}' | rocketlens allocate`
    """
    from parsers.values.version import NEWEST, Version
    from rebalance.strategies.question import answer

    try:
        running = Version.parse(version) if version else NEWEST
    except ValueError as wrong:
        raise WrongUsage(f"--version: {wrong}") from wrong
    ask = partial(answer, strategy=strategy, params=params_of(param), version=running, sort=sort)
    run.emit_documents(answers(run, ask))


def params_of(pairs: list[str] | None) -> dict[str, Any]:
    """Settings of a strategy as `--param` gives them. Raises WrongUsage for one without `=`."""
    params = {}
    for pair in pairs or []:
        name, equals, text = pair.partition("=")
        if not equals:
            raise WrongUsage(f"--param {pair}: expected NAME=VALUE, e.g. --param virtualNodeCnt=10")
        try:
            params[name] = json.loads(text)
        except (ValueError, RecursionError):
            params[name] = text
    return params
