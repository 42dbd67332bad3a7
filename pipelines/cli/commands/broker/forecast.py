"""`rocketlens forecast`: what a start of this broker would do with these files."""

from __future__ import annotations

from typing import Annotated

import typer

from pipelines.cli.frame.asked.options import BROKER, DOCUMENT, BrokerOptions, Format, StoreArgument, TopicLogsOption
from pipelines.cli.frame.call.beside.topic_logs import with_logs
from pipelines.cli.frame.call.command import command
from pipelines.cli.frame.call.opening import NOTHING_SAID, store_to_start
from pipelines.cli.frame.call.run import Run


@command("forecast", panel=BROKER, answer=DOCUMENT)
def forecast(
    run: Run,
    store: StoreArgument,
    broker: BrokerOptions = NOTHING_SAID,
    heap: Annotated[
        int | None,
        typer.Option("--heap-bytes", metavar="BYTES", min=1, help="Java heap of the broker, where it is known."),
    ] = None,
    advice: Annotated[
        bool, typer.Option("--advice/--no-advice", help="Also try the repairs that may lose less.")
    ] = True,
    logs: TopicLogsOption = None,
) -> None:
    """What this broker would do with these files if it were started now, message by message; nothing is touched.

    Load, truncation, where dispatch starts again, the queues before and after, messages lost for good, queues that are
    numbered again, every rule with its source and evidence. Settings that are not given are those the files show, else
    the defaults.
    Without --version the answer is that of the version that the files suggest, and names the versions that would end
    in another way. In words on a terminal, else one JSON document. Exit code 1 when there is a loss, or no start,
    whichever version it may be.

    Example: `rocketlens forecast /data/store --version 5.3.3 --config flushDiskType=SYNC_FLUSH`
    """
    from pipelines.cli.commands.broker.forecast_words import in_words
    from pipelines.cli.frame.written.documents import width_of
    from recovery.forecast.document import forecast_document
    from recovery.forecast.forecast import forecast as forecast_of

    opened, known = store_to_start(run, store, broker)
    told = forecast_of(opened, with_logs(run, known, logs), heap_bytes=heap, with_advice=advice)
    document = forecast_document(told)
    if run.format_ is Format.TABLE:
        run.write_lines(in_words(document, width_of(run.output())))
    else:
        run.emit_documents([document], one=True)
    if told.has_loss and not told.has_loss_for_certain:
        run.note("not every version that it may be would end so: exit code 0; say which it is with --version")
    run.findings(int(told.has_loss_for_certain))
