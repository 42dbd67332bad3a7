"""What the next compaction pass of a queue would keep of its copy, and what it would drop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from parsers.compaction.copies import read_copies
from parsers.compaction.positions import NO_PASS
from parsers.compaction.sparse_queue import SparseQueue
from parsers.damage.errors import Damage, DamageSink, unheard
from parsers.kernels.arrays import Longs
from parsers.layouts.columns import schema_from
from parsers.store.store_file import StoreFile
from recovery.rules.settings import StoreSettings
from recovery.rules.versions import BrokerVersion

MAP_ENTRY_BYTES = 24
"""An MD5 and a queue offset. Source: CompactionLog.OffsetMap @5.3.3."""
LEAST_KEYS = 100
MOST_PROCESSORS = 8192
"""Linux is built for no more (NR_CPUS of x86-64)."""
KEY_SCHEMA = schema_from("queue_offset i64, body_size i32, keys text")


class Fate(IntEnum):
    """What a pass makes of a message. WRITTEN_TO: it is in the last file, which no pass reads."""

    KEPT = 0
    NEWER_MESSAGE = 1
    NO_BODY = 2
    NO_KEY = 3
    NOT_BEHIND_KEPT = 4
    WRITTEN_TO = 5


@dataclass(frozen=True, slots=True)
class NextPass:
    """The next pass over one queue.

    Attributes:
        queue_offset, fate: one for each message of the copy, in its order; empty where `changes` is None.
        newer_queue_offset: of a NEWER_MESSAGE the one that has its key, -1 for others.
        changes: whether the pass replaces files; None where that is not known.
        why: what it hangs on where `changes` is not True.
        keys: distinct keys that it has to hold in memory.
    """

    queue_offset: Longs
    fate: npt.NDArray[np.int8]
    newer_queue_offset: Longs
    changes: bool | None
    why: str | None = None
    keys: int = 0

    def count(self, fate: Fate) -> int:
        """Messages of this fate."""
        return int(np.count_nonzero(self.fate == fate))


@dataclass(slots=True)
class _Copy:
    """The messages of a queue's copy; `file`: the number of the one that a message is in. Keys as text, once each."""

    queue_offset: Longs
    body_size: Longs
    keys: pa.DictionaryArray
    file: Longs
    damage: list[Damage] = field(default_factory=list)


def next_pass(
    log: Sequence[StoreFile],
    queue: SparseQueue,
    position: int,
    settings: StoreSettings,
    version: BrokerVersion,
    damage: DamageSink = unheard,
) -> NextPass:
    """The pass that a broker begins next, on these files as they are; memory: the keys of the copy.

    A pass reads all files but the last. Files with messages beyond `position`, the last queue offset that a pass took
    in, give it the newest message of each key; of all files a message stays that is the newest of its key, or whose key
    those files do not have, and that has a body. A message without a body deletes its key.

    Source: store/kv/CompactionLog.java#getCompactionFile, #compactAndReplace, #getOffsetMap, #shouldRetainMsg,
    #asyncPutMessage @5.3.3.
    """
    copy = _read(log, damage)
    is_read = copy.file < len(log) - 1
    fate = np.where(is_read, Fate.KEPT, Fate.WRITTEN_TO).astype(np.int8)
    newer = np.full(len(fate), -1, np.int64)
    if len(log) < 2:
        return NextPass(copy.queue_offset, fate, newer, False, "there is one file only, and a pass leaves the last out")
    unread = [one for one in copy.damage if one.path != log[-1].path]
    if unread:
        return _unknown(f"{len(unread)} ranges of the files that it reads are damaged")
    most = {held.file.name: _max_queue_offset(held.valid["queue_offset"]) for held in queue.files}
    is_new_file = np.array([most.get(file.name, NO_PASS) > position for file in log[:-1]] + [False])
    if not is_new_file.any():
        return NextPass(copy.queue_offset, fate, newer, False, "no file is new since the last pass")
    codes, has_key = _codes(copy.keys)
    is_new = is_new_file[copy.file] & (copy.queue_offset > position)
    if not has_key[is_new].all():
        return _failing(copy, fate, newer, "a message without KEYS ends it")
    newest, last_put, keys, keys_before_last = _newest(codes, copy.queue_offset, is_new, len(copy.keys.dictionary))
    of_key = np.where(has_key, newest[np.maximum(codes, 0)], -1)
    judged = is_read & (copy.queue_offset <= last_put)
    fate[judged & (copy.body_size == 0)] = Fate.NO_BODY
    older = judged & has_key & (copy.queue_offset < of_key)
    fate[older] = Fate.NEWER_MESSAGE
    newer[older] = of_key[older]
    fate[judged & ~has_key] = Fate.NO_KEY
    _drop_disorder(copy.queue_offset, fate, is_read)
    least, greatest = room(settings, version)
    if not np.any(fate == Fate.KEPT):
        return _failing(copy, fate, newer, "nothing would be left, which ends it", keys)
    if keys_before_last >= greatest:
        return _failing(copy, fate, newer, f"its memory (maxOffsetMapSize) holds {greatest} keys at most", keys)
    if keys_before_last >= least:
        return _unknown(f"its memory holds {least} to {greatest} keys, by the number of processors", keys)
    return NextPass(copy.queue_offset, fate, newer, True, None, keys)


