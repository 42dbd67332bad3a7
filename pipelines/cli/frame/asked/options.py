"""Options that every command has, before or after its name; and argument types that several commands share."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, fields
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from parsers.values.java import INT_MAX, LONG_MAX
from pipelines.answers.instants import parse_instant, parse_relative
from pipelines.cli.frame.errors import WrongUsage

PANEL = "Output"


class Format(StrEnum):
    """How rows are written."""

    TABLE = "table"
    JSONL = "jsonl"
    JSON = "json"
    CSV = "csv"
    PARQUET = "parquet"
    ARROW = "arrow"


FormatOption = Annotated[
    Format | None,
    typer.Option(
        "--format",
        metavar="FORM",
        help="table, jsonl, json, csv, parquet or arrow. Without it: the ending of --out, else table on a terminal and "
        "jsonl in a pipe.",
        rich_help_panel=PANEL,
    ),
]
OutOption = Annotated[
    Path | None,
    typer.Option(
        "--out", readable=False, metavar="FILE", help="Write there instead of standard output.", rich_help_panel=PANEL
    ),
]
ColumnsOption = Annotated[
    str | None,
    typer.Option("--columns", metavar="A,B,C", help="Only these columns, in this order.", rich_help_panel=PANEL),
]
LimitOption = Annotated[
    int | None,
    typer.Option("--limit", metavar="N", min=0, max=LONG_MAX, help="Stop after N rows.", rich_help_panel=PANEL),
]
TailOption = Annotated[
    int | None,
    typer.Option("--tail", metavar="N", min=0, max=LONG_MAX, help="Only the last N rows.", rich_help_panel=PANEL),
]
QuietOption = Annotated[
    bool,
    typer.Option("--quiet", help="No progress and no notes; unread ranges are still named.", rich_help_panel=PANEL),
]
DebugOption = Annotated[
    bool, typer.Option("--debug", help="Print the traceback of an error too.", rich_help_panel=PANEL)
]


@dataclass(frozen=True, slots=True)
class Answer:
    """What a command answers with: shared options that mean nothing to it, by parameter name, and why."""

    without: tuple[str, ...] = ()
    why: str = ""


ROWS = Answer()
DOCUMENT = Answer(("columns", "limit", "tail"), "answers with a document, not with rows")
TEXT = Answer(("format_", *DOCUMENT.without), "writes text, not rows")
NOTHING = Answer(("out", *TEXT.without), "writes no answer")


@dataclass(frozen=True, slots=True)
class OutputOptions:
    """The options that every command has, in the order the help shows them. Those that are off are None or False."""

    format_: FormatOption = None
    out: OutOption = None
    columns: ColumnsOption = None
    limit: LimitOption = None
    tail: TailOption = None
    quiet: QuietOption = False
    debug: DebugOption = False

    def refuse(self, answer: Answer, command: str) -> None:
        """Raise WrongUsage for an option that means nothing to a command of this answer, and for a file to write in a
        folder that is not there: before anything is read.
        """
        given = [name for name in answer.without if getattr(self, name) is not None]
        if given:
            names = ", ".join(f"--{name.rstrip('_')}" for name in given)
            raise WrongUsage(f"{names}: not for `{command}`, which {answer.why}")
        if self.out is not None and not self.out.parent.exists():
            raise WrongUsage(f"--out {self.out}: cannot be written: there is no folder {self.out.parent}")

    def over(self, earlier: OutputOptions) -> OutputOptions:
        """These options, completed by those given before the command's name."""
        return OutputOptions(
            self.format_ or earlier.format_,
            self.out or earlier.out,
            self.columns or earlier.columns,
            earlier.limit if self.limit is None else self.limit,
            earlier.tail if self.tail is None else self.tail,
            self.quiet or earlier.quiet,
            self.debug or earlier.debug,
        )


SHARED = tuple(field.name for field in fields(OutputOptions))
"""Names of the options that every command has."""


