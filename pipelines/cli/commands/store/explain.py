"""`rocketlens explain`: hex beside field names, for any file of a store."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast, get_args

import typer

from parsers.damage.errors import NotThisFormat
from parsers.store.places import FileKind
from pipelines.cli.frame.asked.options import STORE_FILES, Format
from pipelines.cli.frame.call.command import command
from pipelines.cli.frame.call.opening import file_at
from pipelines.cli.frame.call.run import Run
from pipelines.cli.frame.errors import Unreadable, WrongUsage

if TYPE_CHECKING:
    from parsers.explain.explain import Line

COLUMNS = "file_pos i64, length i64, hex text, group text, field text, value text, meaning text"


@command("explain", panel=STORE_FILES)
def explain(
    run: Run,
    file: Annotated[
        Path, typer.Argument(readable=False, metavar="FILE", help="One file of a store, or a copy of one.")
    ],
    at: Annotated[int, typer.Option(metavar="POS", min=0, help="Begin with what holds this byte of the file.")] = 0,
    count: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="So many records, units or entries; else all.")
    ] = None,
    kind: Annotated[
        str | None,
        typer.Option(metavar="KIND", help="What the file is, when its place does not tell: commitlog, index …"),
    ] = None,
) -> None:
    """Show the bytes of a file beside the fields they are: position, hex, name, value, meaning; every byte is named.

    Example: `rocketlens explain /data/store/commitlog/00000000000000000000 --at 687 --count 1 --format table`
    """
    lines = _lines(run, file, at, count, kind)
    if run.format_ is Format.TABLE:
        run.write_lines(_limited(run, _rendered(lines)))
    else:
        run.emit_rows(COLUMNS, map(asdict, lines))


def _lines(run: Run, file: Path, at: int, count: int | None, kind: str | None) -> Iterator[Line]:
    """Raises Unreadable for a file of no known kind, WrongUsage for no such kind or a position beyond the end."""
    from parsers.explain.explain import explain as explain_in_place
    from parsers.explain.explain import explain_file

    if file.is_dir():
        raise Unreadable(f"{file}: a folder; name one file of it")
    if at and at >= (size := file.stat().st_size):
        raise WrongUsage(f"--at {at}: {file} has {size} bytes")
    if kind is not None:
        if kind not in get_args(FileKind):
            raise WrongUsage(f"--kind {kind}: no such kind; there are {', '.join(get_args(FileKind))}")
        yield from explain_file(file_at(run, file, cast("FileKind", kind)), at, count)
        return
    try:
        yield from explain_in_place(file, at, count)
    except NotThisFormat as elsewhere:
        raise Unreadable(f"{elsewhere}; say what it is with --kind, e.g. --kind commitlog") from elsewhere


def _rendered(lines: Iterable[Line]) -> Iterator[str]:
    from parsers.explain.explain import render

    return render(lines)


def _limited(run: Run, lines: Iterable[str]) -> Iterator[str]:
    from itertools import islice

    return islice(lines, run.options.limit)
