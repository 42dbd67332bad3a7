"""Where the log of a store lies: what storePathCommitLog and its like name, seen from a root that may be a copy.

A folder inside `storePathRootDir` lies at the same place inside the root that is looked at. Any other is taken as it is
named; a relative one counts from the root.
Source: MultiPathMappedFileQueue#load, CommitLog#CommitLog @4.9.2 … 5.3.3; DLedgerConfig#getDataStorePath.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import NamedTuple

from parsers.store.places import DATA_FOLDER, ELSEWHERE, MAX_DIGITS, name_below
from parsers.store.sequence import holes
from parsers.store.store import Store
from parsers.values.java import LONG_MAX, utf16_order
from recovery.rules.settings import StoreSettings

OWN_FOLDER = "commitlog"
MARKS = ("abort", "lock")
HOW_TO_SAY = "give the broker.conf with --broker-conf FILE, or the folder with --config storePathCommitLog=FOLDER"


class LogFolders(NamedTuple):
    """The folders of the CommitLog, and those of a DLedger log that a setting names."""

    commitlog: tuple[Path, ...]
    dledger: tuple[Path, ...]


class NamedFolder(NamedTuple):
    """A folder as a setting names it, and where it lies seen from the root."""

    setting: str
    text: str
    folder: Path


def log_folders(root: Path, settings: StoreSettings) -> LogFolders:
    """Where the log lies; commitlog/ of the root where no setting says otherwise. A folder that two settings name in
    the same words is one. MultiPathMappedFileQueue#load (a set of names) @4.9.2, 5.5.1."""
    named = list(named_folders(root, settings))
    dledger = tuple(found.folder for found in named if found.setting == "storePathDLedgerCommitLog")
    commitlog = {found.text: found.folder for found in named if found.setting != "storePathDLedgerCommitLog"}
    return LogFolders(tuple(commitlog.values()) or (root / OWN_FOLDER,), dledger)


def named_folders(root: Path, settings: StoreSettings) -> Iterator[NamedFolder]:
    """Every folder of the log that a setting names. A broker with one path does not look at the read-only ones."""
    splitter, paths = settings.multi_path_splitter, settings.store_path_commit_log
    several = {"storePathCommitLog": paths}
    if splitter in paths:
        several["readOnlyCommitLogStorePaths"] = settings.read_only_commit_log_store_paths
    several["storePathDLedgerCommitLog"] = settings.store_path_dledger_commit_log
    for setting, value in several.items():
        texts = (text.strip() for text in value.split(splitter))
        for text in dict.fromkeys(filter(None, texts)):
            yield NamedFolder(setting, text, _seen_from(root, settings.store_path_root_dir, text))


def epoch_file(root: Path, settings: StoreSettings) -> Path | None:
    """The file of epochs that a setting names; None where none does, and the broker's own place counts.

    That is the root since 5.1.1. Before, it is `~/store` of the broker's user, so such a broker's root has the file
    where it is `~/store` itself. Source: MessageStoreConfig#getStorePathEpochFile @5.0.0, 5.1.0, 5.1.1, 5.3.3.
    """
    text = settings.store_path_epoch_file
    return _seen_from(root, settings.store_path_root_dir, text) if text else None


def tiered_folder(root: Path, settings: StoreSettings) -> Path | None:
    """The folder of the segments of a tiered store on disk; None where no setting names one, or it is not there.

    Source: PosixFileSegment#PosixFileSegment @5.3.0 … 5.3.3.
    """
    text = settings.tiered_store_file_path
    folder = _seen_from(root, settings.store_path_root_dir, text) if text else None
    return folder if folder is not None and folder.is_dir() else None


def why_no_epochs(store: Store, settings: StoreSettings) -> str | None:
    """A sentence where a setting names a file of epochs that is not there; else None."""
    if store.epoch_file is None or store.epochs:
        return None
    setting, text = "storePathEpochFile", settings.store_path_epoch_file
    sentence = f"{store.epoch_file}: no such file, and {setting}={text} says that the epochs lie there"
    copy = _copy_beside(store.root, settings.store_path_root_dir, text)
    where = "elsewhere, say where with" if copy is None else f"to {copy}, say"
    follow = f"if it was copied {where} --config {setting}={copy or 'FILE'}"
    return f"{sentence}; a broker without it takes itself for a new replica; {follow}"