def _read(log: Sequence[StoreFile], damage: DamageSink) -> _Copy:
    found: list[Damage] = []

    def tell(one: Damage) -> None:
        found.append(one)
        if damage is not None:
            damage(one)

    batches, rows = [], []
    for file in log:
        of_file = list(read_copies([file], columns=KEY_SCHEMA.names, damage=tell))
        batches += of_file
        rows.append(sum(batch.num_rows for batch in of_file))
    table = pa.Table.from_batches(batches, KEY_SCHEMA).unify_dictionaries()
    keys = table["keys"].combine_chunks().dictionary_encode()
    return _Copy(
        table["queue_offset"].to_numpy(),
        table["body_size"].to_numpy().astype(np.int64),
        keys,
        np.repeat(np.arange(len(log)), rows),
        found,
    )


def _codes(keys: pa.DictionaryArray) -> tuple[Longs, npt.NDArray[np.bool_]]:
    """The number of each message's key, -1 without one; and whether it counts as one (StringUtils#isNotBlank)."""
    codes = pc.fill_null(keys.indices.cast(pa.int64()), -1).to_numpy(zero_copy_only=False)
    is_text = pc.not_equal(pc.utf8_trim_whitespace(keys.dictionary), "").to_numpy(zero_copy_only=False)
    return codes, np.append(is_text, False)[codes]


def _newest(codes: Longs, queue_offset: Longs, is_new: npt.NDArray[np.bool_], keys: int) -> tuple[Longs, int, int, int]:
    """What OffsetMap holds at the end: by key the last queue offset put, -1 without; the last put of all; how many keys
    it has then, and how many before the last put."""
    newest = np.full(max(keys, 1), -1, np.int64)
    put = codes[is_new]
    if not len(put):
        return newest, 0, 0, 0
    newest[put] = queue_offset[is_new]
    return newest, int(queue_offset[is_new][-1]), len(np.unique(put)), len(np.unique(put[:-1]))


def _drop_disorder(queue_offset: Longs, fate: npt.NDArray[np.int8], is_read: npt.NDArray[np.bool_]) -> None:
    """A message that is not after the last one kept is taken for one that is there already."""
    kept = np.flatnonzero(is_read & (fate == Fate.KEPT))
    offsets = queue_offset[kept]
    behind = offsets[1:] > np.maximum.accumulate(offsets)[:-1]
    fate[kept[1:][~behind]] = Fate.NOT_BEHIND_KEPT


def room(settings: StoreSettings, version: BrokerVersion) -> tuple[int, int]:
    """The least and the greatest number of keys that one pass may have room for, by the broker's processors.

    Before 5.1.1 a compactionThreadNum of 6 counts as not said: such a broker's own default is another.
    """
    said = settings.compaction_thread_num
    if version.bounds_compaction_threads:
        return _capacity(settings, said), _capacity(settings, 1)
    if said > 0 and said != StoreSettings().compaction_thread_num:
        return _capacity(settings, said), _capacity(settings, said)
    return _capacity(settings, MOST_PROCESSORS), _capacity(settings, 1)


def _capacity(settings: StoreSettings, threads: int) -> int:
    """Keys that one pass has room for. Source: CompactionStore, CompactionLog.OffsetMap @5.3.3."""
    return max(settings.max_offset_map_size // max(1, threads) // MAP_ENTRY_BYTES, LEAST_KEYS)


def _max_queue_offset(offsets: npt.NDArray[np.void]) -> int:
    return int(offsets[-1]) if len(offsets) else NO_PASS


def _failing(copy: _Copy, fate: npt.NDArray[np.int8], newer: Longs, why: str, keys: int = 0) -> NextPass:
    """A pass that throws changes nothing, and is begun again each time."""
    fate[fate != Fate.WRITTEN_TO] = Fate.KEPT
    newer[:] = -1
    return NextPass(copy.queue_offset, fate, newer, False, f"the pass fails and changes nothing: {why}", keys)


def _unknown(why: str, keys: int = 0) -> NextPass:
    none = np.empty(0, np.int64)
    return NextPass(none, none.astype(np.int8), none, None, why, keys)
