"""One Delta transaction: parts that tasks wrote become rows of a table, or nothing of them stays.

The driver commits, after it has seen every part. Whether a commit that ended with an error was recorded is read in the
log, and a part is removed only when no version names it. A checkpoint is no part of a commit: it only makes the log
quicker to read, so one that cannot be written is left for a later commit.
"""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Collection, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
from deltalake import DeltaTable, Schema
from deltalake.exceptions import CommitFailedError, DeltaError
from deltalake.transaction import AddAction, CommitProperties, PostCommitHookProperties, RemoveAction

from pipelines.lake.delta.errors import LakeMismatch, LakeMoved, PartsMissing
from pipelines.lake.delta.lease import require_lease
from pipelines.lake.delta.log import (
    LOG_FOLDER,
    asked_through_delta,
    catch_up,
    delta_options,
    look_again,
    open_table,
    parts_of,
    require_partitions,
)
from pipelines.lake.delta.parts import Part
from pipelines.lake.tables.table import Table
from pipelines.objects.place import Place

CHECKPOINT_EVERY = 50
"""Versions between two checkpoints of a table's log."""
COMMIT_ID = "rocketlensCommit"
"""Key, in a version's commit information, of a text that no other commit has."""
ASKED_AT_ONCE = 16
"""Parts that are looked at at a time: a server of an object store takes long to answer, and answers many."""
NO_HOOKS = PostCommitHookProperties(create_checkpoint=False, cleanup_expired_logs=False)


def commit(
    table: Table,
    root: Place,
    parts: Sequence[Part],
    replaced: Iterable[tuple[str, ...]] | None,
    *,
    without: Collection[str] = (),
    at_version: int | None = None,
    same_rows: bool = False,
) -> int:
    """Record parts in one transaction, on the very version that was read for it; the table's version with them.

    Args:
        replaced: partitions whose present rows go in the same transaction; None replaces the whole table, an empty
            list only appends. A partition named here that gets no part is empty afterwards.
        without: paths of parts that go too.
        at_version: the version that the parts were made for; None where they do not depend on what the table holds.
        same_rows: the parts have the rows of those that go, so whoever follows the table by its versions need not read
            them.
    Raises:
        PartsMissing, LakeMoved, LakeMismatch: one sentence; the table is as it was and the parts are gone.
        LakeError: a lease was lost (pipelines.lake.delta.lease); likewise.
    """
    try:
        look_again(root)
        require_lease(root)
        _require_parts(root, parts)
        delta = ensure_table(table, root)
        if at_version is not None and delta.version() != at_version:
            raise LakeMoved(_moved(root, at_version))
        gone = [_remove(part.path, not same_rows) for part in _leaving(table, delta, replaced, without)]
        added = [_add(table, part, not same_rows) for part in parts]
        require_lease(root)  # again: whoever took it since the parts were looked at may have removed them
    except BaseException:
        discard(root, parts)
        raise
    if parts or gone:
        with asked_through_delta(root):
            _record(table, root, delta, parts, [*added, *gone])
        catch_up(root, delta)
        _checkpoint(delta)
    return delta.version()


def _leaving(
    table: Table, delta: DeltaTable, replaced: Iterable[tuple[str, ...]] | None, without: Collection[str]
) -> Iterator[Part]:
    """The parts of the present version that go."""
    if replaced is None:
        yield from parts_of(table, delta)
        return
    wanted = set(replaced)
    if wanted or without:
        parts = parts_of(table, delta, {values[0] for values in wanted}, without)
        yield from (part for part in parts if part.partition in wanted or part.path in without)


def _moved(root: Place, version: int) -> str:
    return f"{root}: another process wrote version {version + 1} meanwhile: run the command again"


def discard(root: Place, parts: Iterable[Part]) -> None:
    """Remove parts that were never committed."""
    for part in parts:
        with suppress(OSError):
            (root / part.path).unlink()


