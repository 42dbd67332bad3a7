"""A small store of a DLedger node that is alone in its group, and the damaged copies that store classes started."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

from parsers.checkpoints.checkpoint import CHECKPOINT, FILE_SIZE
from parsers.commitlog.record.message import Message
from parsers.commitlog.record.properties import encode_properties
from recovery.rebuild.rebuild import rebuild
from recovery.rules.settings import StoreSettings
from tests.support.build_store import Damage, overwrite, undispatched
from tests.support.dledger_log import NODE, DLedgerLog
from tests.support.new_message import new_message
from tests.support.opened import opened

VERSIONS = ("4.9.8", "5.3.1", "5.3.3", "5.5.1")
SETTINGS = {
    "enableDLegerCommitLog": "true",
    "mappedFileSizeCommitLog": "2048",
    "mappedFileSizeConsumeQueue": "200",
    "maxHashSlotNum": "16",
    "maxIndexNum": "60",
}
INDEX_FILE_SIZE = 32 * 5 * 1024 * 1024
"""DLedger's own, which no setting of a broker changes; the file has holes."""
LOG_FILE_SIZE = int(SETTINGS["mappedFileSizeCommitLog"])
FIRST_MS, STEP_MS, MESSAGES = 1_795_000_000_000, 250, 60


def message(number: int, following: dict[tuple[str, int], int]) -> Message:
    """The next message of one of four queues."""
    queue = ("Orders", number % 3) if number % 4 else ("Payments", 0)
    following[queue] = following.get(queue, -1) + 1
    return new_message(
        queue[0],
        b"b" * (5 + number * 7 % 90),
        queue_id=queue[1],
        queue_offset=following[queue],
        store_timestamp_ms=FIRST_MS + number * STEP_MS,
        properties_stored=encode_properties((("KEYS", f"k{number}"), ("TAGS", "A")), trailing_separator=True),
    )


def node_log(root: Path) -> tuple[DLedgerLog, list[int]]:
    """Sixty messages in twelve files and three terms, and where each starts in the log."""
    log, following = DLedgerLog(root, LOG_FILE_SIZE, index_file_size=INDEX_FILE_SIZE), dict[tuple[str, int], int]()
    return log, [log.put(message(n, following), term=n // 25).physical_offset for n in range(MESSAGES)]


def node_store(root: Path) -> list[int]:
    """The store that the node leaves in order, and where its messages start."""
    log, places = node_log(root)
    log.finish()
    made = root.parent / f"{root.name}-rebuilt"
    rebuild(*opened(root, "5.3.3", StoreSettings.from_config(SETTINGS)), made)
    for folder in made.iterdir():
        os.replace(folder, root / folder.name)
    made.rmdir()
    _note(root, MESSAGES - 1)
    return places


def _note(root: Path, number: int, *, offset: int = 0) -> None:
    """Let the checkpoint's times be those of one message, and messages up to `offset` be dispatched by it."""
    names = ("physic_msg_timestamp", "logics_msg_timestamp", "index_msg_timestamp")
    row = dict.fromkeys(CHECKPOINT.offsets, 0) | dict.fromkeys(names, FIRST_MS + number * STEP_MS)
    row["logics_physical_offset"] = offset
    (root / "checkpoint").write_bytes(CHECKPOINT.pack(row).ljust(FILE_SIZE, b"\0"))


def _noted(number: int) -> Damage:
    return lambda root: _note(root, number)


def _committed(number: int | str) -> Damage:
    return lambda root: _write(root / NODE / "checkpoint", f"committedIndex={number}\nendIndex={MESSAGES - 1}\n")


def _write(path: Path, text: str) -> None:
    path.write_text(text)


def _gone(*names: str) -> Damage:
    def damage(root: Path) -> None:
        for name in names:
            path = root / name
            shutil.rmtree(path) if path.is_dir() else path.unlink()

    return damage


Step = Callable[[list[int]], Damage]
"""A damage of the store whose messages start at these places."""


def _queued_to(number: int) -> Step:
    return lambda places: lambda root: undispatched(root, places[number])


def _log_damage(number: int, at: int, data: bytes) -> Step:
    """Bytes of a record, or (`at` below 0) of the header before it."""

    def step(places: list[int]) -> Damage:
        place = places[number]
        file = Path(NODE) / "data" / f"{place - place % LOG_FILE_SIZE:020d}"
        return lambda root: overwrite(root / file, place % LOG_FILE_SIZE + at, data)

    return step


def _any(damage: Damage) -> Step:
    return lambda places: damage


TOPIC = "consumequeue/Orders"
DAMAGES: dict[str, tuple[Step, ...]] = {
    "none": (),
    "queues behind": (_queued_to(50),),
    "queues far behind": (_queued_to(12),),
    "no queues": (_any(_gone("consumequeue")),),
    "one topic without queues": (_any(_gone(TOPIC)),),
    "no queues and no index": (_any(_gone("consumequeue", "index")),),
    "committed behind": (_any(_committed(40)),),
    "committed behind, queues further behind": (_any(_committed(40)), _queued_to(30)),
    "committed behind, queues less so": (_any(_committed(30)), _queued_to(45)),
    "committed far beyond": (_any(_committed(4_000)),),
    "nothing committed": (_any(_committed(-1)),),
    "no node checkpoint": (_any(_gone(f"{NODE}/checkpoint")),),
    "node checkpoint without a number": (_any(_committed("")),),
    "no checkpoint": (_any(_gone("checkpoint")),),
    "checkpoint behind": (_any(_noted(20)),),
    "checkpoint behind, queues too": (_any(_noted(20)), _queued_to(25)),
    "last entry's header": (_log_damage(59, -48, b"\0\0\0\7"),),
    "an entry's header": (_log_damage(48, -44, b"\0\0\0\1"),),
    "a body": (_log_damage(57, 95, b"\1"),),
    "an older body": (_log_damage(53, 95, b"\1"),),
    "a magic code": (_log_damage(55, 4, b"\0\0\0\1"),),
    "a first magic code": (_log_damage(0, 4, b"\0\0\0\1"),),
    "a tail of zeros": (_log_damage(56, -48, bytes(900)),),
    "no log": (_any(_gone(f"{NODE}/data", f"{NODE}/index")),),
    "checkpoint with an offset": (_any(lambda root: _note(root, MESSAGES - 1, offset=LOG_FILE_SIZE * 6 + 800)),),
    "no last file": (_any(lambda root: sorted((root / NODE / "data").iterdir())[-1].unlink()),),
}
EXITS = ("orderly", "crash")


def damage(root: Path, places: list[int], name: str, exit: str) -> None:
    """Damage the store, and let it have been left so."""
    if exit == "crash":
        (root / "abort").touch()
    for step in DAMAGES[name]:
        step(places)(root)
