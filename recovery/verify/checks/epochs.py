"""The epochs of a broker in controller mode: readable, rising, and within the log.

Source: EpochFileCache#appendEntry, #truncateSuffixByOffset, #truncatePrefixByOffset, CheckpointFile#read @5.0.0, 5.3.3.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from parsers.checkpoints.epochs import Epoch, EpochsRead, load_epochs
from parsers.damage.errors import StoreFormatError
from parsers.store.places import BACKUP
from parsers.store.store import Store
from parsers.store.store_file import StoreFile
from recovery.verify.findings.finding import Explained, Finding, Judgement, Place, Span

UNREADABLE, BACKUP_UNREADABLE, WRONG = "epochs_unreadable", "epochs_backup_unreadable", "epochs_wrong"
NOT_WRITTEN = "; or its broker cut off all epochs, which leaves the file as it was (CheckpointFile#write)"


def check_epochs(store: Store, log_end: int) -> Judgement:
    """What is wrong with the epochs of a store; nothing of one without an epoch file.

    After an unclean exit the log may lack what was not forced to disk, and an epoch that began there is explained.

    Args:
        log_end: the end of the log as far as log, queues and index know it, a physical offset.
    """
    read = load_epochs(store.epochs)
    unreadable = tuple(_unreadable(read, error) for error in read.refused)
    if read.file is not None and not read.file.name.endswith(BACKUP):
        backup = load_epochs(file for file in store.epochs if file is not read.file)
        unreadable = tuple(_unreadable(read, error, BACKUP_UNREADABLE) for error in backup.refused)
    if read.file is None:
        return Judgement(unreadable)
    if all(file.name.endswith(BACKUP) for file in store.epochs):
        name, told = read.file.name.removesuffix(BACKUP), f"the broker goes by {read.file.name}"
        unreadable = (Finding(UNREADABLE, Span(), (Place(name, 0, 0),), 1, (f"{name}: it is not there", told)),)
    beyond = [each for each in read.epochs if each.start_physical_offset > log_end]
    disorder = list(_disorder(read.epochs))
    findings = [_finding(read.file, each, why) for each, why in disorder]
    explained: list[Explained] = []
    if beyond and beyond[0] not in [each for each, _ in disorder]:
        why = f"the log ends at {log_end}"
        if store.abort_present:
            explained.append(Explained("epoch without its messages", f"{why}, and the broker did not stop in order"))
        else:
            is_left = len(beyond) == len(read.epochs)
            findings.append(_finding(read.file, beyond[0], f"{why}{NOT_WRITTEN if is_left else ''}"))
    return Judgement((*unreadable, *findings), tuple(explained))


def _disorder(epochs: Sequence[Epoch]) -> Iterator[tuple[Epoch, str]]:
    """Each epoch that does not begin after the one before it. appendEntry takes no other."""
    for epoch in epochs[:1]:
        if epoch.start_physical_offset < 0 or epoch.epoch < 0:
            yield epoch, "it is below 0"
    for before, epoch in pairwise(epochs):
        if epoch.start_physical_offset <= before.start_physical_offset:
            yield epoch, f"epoch {before.epoch} began at {before.start_physical_offset}"


def _unreadable(read: EpochsRead, error: StoreFormatError, kind: str = UNREADABLE) -> Finding:
    told = "a broker in controller mode does not start" if read.stops_broker else "the broker knows no epoch"
    told = told if read.file is None else f"the broker goes by {read.file.name}"
    name = error.path.name if error.path else ""
    return Finding(kind, Span(), (Place(name, 0, 0),), 1, (f"{name}: {error.problem}", told))


def _finding(file: StoreFile, epoch: Epoch, why: str) -> Finding:
    start = epoch.start_physical_offset
    told = (f"epoch {epoch.epoch} begins at {start}", why)
    return Finding(WRONG, Span(physical_offset=start), (Place(file.name, 0, file.size),), 1, told)
