"""`rocketlens rebuild`: ConsumeQueue and IndexFile from the CommitLog alone, into a new folder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pipelines.cli.frame.asked.options import BROKER, DOCUMENT, BrokerOptions, Format, TopicLogsOption
from pipelines.cli.frame.call.beside.topic_logs import with_logs
from pipelines.cli.frame.call.command import command
from pipelines.cli.frame.call.configured import ConfigFile, sources_of
from pipelines.cli.frame.call.opening import NOTHING_SAID, known_store_at
from pipelines.cli.frame.call.run import Run
from pipelines.cli.frame.call.start import allow_everything
from pipelines.cli.frame.errors import WrongUsage

if TYPE_CHECKING:
    from pipelines.lake.configuration.sources import Sources
    from recovery.rebuild.report import ExpiredQueue, RebuildReport

NAMED_QUEUES = 5


@command("rebuild", panel=BROKER, answer=DOCUMENT)
def rebuild(
    run: Run,
    to: Annotated[
        Path,
        typer.Option(readable=False, metavar="DIR", help="New folder for consumequeue/ and index/; outside the store."),
    ],
    store: Annotated[
        Path | None,
        typer.Argument(
            readable=False,
            metavar="[STORE]",
            help="Store root of a broker; without it, every broker of rocketlens.toml, each into DIR/NAME, by Spark.",
        ),
    ] = None,
    logs: TopicLogsOption = None,
    broker: BrokerOptions = NOTHING_SAID,
    config_file: ConfigFile = None,
) -> None:
    """Write consumequeue/ and index/ from the CommitLog alone, byte for byte as the broker would, and a report.

    A queue whose messages have all expired gets no file: the report names it, with exit code 1, because its own folder
    must stay where it is.

    The queues hold the living messages of each topic; the report names what a deletion left in the log. Where the store
    does not tell whether a topic was deleted, its messages are in the queues, the report says so, and the exit code is
    1: put such queues in place only once you know.

    Sizes and layouts that leave traces are taken from the store's own files when nothing says otherwise; the report
    names each such fact. The folder appears when it is complete.

    Example: `rocketlens rebuild /data/store --to /tmp/rebuilt --config mappedFileSizeConsumeQueue=6000000`
    """
    if store is not None:
        _tell(run, {None: _rebuild_store(run, store, to, broker, logs)})
    elif broker.is_given or logs:
        raise WrongUsage(
            "--version, --config, --broker-conf and --logs belong to a STORE; rocketlens.toml has those of brokers"
        )
    else:
        _tell(run, _rebuild_brokers(run, to, sources_of(run, config_file)))


def _rebuild_store(run: Run, store: Path, to: Path, broker: BrokerOptions, logs: list[Path] | None) -> RebuildReport:
    from recovery.rebuild.rebuild import rebuild as rebuild_store

    opened, known = known_store_at(run, store, broker, names_version=True)
    known = with_logs(run, known, logs)
    run.guard.refuse(to, "--to")
    try:
        return rebuild_store(opened, known, to)
    except ValueError as wrong:
        raise WrongUsage(f"--to: {wrong}") from wrong


def _rebuild_brokers(run: Run, to: Path, sources: Sources) -> dict[str, RebuildReport]:
    allow_everything()
    from pipelines.lake.configuration.broker_stores import known_store_of
    from pipelines.lake.configuration.sources import SourcesError
    from pipelines.spark.jobs.rebuild import rebuild_with_spark
    from pipelines.spark.session import spark_session

    if not sources.brokers:
        raise WrongUsage("rocketlens.toml names no [[broker]], and no STORE is given")
    if away := next((broker for broker in sources.brokers if broker.address is not None), None):
        raise WrongUsage(f"broker {away.name!r}: its store is at an address; name it: rebuild {away.address} --to …")
    for place in sources.evidence():
        run.reads(place)
    run.guard.refuse(to, "--to")
    try:
        opened = {broker.name: known_store_of(broker) for broker in sources.brokers}
    except SourcesError as wrong:
        raise WrongUsage(str(wrong)) from wrong
    run.note("starting Spark")
    spark = spark_session(sources.spark_master, sources.spark_properties)
    try:
        stores = {name: store for name, (store, _) in opened.items()}
        return rebuild_with_spark(spark, stores, to, known={name: known for name, (_, known) in opened.items()})
    except ValueError as wrong:
        raise WrongUsage(f"--to: {wrong}") from wrong
    finally:
        spark.stop()


def _tell(run: Run, reports: Mapping[str, RebuildReport] | Mapping[None, RebuildReport]) -> None:
    """Print the reports, each with its broker's name where it has one."""
    from recovery.lives.life import Ground

    for report in reports.values():
        for sentence in report.ext_doubts:
            run.note(sentence)
        for life in report.undecided:
            run.note(f"{life.topic}: {life.messages:,} messages are in the new queues, but {life.evidence}")
        run.findings(sum(life.ground is not Ground.BARE_LOG for life in report.undecided))
        for queue in report.taken:
            run.note(
                f"{queue.topic}/{queue.queue_id}: {queue.behind:,} messages of the log have numbers that earlier ones "
                "have, and the new queue leads to the earlier ones; leave its own folder in place, for consumers may "
                "see the others (`verify`: queue_offset_taken)"
            )
        run.findings(len(report.taken))
        if report.expired:
            run.note(_keep(report.expired))
        run.findings(len(report.expired))
        for begin, end in report.missing:
            run.not_read(f"{report.to}: no file of the log holds {begin} to {end}; what was there is in no new queue")
        for gap in report.gaps:
            run.not_read(f"{gap.file.path} bytes {gap.file_pos}..{gap.file_pos + gap.length}: {gap.kind}, {gap.reason}")
    if run.format_ is Format.TABLE:
        from pipelines.cli.frame.written.documents import width_of

        width = width_of(run.output())
        run.write_lines(line for report in reports.values() for line in _summary(report, width))
        return
    named = [{**({} if name is None else {"broker": name}), **report.document()} for name, report in reports.items()]
    run.emit_documents(named, one=len(named) == 1)


def _keep(expired: Sequence[ExpiredQueue]) -> str:
    """What would happen to queues without a new file, and what to do about it."""
    named = ", ".join(f"{queue.topic}/{queue.queue_id}" for queue in expired[:NAMED_QUEUES])
    more = f" and {len(expired) - NAMED_QUEUES} more" if len(expired) > NAMED_QUEUES else ""
    return (
        f"the log holds no message any more of {len(expired)} queues ({named}{more}): the new folder lacks them. Leave "
        "their own folders in place beside the new ones; without them they start again at 0, behind what groups have "
        "committed"
    )


def _summary(report: RebuildReport, width: int) -> Iterator[str]:
    from pipelines.cli.frame.written.documents import sections

    head = (
        ("written to", str(report.to)),
        ("queues", f"{len(report.queues):,} with {report.units:,} units"),
        ("index", f"{len(report.index_files):,} files with {report.keys:,} entries"),
        ("made from", f"{report.records:,} records, as RocketMQ {report.version} dispatches them"),
    )
    lists = (
        ("Taken from the files, or assumed", [f"{fact.what} = {fact.value}: {fact.why}" for fact in report.inferred]),
        ("Left out", [f"{each.messages:,} messages of {each.topic}, life {each.life}" for each in report.left_out]),
        ("Not byte-identical", list(report.differences)),
    )
    yield from sections(head, lists, width)
