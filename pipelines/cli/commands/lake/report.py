"""`rocketlens report`: one HTML file about a store or a lake."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pipelines.cli.frame.asked.options import LAKE, TEXT, BrokerOptions, kept_option
from pipelines.cli.frame.call.beside.kept_offsets import kept_copies
from pipelines.cli.frame.call.beside.recordings import heard_in
from pipelines.cli.frame.call.beside.topic_logs import lines_heard
from pipelines.cli.frame.call.command import command
from pipelines.cli.frame.call.configured import ConfigFile, lake_at, require_lake, sources_of
from pipelines.cli.frame.call.opening import NOTHING_SAID, known_store_at
from pipelines.cli.frame.call.run import Run
from pipelines.cli.frame.errors import WrongUsage
from pipelines.cli.frame.visible import as_named

if TYPE_CHECKING:
    from pipelines.report.facts.lake import LakeFacts
    from pipelines.report.facts.model import Facts


@command("report", panel=LAKE, answer=TEXT)
def report(
    run: Run,
    store: Annotated[
        Path | None,
        typer.Argument(
            readable=False, metavar="[STORE]", help="Store root of a broker; without it, the configured lake."
        ),
    ] = None,
    logs: Annotated[
        list[Path] | None,
        typer.Option(
            readable=False,
            metavar="PATH",
            help="Logs and captures: who owned which queue, when topics were deleted and created, what store.log says; "
            "may be repeated.",
        ),
    ] = None,
    offsets: Annotated[
        Path | None, kept_option("Kept copies of consumerOffset.json: episodes of lag, and more of what moved offsets.")
    ] = None,
    message_id: Annotated[
        list[str] | None,
        typer.Option("--message-id", metavar="M", help="Show the way of this message, too; may be repeated."),
    ] = None,
    broker: BrokerOptions = NOTHING_SAID,
    config_file: ConfigFile = None,
) -> None:
    """One HTML file that needs nothing else: contents, agreement, ledger, lag, offsets, delays, retries,
    transactions, POP, traces, forecast, retention, ownership.

    With --offsets also episodes of lag, with --message-id the way of a message, in a picture and in words. Of a lake
    it begins with its brokers beside each other, worst first, and has a part for each of them.

    Example: `rocketlens report /data/store --logs /data/logs --out report.html`
    """
    from pipelines.report.render import render

    if run.options.out is None:
        raise WrongUsage("report: name the file to write with --out report.html")
    if store is None and (logs or offsets is not None or message_id):
        raise WrongUsage("report: --logs, --offsets and --message-id belong to a STORE; a lake has what was ingested")
    if store is None:
        from pipelines.report.facts.lake import facts_of_lake

        sources = sources_of(run, config_file)
        lake = lake_at(run, sources.lake)
        require_lake(lake)
        facts: Facts | LakeFacts = facts_of_lake(lake, sources)
    else:
        facts = _facts(run, store, logs, broker, offsets, message_id or [])
    run.output().write(as_named(render(facts)).encode("utf-8", "replace"))  # a file's name may be no text
    run.tells_where = True


def _facts(
    run: Run, path: Path, logs: list[Path] | None, broker: BrokerOptions, offsets: Path | None, messages: list[str]
) -> Facts:
    from pipelines.answers.recorded.heard import Heard
    from pipelines.report.facts.store import facts_of_store

    store, known = known_store_at(run, path, broker)
    heard = heard_in(run, logs, known.broker_name, keeps_facts=bool(messages)) if logs else Heard()
    lines_heard(run, heard.lives, known.broker_name, names_lack=bool(logs))
    copies = [] if offsets is None else kept_copies(run, offsets)
    return facts_of_store(store, known, heard=heard, copies=copies, messages=messages, say=run.note)