def _require_parts(root: Place, parts: Sequence[Part]) -> None:
    with ThreadPoolExecutor(ASKED_AT_ONCE) as asking:
        sizes = list(asking.map(lambda part: _size(root / part.path), parts))
    missing = [part for part, size in zip(parts, sizes, strict=True) if size != part.size]
    if missing:
        raise PartsMissing(
            f"{root}: of {len(parts)} parts that Spark's workers wrote {len(missing)} are not there or not whole, the "
            f"first {missing[0].path}: every worker must see the lake under this path"
        )


def _size(path: Place) -> int | None:
    try:
        return path.stat().st_size
    except OSError:
        return None


def _record(
    table: Table, root: Place, delta: DeltaTable, parts: Sequence[Part], actions: list[AddAction | RemoveAction]
) -> None:
    commit_id = uuid.uuid4().hex
    try:
        delta.create_write_transaction(
            actions,
            mode="append",
            schema=_delta_schema(table.schema),
            partition_by=list(table.partition_by),
            commit_properties=CommitProperties(max_commit_retries=0, custom_metadata={COMMIT_ID: commit_id}),
            post_commithook_properties=NO_HOOKS,
        )
    except BaseException as error:
        if not is_recorded(root, commit_id, after=delta.version()):
            if isinstance(root, Path) or isinstance(error, CommitFailedError):
                discard(root, parts)  # else the request may still be on its way: `vacuum` removes what no version has
            if isinstance(error, CommitFailedError):
                raise LakeMoved(_moved(root, delta.version())) from error
            raise
        if not isinstance(error, Exception):
            raise


def is_recorded(root: Place, commit_id: str, *, after: int) -> bool:
    """Whether a version after `after` is the commit of that id. Raises OSError where the log cannot be read."""
    later = (path for path in (root / LOG_FOLDER).iterdir() if path.suffix == ".json" and path.stem.isdigit())
    return any(commit_id in path.read_text("utf-8") for path in later if int(path.stem) > after)


def _checkpoint(delta: DeltaTable) -> None:
    """Write the log's state in one file now and then."""
    if delta.version() % CHECKPOINT_EVERY == CHECKPOINT_EVERY - 1:
        with suppress(OSError, DeltaError):
            delta.create_checkpoint()


def ensure_table(table: Table, root: Place) -> DeltaTable:
    """The Delta table, created empty if it is not there, widened by columns it does not have yet."""
    delta = open_table(root)
    if delta is None:
        look_again(root)
        with asked_through_delta(root):
            return DeltaTable.create(
                str(root),
                _delta_schema(table.schema),
                mode="ignore",
                partition_by=list(table.partition_by) or None,
                storage_options=delta_options(root),
                name=table.name,
                description=f"One row: {table.grain}",
            )
    require_partitions(table, delta.metadata().partition_columns, root)
    wanted = {field.name: field for field in _delta_schema(table.schema).fields}
    present = {field.name: field for field in delta.schema().fields}
    for name in wanted.keys() & present.keys():
        if wanted[name].type != present[name].type:
            raise LakeMismatch(f"{root}: column {name} is {present[name].type} there and {wanted[name].type} here")
    if missing := [wanted[column.name] for column in table.columns if column.name not in present]:
        with asked_through_delta(root):
            delta.alter.add_columns(missing, post_commithook_properties=NO_HOOKS)
        catch_up(root, delta)
    return delta


def version_to_add_to(table: Table, root: Place) -> int | None:
    """The version that rows are going to be computed from, of a table that has every column; None where none is.

    Raises LakeMismatch: one sentence.
    """
    return None if open_table(root) is None else ensure_table(table, root).version()


def _add(table: Table, part: Part, is_change: bool) -> AddAction:
    return AddAction(
        path=part.path,
        size=part.size,
        partition_values=dict(zip(table.partition_by, part.partition, strict=True)),
        modification_time=part.written_ms,
        data_change=is_change,
        stats=json.dumps({"numRecords": part.rows}),
    )


def _remove(path: str, is_change: bool) -> RemoveAction:
    return RemoveAction(path=path, data_change=is_change, deletion_timestamp=int(time.time() * 1000))


def _delta_schema(schema: pa.Schema) -> Schema:
    return Schema.from_arrow(schema)
