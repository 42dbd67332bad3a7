"""STORE or FILE, as the user named it, to a listed store; with notes on what a reader should know about it."""

from __future__ import annotations

import os
import struct
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from parsers.damage.errors import unheard
from parsers.store.places import DATABASE_PART, FileKind, name_below, number_in
from parsers.store.store import Store
from parsers.store.store_file import StoreFile, locate
from parsers.values.topics import is_revive
from pipelines.cli.frame.asked.options import BrokerOptions
from pipelines.cli.frame.call.run import Run
from pipelines.cli.frame.errors import Unreadable, WrongUsage
from recovery.rules.versions import BrokerVersion

if TYPE_CHECKING:
    from recovery.knowledge.inference import StoreKnowledge
    from recovery.knowledge.knowledge import Said

NOTHING_SAID = BrokerOptions()
STATIC_NAMED = 5
FOLDERS_OF_A_STORE = ("commitlog", "consumequeue", "index", "config", "timerlog")


def known_store_at(
    run: Run, path: Path, broker: BrokerOptions, *, names_version: bool = False, in_part: bool = False
) -> tuple[Store, StoreKnowledge]:
    """The store at `path` with its log, and the broker's version and settings: what the options say, then the files.

    With `names_version` a version that nobody said is named on stderr: the answer depends on it. With `in_part` a log
    that is not found is named as not read: other files answer a part.

    Raises:
        NotAStore, Unreadable, WrongUsage: one sentence.
    """
    from recovery.knowledge.knowledge import knowledge_of

    said = said_by(run, broker)
    store = _listed(run, path, said, needs_log=not in_part)
    if store.log_not_found is not None:
        run.not_read(store.log_not_found)
    known = knowledge_of(store, said)
    if names_version:
        name_version(run, known)
    return store, known


def name_version(run: Run, known: StoreKnowledge) -> None:
    """Say on stderr which version is taken where none was said, and why; and which one nobody has files of."""
    if known.version.is_by_specification:
        run.note(f"{known.version} is by specification: no broker of it can be had, so no file of it was compared")
    for fact in known.facts:
        if fact.what == "version":
            run.note(f"no --version: {fact.value} is {fact.why}")


def note_pops(run: Run, store: Store) -> None:
    """Say where groups pop: what a stored offset then says of a message depends on where its pop is kept.

    Source: PopConsumerService#handleGetMessageResult, AckMessageProcessor#ackOrderly, #ackOrderlyNew @5.3.3.
    """
    from parsers.config.order_info import read_order_info

    if any(is_revive(topic) for topic, _ in store.queues):
        run.note(f"{store.root}: groups pop here, and offsets are past what they have not acknowledged: see `pop`")
    if store.pop_database is not None:
        run.note(
            f"{store.root}: kvStore is here: what a group popped last counts as unread until its next pop, "
            "acknowledged or not, and all it popped before as consumed: see `pop`"
        )
    if read_order_info(store.config, damage=unheard):
        run.note(f"{store.root}: groups pop in order here: what they have not acknowledged counts as unread: see `pop`")


def note_static_topics(run: Run, store: Store) -> None:
    """Say which topics are static: what is said of their queues is of this broker's part, in its own numbers."""
    from parsers.config.queue_mappings import read_queue_mappings

    topics = sorted({each.topic for _, each in read_queue_mappings(store.config, damage=unheard)})
    if topics:
        named = ", ".join(topics[:STATIC_NAMED]) + (" …" if len(topics) > STATIC_NAMED else "")
        run.note(
            f"{store.root}: static topics ({named}): queues and offsets are this broker's own, not those that clients "
            "count; `dump config --table queue_mappings` says which part of which logical queue each holds"
        )


def store_at(run: Run, path: Path, broker: BrokerOptions = NOTHING_SAID, *, needs_log: bool = True) -> Store:
    """The store at `path`, with its log unless the answer needs none.

    Raises:
        NotAStore, Unreadable, WrongUsage: one sentence.
    """
    return _listed(run, path, said_by(run, broker), needs_log=needs_log)


def part_of_store_at(run: Run, path: Path, broker: BrokerOptions) -> Store:
    """The store at `path`, for an answer that other files give a part of where the log is not found; that is then named
    as not read.

    Raises:
        NotAStore, Unreadable, WrongUsage: one sentence.
    """
    store = store_at(run, path, broker, needs_log=False)
    if store.log_not_found is not None:
        run.not_read(store.log_not_found)
    return store


def _listed(run: Run, path: Path, said: Said, *, needs_log: bool) -> Store:
    """List a store; say on stderr what is not understood and whether a broker is running on it."""
    from recovery.knowledge.knowledge import open_known
    from recovery.rules.settings import StoreSettings
    from recovery.rules.store_paths import epoch_file, named_folders, why_no_epochs

    if path.name in FOLDERS_OF_A_STORE and path.is_dir() and (path.parent / "commitlog").is_dir():
        raise Unreadable(f"{path}: a part of a store; name the store root: {path.parent}")
    settings = said.over(StoreSettings())
    for named in named_folders(path, settings):
        run.reads(named.folder)
    if epochs := epoch_file(path, settings):
        run.reads(epochs)
    store = open_known(path, said, needs_log=needs_log)
    run.stores.append(store)
    for place in store.places:
        run.reads(place)
    if holder := process_using(path):
        run.note(f"{path}: in use by process {holder}; read as it was when listed, newer records are not in the answer")
    name_not_understood(run, store)
    if why := why_no_epochs(store, settings):
        run.note(why)
    return store


