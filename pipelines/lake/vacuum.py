"""What lies in a lake's folder and belongs to no version that is kept: parts, and what killed processes left behind."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake.exceptions import DeltaError

from pipelines.lake.alert import TOLD
from pipelines.lake.catalog import published_files
from pipelines.lake.delta.errors import LogUnreadable, first_line
from pipelines.lake.delta.lease import require_lease
from pipelines.lake.delta.log import LOG_FOLDER, VERSION_FILE, add_actions, delta_table, was_never_written
from pipelines.lake.lake import Lake
from pipelines.lake.tables.raw import TABLES
from pipelines.objects.both import below, readable, remove_all, size_of
from pipelines.objects.place import Place

DAY_S = 86_400
LEFT_BY_THE_KILLED = ("catalog.*.new", "catalog.*.new.wal", ".facts-*", ".probe-*", f"{TOLD}.*")
"""What a process makes beside the tables while it works, and removes."""
CHECKPOINT = re.compile(r"\d+\.checkpoint\.parquet")
VERSION_OR_CHECKPOINT = re.compile(rf"{VERSION_FILE.pattern}|{CHECKPOINT.pattern}")
STAGED = re.compile(r"#\d+$")
"""How a version's file is named before it is moved into place."""


@dataclass(frozen=True, slots=True)
class Leftover:
    """A file or folder that nothing needs, its bytes, and why it is not needed."""

    path: Place
    size: int
    why: str


def leftovers(lake: Lake, *, keep_days: float) -> Iterator[Leftover]:
    """What `vacuum` removes. Nobody may write to the lake meanwhile.

    Args:
        keep_days: versions that were a table's newest at some instant of so many days keep their parts.
    Raises:
        LogUnreadable: one sentence.
    """
    published = published_files(lake)
    for root in (lake.table_root(name) for name in sorted(TABLES) if lake.has(name)):
        yield from _of_table(root, published, time.time() - keep_days * DAY_S)
    for pattern in LEFT_BY_THE_KILLED:
        yield from (_left(path, "left by a process that was killed") for path in _sorted(lake.root.glob(pattern)))


def remove(left: Leftover) -> None:
    """Remove one leftover, and the folder of a partition that is empty afterwards.

    Raises LakeError where the lease was lost since it was found: the next holder's new parts look like leftovers then.
    """
    require_lease(left.path)
    remove_all(left.path)


def _of_table(root: Place, published: set[str], kept_since_s: float) -> Iterator[Leftover]:
    for path in _sorted((root / LOG_FOLDER).iterdir()):
        if STAGED.search(path.name):
            yield _left(path, "a version that was never put into place")
    named, ever = named_parts(root, kept_since_s)
    for path in _sorted(root.rglob("part-*.parquet")):
        name = below(path, root)
        if name not in named and str(path) not in published:
            yield _left(path, "replaced, and no version that is kept has it" if name in ever else "no version has it")
    for path in unneeded_log(root, kept_since_s):  # after the parts: they tell which were ever committed
        yield _left(path, "of the log before the versions that are kept")


def unneeded_log(root: Place, kept_since_s: float) -> list[Place]:
    """Files of a table's log that no reader of a version needs which was its newest since an instant (epoch seconds).

    A reader begins at the newest checkpoint up to its version. So what lies before the last whole checkpoint up to the
    oldest of these versions goes.

    Raises LogUnreadable.
    """
    versions = _versions(root)
    oldest = _oldest_kept(versions, kept_since_s) if versions else 0
    checkpoints = {number: path for path in _of_log(root, CHECKPOINT) if (number := _number(path)) <= oldest}
    for begin in sorted(checkpoints, reverse=True):
        if _is_whole(checkpoints[begin]):
            return [path for path in _of_log(root, VERSION_OR_CHECKPOINT) if _number(path) < begin]
    return []


def _is_whole(checkpoint: Place) -> bool:
    """Whether every byte of a checkpoint can be read: one that the disk had no room for is left as it is."""
    try:
        return bool(pq.read_table(readable(checkpoint)).num_rows)
    except (OSError, pa.ArrowException):
        return False


def _of_log(root: Place, names: re.Pattern[str]) -> list[Place]:
    return _sorted(path for path in (root / LOG_FOLDER).iterdir() if names.fullmatch(path.name))


def _versions(root: Place) -> list[Place]:
    return _of_log(root, VERSION_FILE)


def _number(path: Place) -> int:
    return int(path.name.split(".", 1)[0])


def _oldest_kept(versions: Sequence[Place], kept_since_s: float) -> int:
    """The version that was the newest at an instant, or the first that there is."""
    before = [path for path in versions if path.stat().st_mtime <= kept_since_s]
    return _number(before[-1] if before else versions[0])


def named_parts(root: Place, kept_since_s: float) -> tuple[set[str], set[str]]:
    """Parts below a table's folder that its versions name: those that were its newest since an instant (epoch seconds),
    and all that there are.

    Raises LogUnreadable.
    """
    try:
        return _named_parts(root, kept_since_s)
    except (DeltaError, OSError, LookupError, ValueError, AttributeError) as refused:  # whatever stands in a version
        raise LogUnreadable(
            f"{root}: its log cannot be read: {first_line(str(refused))}; "
            "`rocketlens check-lake --help` says what to do"
        ) from refused


def _named_parts(root: Place, kept_since_s: float) -> tuple[set[str], set[str]]:
    versions = _versions(root)
    if not versions and was_never_written(root):
        return set(), set()
    if not versions:
        raise ValueError("it has no version")
    added = {_number(path): set(_added(path)) for path in versions}
    newest, first, oldest = _number(versions[-1]), _number(versions[0]), _oldest_kept(versions, kept_since_s)
    whole = {newest: _parts_at(root, newest)}
    for version in {first, oldest} - {newest}:
        with suppress(DeltaError):  # a version whose earlier log was cleaned up; its later ones are read above
            whole[version] = _parts_at(root, version)

    def since(begin: int) -> set[str]:
        later = (added[number] for number in added if number >= begin)
        return whole[newest].union(whole.get(begin, ()), *later)

    return since(oldest), since(first)


def _parts_at(root: Place, version: int) -> set[str]:
    return set(add_actions(delta_table(root, version))["path"].to_pylist())


def _added(version: Place) -> Iterator[str]:
    for line in version.read_text("utf-8").splitlines():
        if (added := json.loads(line).get("add")) is not None:
            yield added["path"]


def _sorted(places: Iterable[Place]) -> list[Place]:
    return sorted(places, key=str)


def _left(path: Place, why: str) -> Leftover:
    return Leftover(path, size_of(path), why)