def next_log_folder(settings: StoreSettings, base_offset: int, full: Collection[str] = ()) -> str | None:
    """The folder, as storePathCommitLog names it, that a new file of the log is made in; None where no file can be.

    Read-only folders take none, nor do those in `full` (disks used above diskSpaceCleanForciblyRatio) unless all others
    are full, too; the rest take turns in the order of their names. MultiPathMappedFileQueue#tryCreateMappedFile @4.9.2.
    """
    splitter, paths = settings.multi_path_splitter, settings.store_path_commit_log
    if splitter not in paths:
        return paths or OWN_FOLDER
    read_only = {text.strip() for text in settings.read_only_commit_log_store_paths.split(splitter)}
    writable = {text.strip() for text in paths.split(splitter)} - read_only - {""}
    folders = sorted(writable.difference(full) or writable, key=utf16_order)
    return folders[base_offset // settings.mapped_file_size_commit_log % len(folders)] if folders else None


def taking_turns(root: Path, settings: StoreSettings, base_offset: int, *, is_alone: bool = False) -> str | None:
    """Where a new file of the log goes, as rows name folders; None for a log in one folder, whose files show it, unless
    it has none yet (`is_alone`)."""
    if settings.multi_path_splitter not in settings.store_path_commit_log and not is_alone:
        return None
    named = next_log_folder(settings, base_offset)
    return None if named is None else name_below(root, _seen_from(root, settings.store_path_root_dir, named))


def _seen_from(root: Path, root_as_named: str, text: str) -> Path:
    if root_as_named and (below := Path(text)).is_relative_to(root_as_named):
        return root / below.relative_to(root_as_named)
    return root / text


def why_no_log(store: Store, settings: StoreSettings) -> str | None:
    """A sentence where the log is not there, naming the setting that says or would say where it lies; else None.

    A folder commitlog/ without files is a log that lost its files, which is for the readers to tell; one with the log's
    files in a folder of its own below it is not the log's. A root that holds nothing but the marks of a running broker
    is a new one.
    """
    for named in named_folders(store.root, settings):
        if not named.folder.is_dir():
            return _missing(store.root, settings, named)
    if store.log_is_dledgers or (settings.store_path_commit_log and store.commitlog):
        return None
    elsewhere = _log_folders_elsewhere(store)
    if elsewhere and settings.store_path_commit_log:
        return (
            f"{store.root}: storePathCommitLog={settings.store_path_commit_log} names a folder without a file of the "
            f"log, and files of one lie in {', '.join(elsewhere)}: a broker that starts so has an empty log and "
            f"deletes its queues; if they are the log, say --config storePathCommitLog={elsewhere[0]}"
        )
    if elsewhere:
        folders = settings.multi_path_splitter.join([OWN_FOLDER, *elsewhere] if store.commitlog else elsewhere)
        return (
            f"{store.root}: files of the log lie in {', '.join(elsewhere)}, where no broker looks untold; say "
            f"so with --config storePathCommitLog={folders}, or give the broker.conf with --broker-conf FILE"
        )
    if settings.store_path_commit_log:
        return None
    is_used = any(file.kind not in (*MARKS, "not_understood") for file in store.files())
    if store.dledger and not store.commitlog:
        node = name_below(store.root, store.dledger[0].path).partition("/")[0]
        return (
            f"{store.root}: holds no log: {node}/{DATA_FOLDER}/ has no file, and what lies beside it is there; if the "
            "DLedger log lies elsewhere, say where with --config storePathDLedgerCommitLog=FOLDER; if its files are "
            "lost, the group's other nodes have them (`rocketlens compare`)"
        )
    if is_used and not store.commitlog and not log_folders(store.root, settings).commitlog[0].is_dir():
        return (
            f"{store.root}: holds no log: there is no {OWN_FOLDER}/ in it, and the setting storePathCommitLog (with "
            f"DLedger storePathDLedgerCommitLog), which says where else it lies, is missing; {HOW_TO_SAY}"
        )
    return None


def _log_folders_elsewhere(store: Store) -> list[str]:
    """Folders of the root, other than the log's own, whose files fill holes of the log, or are the log where it has no
    files: those of a broker with several storePathCommitLog."""
    wanted = list(holes(store.commitlog)) if store.commitlog else [(0, LONG_MAX)]
    found: dict[str, None] = {}
    for file in store.not_understood:
        name = file.path.name
        is_log_like = file.why == ELSEWHERE and len(name) == MAX_DIGITS and name.isascii() and name.isdigit()
        if is_log_like and file.size and any(begin <= int(name) < end for begin, end in wanted):
            found[name_below(store.root, file.path.parent)] = None
    return list(found)


def _missing(root: Path, settings: StoreSettings, named: NamedFolder) -> str:
    """The sentence on a folder that is named and not there, with the place of a copy where one is found."""
    sentence = f"{named.folder}: no such folder, and {named.setting}={named.text} says that the log lies there"
    copy = _copy_beside(root, settings.store_path_root_dir, named.text)
    if copy is not None:
        return f"{sentence}; if it was copied along to {copy}, say --config {named.setting}={copy}"
    return f"{sentence}; if it was copied elsewhere, say where with --config {named.setting}=FOLDER"


def _copy_beside(root: Path, root_as_named: str, text: str) -> Path | None:
    """The folder or file that lies to this root as the named one lies to the named root, where there is one."""
    if not (os.path.isabs(text) and os.path.isabs(root_as_named)):
        return None
    copy = Path(os.path.normpath(root.absolute() / os.path.relpath(text, root_as_named)))
    return copy if copy.exists() else None