def store_to_start(run: Run, path: Path, broker: BrokerOptions) -> tuple[Store, StoreKnowledge]:
    """The store at `path` and what is known of its broker; an empty folder is one, too, for a broker starts on it."""
    from recovery.knowledge.knowledge import knowledge_of

    if path.is_dir() and os.access(path, os.R_OK | os.X_OK) and not any(found.is_file() for found in path.rglob("*")):
        run.note(f"{path}: an empty folder, as a new broker finds it")
        known = knowledge_of(empty := Store(path), said_by(run, broker))
        name_version(run, known)
        return empty, known
    return known_store_at(run, path, broker, names_version=True)


def name_not_understood(run: Run, store: Store) -> None:
    """One remark for all files that no reader here takes, those of one reason together."""
    files = [(name_below(store.root, strange.path), strange.why) for strange in store.not_understood]
    if files:
        run.note(f"not understood, left out: {by_reason(files)}")


def by_reason(files: Iterable[tuple[str, str | None]]) -> str:
    """Names of files below their store, each with why no reader takes it: those of one reason together."""
    reasons: dict[str | None, list[str]] = {}
    for name, why in files:
        reasons.setdefault(why, []).append(name)
    return ", ".join(_told(names, why) for why, names in reasons.items())


def _told(names: list[str], why: str | None) -> str:
    """Files by the folder that all of them are in, or by the first of them."""
    if len(names) == 1:
        return f"{names[0]} ({why})"
    folder = os.path.commonpath(names)
    return f"{folder}/ ({len(names)} files: {why})" if folder else f"{names[0]} and {len(names) - 1} more ({why})"


ALIKE: tuple[set[FileKind], ...] = (
    {"commitlog", "dledger", "compaction_log"},
    {"consumequeue", "batchconsumequeue", "compaction_queue"},
    {"timerlog", "timerwheel", "timercheck"},
)
"""Kinds whose files one may want to read as another of them."""


def file_as(run: Run, path: Path, kind: FileKind, *others: FileKind) -> StoreFile:
    """`file_at`, refused for a file that lies where a broker keeps files of quite another kind."""
    file, lies = file_at(run, path, kind, *others), locate(path).kind
    if lies not in (file.kind, "not_understood") and not any({lies, kind} <= alike for alike in ALIKE):
        raise Unreadable(f"{path}: by its place a file of kind {lies}, not {kind}; `explain` tells what is in it")
    return file


def file_at(run: Run, path: Path, kind: FileKind, *others: FileKind) -> StoreFile:
    """One file as a file of that kind, wherever it was copied to, or of one of the others where its place says so.

    Its place in a store (topic, queue, number in the name) is taken from the path where the path says it.
    """
    run.of_one_file = True
    seen = path.stat()
    placed = locate(path)
    if placed.kind in (kind, *others):
        return placed
    if placed.kind == "rocksdb":
        raise Unreadable(f"{path}: {DATABASE_PART}")
    return StoreFile(path, kind, seen.st_size, seen.st_mtime_ns, number_in(path.name))


def is_file(path: Path) -> bool:
    """True for one file; raises FileNotFoundError for nothing at all, so that the sentence names the path."""
    path.stat()
    return not path.is_dir()


def process_using(root: Path) -> int | None:
    """The process that holds the broker's lock on `lock`, or None. Asks only; takes no lock.

    Source: DefaultMessageStore#start (tryLock(0, 1, false)) @5.3.3.
    """
    if sys.platform != "linux":
        return None
    import fcntl

    layout = "hhqqi4x"  # struct flock on 64-bit Linux: type, whence, start, length, pid
    try:
        lock = os.open(root / "lock", os.O_RDONLY | os.O_NONBLOCK)  # a pipe of that name holds nobody up
    except OSError:
        return None
    try:
        asked = struct.pack(layout, fcntl.F_WRLCK, os.SEEK_SET, 0, 1, 0)
        kind, _, _, _, holder = struct.unpack(layout, fcntl.fcntl(lock, fcntl.F_GETLK, asked))
    except OSError:
        return None
    finally:
        os.close(lock)
    return holder if kind != fcntl.F_UNLCK else None


def said_by(run: Run, broker: BrokerOptions) -> Said:
    """What the options say; a setting that has no effect is noted and left out.

    Raises:
        WrongUsage: no version, not `k=v`, or a value of the wrong kind.
        OSError: broker.conf cannot be read.
    """
    said = said_of(_version(broker.version), broker.broker_conf, config_pairs(broker.config))
    for sentence in said.ignored:
        run.note(sentence)
    return said


def said_of(version: BrokerVersion | None, broker_conf: Path | None, pairs: Mapping[str, str]) -> Said:
    """What a broker.conf and `--config` say. Raises WrongUsage, OSError."""
    from recovery.knowledge.knowledge import Said
    from recovery.rules.settings import WrongSetting

    try:
        return Said.read(version, broker_conf, pairs)
    except WrongSetting as wrong:
        raise WrongUsage(f"--config {wrong}") from wrong
    except ValueError as wrong:
        raise WrongUsage(str(wrong)) from wrong


def config_pairs(config: list[str] | None) -> dict[str, str]:
    """`["a=b", …]` as a dict. Raises WrongUsage for one without `=`."""
    pairs = [entry.partition("=") for entry in config or []]
    for name, equals, value in pairs:
        if not equals or not name.strip():
            raise WrongUsage(f"--config {name or value!r}: expected NAME=VALUE, e.g. --config fileReservedTime=48")
    return {name.strip(): value.strip() for name, _, value in pairs}


def _version(text: str | None) -> BrokerVersion | None:
    try:
        return None if text is None else BrokerVersion.parse(text)
    except ValueError as wrong:
        raise WrongUsage(f"--version: {wrong}") from wrong