# readable=False on every path: that it cannot be read is found out by reading it, and is no wrong usage (exit code 3).
StoreArgument = Annotated[
    Path,
    typer.Argument(readable=False, metavar="STORE", help="Store root of a broker: the folder that holds commitlog/."),
]
StoreOrFile = Annotated[
    Path, typer.Argument(readable=False, metavar="STORE_OR_FILE", help="Store root of a broker, or one file of it.")
]
ParamOption = Annotated[
    list[str] | None,
    typer.Option("--param", metavar="K=V", help="A setting of the strategy, V as JSON or text; may be repeated."),
]
BrokerOption = Annotated[
    str | None,
    typer.Option("--broker", metavar="NAME", help="Name of the broker, for captures and logs that do not tell it."),
]
GroupOption = Annotated[str | None, typer.Option(metavar="G", help="Only this consumer group.")]
MessagesOption = Annotated[bool, typer.Option("--messages", help="A row for each message.")]
TopicOption = Annotated[str | None, typer.Option("--topic", metavar="T", help="Only this topic.")]
QueueOption = Annotated[
    int | None, typer.Option("--queue", metavar="N", min=0, max=INT_MAX, help="Only this queue id.")
]
ConfigOption = Annotated[
    list[str] | None,
    typer.Option("--config", metavar="K=V", help="A broker setting by RocketMQ's name; may be repeated."),
]
BrokerConfOption = Annotated[
    Path | None,
    typer.Option(
        "--broker-conf",
        readable=False,
        metavar="FILE",
        help="Take settings from the broker's own broker.conf; it also says where the log lies.",
    ),
]
TopicLogsOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--logs",
        readable=False,
        metavar="PATH",
        help="broker.log of this broker, or its folder: says when topics were deleted and created; may be repeated.",
    ),
]
RecordingsOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--logs",
        readable=False,
        metavar="PATH",
        help="Logs of the broker and of clients, captures, or folders of them; may be repeated.",
    ),
]


def kept_option(what: str) -> Any:
    """An option that takes a kept copy of a configuration file, or a folder of copies; `what` is its help."""
    return typer.Option(readable=False, metavar="FILE_OR_DIR", help=what)


KeptOffsetsOption = Annotated[Path | None, kept_option("Kept copies of consumerOffset.json; else the store's own.")]
VersionOption = Annotated[
    str | None, typer.Option("--version", metavar="V", help="RocketMQ version of the broker, e.g. 5.3.3.")
]


@dataclass(frozen=True, slots=True)
class BrokerOptions:
    """What is said of the broker whose store is opened."""

    version: VersionOption = None
    config: ConfigOption = None
    broker_conf: BrokerConfOption = None

    @property
    def is_given(self) -> bool:
        return self.version is not None or bool(self.config) or self.broker_conf is not None


@dataclass(frozen=True, slots=True)
class GroupOptions:
    """The consumer group and the topic whose rows are wanted."""

    group: GroupOption = None
    topic: TopicOption = None

    def wants(self, group: str | None, topic: str) -> bool:
        return self.group in (None, group) and self.topic in (None, topic)


@dataclass(frozen=True, slots=True)
class QueueOptions:
    """The topic and the queue whose rows are wanted."""

    topic: TopicOption = None
    queue: QueueOption = None

    def wants(self, topic: str, queue_id: int) -> bool:
        return self.topic in (None, topic) and self.queue in (None, queue_id)


@dataclass(frozen=True, slots=True)
class KeptOptions:
    """What was kept beside a store: copies of its offsets, and its broker's logs."""

    offsets: KeptOffsetsOption = None
    logs: TopicLogsOption = None


@dataclass(frozen=True, slots=True)
class RecordedOptions:
    """What was kept and recorded beside a store: copies of its offsets, logs and captures of broker and clients."""

    offsets: KeptOffsetsOption = None
    logs: RecordingsOption = None


INSTANT_FORMS = (
    "ISO 8601 (UTC when no zone is named), epoch milliseconds, `now`, `-1h` (s, m, h, d ago), or `03:12`, the last one "
    "in UTC"
)


def instant_option(what: str) -> Any:
    """An option that takes an instant; `what` begins its help: the instant of what."""
    return typer.Option(metavar="T", help=f"{what}: {INSTANT_FORMS}.")


NowOption = Annotated[str | None, instant_option("As of then, else as of now")]


def instant_of(text: str, flag: str, parse: Callable[[str], int] = parse_instant) -> int:
    """Epoch milliseconds of an option's text, which may count from now. Raises WrongUsage naming the flag."""
    try:
        relative = parse_relative(text, int(time.time() * 1000))
        return parse(text) if relative is None else relative
    except ValueError as wrong:
        raise WrongUsage(f"{flag}: {wrong}; `now`, `-1h` and `03:12` are times, too") from wrong


STORE_FILES = "Look into store files"
BROKER = "What the broker would do"
OWNERSHIP = "Who owned which queue"
LAKE = "Lake"
"""Panels of the command list."""

PANELS = (STORE_FILES, BROKER, OWNERSHIP, LAKE)
"""Under which heads commands are listed, in this order."""
