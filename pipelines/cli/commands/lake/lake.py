"""`rocketlens ingest | sql | tables | ui | lab`: the lake that `rocketlens.toml` names."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from pipelines.cli.frame.asked.options import LAKE, NOTHING
from pipelines.cli.frame.call.command import command
from pipelines.cli.frame.call.configured import ConfigFile, config_path, lake_of, sources_of, with_stores
from pipelines.cli.frame.call.run import Run
from pipelines.cli.frame.errors import Unreadable, WrongUsage

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

    from pipelines.answers.verdicts import BrokerVerdict
    from pipelines.lake.configuration.sources import Sources
    from pipelines.lake.lake import Lake

WaitOption = Annotated[
    float,
    typer.Option(
        metavar="SECONDS", help="How long to wait for another process that writes to the lake; 0: not at all."
    ),
]


@command("ingest", panel=LAKE)
def ingest(
    run: Run,
    broker: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only this broker of the configuration; may be repeated.")
    ] = None,
    wait: WaitOption = 0,
    config_file: ConfigFile = None,
) -> None:
    """Bring the lake up to date with the stores, logs and captures of rocketlens.toml, through Spark.

    First the files of each store: those that have not changed are left as they are, a grown CommitLog file is read on
    from where it ended. Then what follows from them: lag, agreement, forecasts, retention, ownership. At last the
    catalogue that `rocketlens sql` asks. A store that is not there or that ends a worker, and a file that vanishes,
    shrinks or cannot be read, is named (exit code 4), the others are read. One command at a time writes to a lake. At
    the end stands a verdict for each broker, with what to ask next; exit code 1 when there is any finding. `rocketlens
    ui` shows what was ingested as materialized, and which checks hold. `[alert] webhook` of rocketlens.toml is called
    when something is wrong, and when it is over.

    Example: `rocketlens ingest --broker broker-a`
    """
    from pipelines.answers.verdicts import verdicts_of
    from pipelines.cli.frame.call.alerting import alerting, named, to_lake, troubles_of
    from pipelines.defs.dagster_home import has_home
    from pipelines.installed.extras import need
    from pipelines.lake.lake import lake_to_write
    from pipelines.lake.lock import writing
    from pipelines.spark.session import SparkWhenAsked

    need("pyspark", "deltalake", "dagster")
    config = config_path(run, config_file)
    sources = sources_of(run, config)
    brokers, not_compared = broker or (), set[str]()
    with alerting(run, str(sources.lake), to_lake(sources, brokers, not_compared), named(brokers)) as troubles:
        lake = lake_to_write(sources)
        with writing(lake.root, "ingest", wait_s=wait), lake.asked_often(), with_stores(run, sources) as sources:
            spark = SparkWhenAsked(lambda: started(run, sources))
            try:
                rows = ingested(run, cast("SparkSession", spark), sources, lake, brokers)
            finally:
                spark.stop()
        if has_home(sources.lake):
            run.note("telling Dagster")
            _tell_dagster(config, sources)
        verdicts = verdicts_of(lake, sources)
        troubles += troubles_of(verdicts)
        not_compared |= {verdict.broker for verdict in verdicts if verdict.findings is None}
    run.emit_rows(rows.schema, rows.to_pylist())
    run.output().flush()
    _tell_verdicts(run, [verdict for verdict in verdicts if not broker or verdict.broker in broker])


def _tell_dagster(config: Path, sources: Sources) -> None:
    """Let `rocketlens ui` show what was ingested, and which checks hold."""
    from pipelines.defs.dagster_home import instance_of
    from pipelines.defs.lakehouse import Lakehouse
    from pipelines.defs.runs.ingest_events import tell_dagster

    with instance_of(sources.lake) as instance:
        tell_dagster(instance, Lakehouse(config_file=str(config)))


def started(run: Run, sources: Sources) -> SparkSession:
    """Spark, whose workers see the lake and the stores. Raises NotShared."""
    from pipelines.spark.session import spark_session
    from pipelines.spark.shared_folders import require_shared

    run.note("starting Spark")
    spark = spark_session(sources.spark_master, sources.spark_properties)
    require_shared(spark, sources.lake, [one.store for one in sources.brokers if one.address is None])
    return spark


def ingested(run: Run, spark: SparkSession, sources: Sources, lake: Lake, brokers: Sequence[str]) -> pa.Table:
    """Fill the lake and publish its catalogue; rows by broker and table, derived tables without a broker."""
    import pyarrow as pa

    from pipelines.cli.commands.lake.ingest_bar import IngestBar
    from pipelines.cli.frame.call.opening import by_reason
    from pipelines.ingest.derive import derive
    from pipelines.ingest.ingest import ingest as ingest_stores
    from pipelines.lake.catalog import publish
    from pipelines.lake.configuration.sources import SourcesError
    from pipelines.spark.session import share_done

    try:
        with IngestBar(run, partial(share_done, spark)) as bar:
            report = ingest_stores(spark, sources, brokers, bar, lake)
    except SourcesError as wrong:
        raise WrongUsage(str(wrong)) from wrong
    if report.refused and not report.rows:
        raise Unreadable("; ".join(f"{name}: {why}" for name, why in report.refused))
    try:
        derived = derive(
            spark, sources, lambda table: run.note(f"all brokers: {table}"), report.files, lake, report.failed
        )
    finally:
        catalogue = publish(lake)
    for name, sentence in (*report.refused, *report.unread):
        run.not_read(sentence, name)
    for sentence in derived.problems:
        run.not_read(sentence)
    for name in dict.fromkeys(name for name, _, _ in report.not_understood):
        files = ((file, why) for of, file, why in report.not_understood if of == name)
        run.note(f"{name}: not understood, left out: {by_reason(files)}")
    run.note(f"{report.files_read} files read, {report.files_unchanged} unchanged; `rocketlens sql` asks {catalogue}")
    schema = pa.schema([("broker", pa.string()), ("table", pa.string()), ("rows", pa.int64())])
    rows = [{"broker": name, "table": table, "rows": count} for (name, table), count in report.rows.items()]
    rows += [{"broker": None, "table": table, "rows": count} for table, count in derived.rows.items()]
    return pa.Table.from_pylist(rows, schema=schema)


def _tell_verdicts(run: Run, told: Sequence[BrokerVerdict]) -> None:
    """A sentence for each broker that was read, with what to ask next; findings decide the exit code."""
    for verdict in told:
        run.note(verdict.sentence())
    run.findings(sum(verdict.findings or 0 for verdict in told))


@command("sql", panel=LAKE)
def sql(
    run: Run,
    query: Annotated[
        str, typer.Argument(metavar="SELECT…", help="SQL of DuckDB, or the name of a stored question or a table.")
    ],
    config_file: ConfigFile = None,
    unsafe: Annotated[
        bool, typer.Option("--unsafe", help="Let DuckDB reach files, network and extensions, and write files.")
    ] = False,
) -> None:
    """Ask the lake's published catalogue, read-only; `rocketlens tables` says what there is to ask.

    Only the lake's own files can be read, and nothing can be written.

    Example: `rocketlens sql "SELECT topic, count(*) FROM commitlog_messages GROUP BY ALL ORDER BY ALL"`
    """
    import duckdb

    from pipelines.lake.catalog import NoCatalog, NotReading, ask, open_catalog, said_by
    from pipelines.lake.questions import question_named
    from pipelines.objects.both import require_served

    try:
        with open_catalog(lake_of(run, config_file), unsafe=unsafe) as connection:
            answer = connection.sql(question_named(query)) if unsafe else ask(connection, query)
            if answer is not None:
                reader = answer.to_arrow_reader(4096)
                schema = _with_names_apart(reader.schema)
                run.emit(schema, (batch.rename_columns(schema.names) for batch in reader))
    except NoCatalog as missing:
        raise Unreadable(str(missing)) from missing
    except NotReading as refused:
        raise WrongUsage(str(refused)) from refused
    except duckdb.Error as wrong:
        require_served(wrong)
        raise WrongUsage(said_by(wrong)) from wrong


def _with_names_apart(schema: pa.Schema) -> pa.Schema:
    """Give each column a name of its own: the second `x` becomes `x_1`."""
    import pyarrow as pa

    fields: dict[str, pa.Field] = {}
    for field in schema:
        candidates = (field.name, *(f"{field.name}_{number}" for number in range(1, len(schema))))
        name = next(name for name in candidates if name not in fields)
        fields[name] = field.with_name(name)
    return pa.schema(list(fields.values()))


@command("tables", panel=LAKE)
def tables(run: Run, config_file: ConfigFile = None) -> None:
    """Tables of the lake: rows, Delta version, and what one row is. A table that was never made has neither.

    Example: `rocketlens tables --format table`
    """
    from pipelines.installed.extras import need
    from pipelines.lake.tables.raw import TABLES

    need("deltalake")
    lake = lake_of(run, config_file)
    run.emit_rows(
        "table text, rows i64, version i64, one_row text",
        (
            {
                "table": name,
                "rows": None if version is None else lake.rows(name),
                "version": version,
                "one_row": table.grain,
            }
            for name, table in TABLES.items()
            for version in (lake.version(name),)
        ),
    )


@command("ui", panel=LAKE, answer=NOTHING)
def ui(
    run: Run,
    config_file: ConfigFile = None,
    port: Annotated[int, typer.Option(metavar="N", min=1, max=65535, help="Port of the web server.")] = 3000,
    host: Annotated[str, typer.Option(metavar="ADDRESS", help="Where it listens.")] = "127.0.0.1",
) -> None:
    """Dagster's UI over the lake: assets, checks, schedules. Runs until it is interrupted.

    Example: `rocketlens ui --port 3001`
    """
    from pipelines.cli.commands.lake.workbench import launch_ui, why_not_listening
    from pipelines.installed.extras import need

    need("dagster", "dagster_webserver", "pyspark", "deltalake")
    config = config_path(run, config_file)
    if why := why_not_listening(host, port):
        raise WrongUsage(f"--port {port}: {why}; name another port or address")
    sources = sources_of(run, config)
    _tell_dagster(config, sources)
    run.note(f"starting Dagster; its tables: http://{host}:{port}/asset-groups")
    run.ends_with(launch_ui(config, port=port, host=host))


@command("lab", panel=LAKE, answer=NOTHING)
def lab(
    run: Run,
    config_file: ConfigFile = None,
    port: Annotated[int, typer.Option(metavar="N", min=1, max=65535, help="Port of the web server.")] = 8888,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open a browser.")] = True,
    allow_root: Annotated[
        bool, typer.Option("--allow-root", help="Start for root too, which Jupyter refuses otherwise.")
    ] = False,
) -> None:
    """JupyterLab on the notebooks, with the lake at hand. Runs until it is interrupted.

    Example: `rocketlens lab --no-browser`
    """
    from pipelines.cli.commands.lake.workbench import is_root, launch_lab
    from pipelines.installed.extras import need

    need("jupyterlab", "jupytext", "pandas", "matplotlib")
    config = config_path(run, config_file)
    if is_root() and not allow_root:
        raise WrongUsage("lab: Jupyter does not start as root; add --allow-root if that is meant")
    run.ends_with(launch_lab(config, port=port, browser=browser, as_root=allow_root))
