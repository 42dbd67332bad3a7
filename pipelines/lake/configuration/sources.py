"""`rocketlens.toml`: where the lake is and which brokers, clients and captures are looked at. One file, read once.

Relative paths count from the folder of the file, so that it may be kept beside the evidence and started from anywhere.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from glob import glob
from pathlib import Path
from typing import TYPE_CHECKING, Any

from parsers.damage.errors import why_unreadable
from parsers.evidence.mapped import read_small
from parsers.evidence.seen import files_below
from parsers.values.java import property_text
from pipelines.installed.addresses import is_address, why_refused
from pipelines.installed.shipped import DEMO, workplace
from pipelines.lake.configuration.spark_properties import spark_properties
from pipelines.objects.place import ObjectPlace, Place
from pipelines.objects.protocols import HOW_WRITTEN, scheme_of
from pipelines.objects.storage import Storage

if TYPE_CHECKING:
    from pipelines.objects.listing import StoreView

CONFIG_NAME = "rocketlens.toml"
MOST_BYTES = 1 << 22
CONFIG_VARIABLE = "ROCKETLENS_CONFIG"
WEB_ADDRESS = re.compile(r"https?://[!-~]+")
DEMO_CONFIG = DEMO / CONFIG_NAME
HOW_TO_MAKE = "`rocketlens init STORE…` writes one from what it finds"


class SourcesError(Exception):
    """The configuration cannot be used: one sentence with the file, the key, and what was expected."""


class NoConfiguration(SourcesError):
    """No rocketlens.toml is named, and none is here or above: one sentence that says how to make one."""


@dataclass(frozen=True, slots=True)
class BrokerSource:
    """One broker's evidence. `settings` are RocketMQ's own names; `version` None means unknown, never guessed.

    Attributes:
        store: the folder, or that in its place of a store at an address (`addressed_stores.stores_here`).
        until: the store is read as far as this physical offset, as its tables of one ingest are
            (`recovery.query.watermark`); None: as far as it goes.
        address: where the store is on an object store; None of a folder.
        view: it as it was listed; `refused`: why it was not.
    """

    name: str
    store: Path
    broker_id: int = 0
    cluster: str = "DefaultCluster"
    logs: Path | None = None
    version: str | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    broker_conf: Path | None = None
    until: int | None = None
    address: ObjectPlace | None = None
    view: StoreView | None = None
    refused: str | None = None

    @property
    def place(self) -> str:
        """Where the store is, as it is named."""
        return str(self.address or self.store)

    def cut_at(self, physical_offset: int | None) -> BrokerSource:
        """This broker, whose store is read as far as a physical offset (None: as far as it goes)."""
        return replace(self, until=physical_offset)


@dataclass(frozen=True, slots=True)
class ReplicaGroup:
    """Brokers, by their names, whose stores are replicas of one another; `group_size`: nodes of a DLedger group."""

    brokers: tuple[str, ...]
    group_size: int | None = None


@dataclass(frozen=True, slots=True)
class Sources:
    """What one `rocketlens.toml` says, with absolute paths.

    Attributes:
        lake: where every output goes (tables, catalogue, and of a folder Dagster's own store): a folder, or a place of
            an object store.
        bodies: keep message bodies in the lake (they are most of the bytes).
        client_logs, captures: glob patterns.
        spark_properties: what the table [spark] sets, under Spark's own names.
        webhook: the address that alerts are posted to (pipelines.lake.alert).
    """

    lake: Place
    brokers: tuple[BrokerSource, ...] = ()
    bodies: bool = False
    client_logs: tuple[str, ...] = ()
    captures: tuple[str, ...] = ()
    spark_master: str = "local[*]"
    spark_properties: Mapping[str, str] = field(default_factory=dict)
    replicas: tuple[ReplicaGroup, ...] = ()
    webhook: str | None = None

    def evidence(self) -> list[Path]:
        """Every file and folder that is read: stores, settings, logs, captures; patterns as they match now."""
        stores = [one.store for one in self.brokers if one.address is None or one.view is not None]
        named = [*stores, *(path for one in self.brokers for path in (one.broker_conf, one.logs) if path)]
        patterns = (*self.client_logs, *self.captures)
        return [*named, *(Path(path) for pattern in patterns for path in glob(pattern, recursive=True))]

    def recorded_files(self) -> list[Path]:
        """The logs and captures that are there, each once however often it is named."""
        patterns = (*self.client_logs, *self.captures)
        named = [broker.logs for broker in self.brokers if broker.logs is not None]
        named += [Path(path) for pattern in patterns for path in sorted(glob(pattern, recursive=True))]
        return list({path.resolve(): path for place in named for path in files_below(place)}.values())

    def broker(self, name: str) -> BrokerSource:
        """The broker of that name. Raises SourcesError naming the ones there are."""
        for broker in self.brokers:
            if broker.name == name:
                return broker
        known = ", ".join(broker.name for broker in self.brokers) or "none"
        raise SourcesError(f"no broker {name!r} in the configuration (known: {known})")


def read_sources(path: Path) -> Sources:
    """Read and check one `rocketlens.toml`. Raises SourcesError: one sentence."""
    try:
        document = tomllib.loads(read_small(path, MOST_BYTES).decode("utf-8"))
    except FileNotFoundError:
        raise SourcesError(f"{path}: no such file; {HOW_TO_MAKE}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise SourcesError(f"{path}: cannot be read: {why_unreadable(error)}") from None
    except tomllib.TOMLDecodeError as error:
        raise SourcesError(f"{path}: not valid TOML: {error}") from None
    except (ValueError, RecursionError):
        raise SourcesError(f"{path}: not valid TOML: a number or a nesting beyond all measure") from None
    return _Reader(path).sources(document)


def configured_file(named: str | Path | None = None) -> Path:
    """The file that is named, else $ROCKETLENS_CONFIG, else the nearest one. Raises NoConfiguration: one sentence."""
    chosen = named or os.environ.get(CONFIG_VARIABLE)
    return Path(chosen) if chosen else find_config(Path.cwd())


def find_config(start: Path) -> Path:
    """`rocketlens.toml` in `start` or the nearest folder above it. Raises NoConfiguration when there is none."""
    for folder in (start.resolve(), *start.resolve().parents):
        if (folder / CONFIG_NAME).is_file():
            return folder / CONFIG_NAME
    raise NoConfiguration(f"no {CONFIG_NAME} in {start} or above it: {HOW_TO_MAKE}, or name one with --config-file")


def demo_config() -> Path:
    """The demo's configuration where it is worked with; an installed rocketlens has it there once the demo has run."""
    return workplace() / "demo" / CONFIG_NAME


class _Reader:
    """Checks one document; every complaint names the file and the key."""

    def __init__(self, path: Path) -> None:
        self.path, self.folder = path, path.resolve().parent

    def sources(self, document: Mapping[str, Any]) -> Sources:
        self.only(document, "the file", {"lake", "spark", "broker", "client", "capture", "replicas", "alert"})
        lake = self.table(document, "lake")
        self.only(lake, "[lake]", {"path", "bodies", "spark_master", "storage"})
        storage = self.table(lake, "storage")
        brokers = tuple(
            self.broker(entry, number, storage) for number, entry in enumerate(self.tables(document, "broker"), 1)
        )
        names = [broker.name for broker in brokers]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise self.complaint(f"two [[broker]] entries are named {twice[0]!r}; names must differ")
        return Sources(
            lake=self.lake_at(lake, storage, is_for_stores=any(broker.address is not None for broker in brokers)),
            brokers=brokers,
            bodies=self.flag(lake, "bodies", "[lake]"),
            client_logs=self.globs(document, "client", "logs"),
            captures=self.globs(document, "capture", "files"),
            spark_master=self.spark_master(lake),
            spark_properties=self.spark(document),
            webhook=self.webhook(document),
            replicas=tuple(
                self.replicas(entry, number, names) for number, entry in enumerate(self.tables(document, "replicas"), 1)
            ),
        )

    def lake_at(self, lake: Mapping[str, Any], storage: Mapping[str, Any], *, is_for_stores: bool) -> Place:
        path = self.text(lake, "path", "[lake]", "lake")
        if there := self.address(path, storage):
            return there
        if storage and not is_for_stores:
            raise self.complaint(f"[lake.storage] is about a lake, or stores, at {HOW_WRITTEN}, and none is there")
        if is_address(path):
            raise self.complaint(f"[lake] path {path!r}: a lake is in a folder of this machine, or at {HOW_WRITTEN}")
        return self.place(path)

    def address(self, text: str, storage: Mapping[str, Any]) -> ObjectPlace | None:
        """The place of an address in a protocol that is spoken; None of any other text."""
        try:
            scheme = scheme_of(text)
            return None if scheme is None else ObjectPlace.of(text, Storage.read(storage, scheme))
        except ValueError as wrong:
            raise self.complaint(str(wrong)) from None

    def spark_master(self, lake: Mapping[str, Any]) -> str:
        master = self.text(lake, "spark_master", "[lake]", "local[*]")
        if master.startswith("sc://"):
            raise self.complaint(f"[lake] spark_master {master!r}: Spark Connect is not spoken; name the master itself")
        return master

    def spark(self, document: Mapping[str, Any]) -> dict[str, str]:
        try:
            return spark_properties(self.table(document, "spark"))
        except ValueError as wrong:
            raise self.complaint(str(wrong)) from None

    def webhook(self, document: Mapping[str, Any]) -> str | None:
        alert = self.table(document, "alert")
        self.only(alert, "[alert]", {"webhook"})
        if "webhook" not in alert:
            return None
        address = self.text(alert, "webhook", "[alert]")
        if not WEB_ADDRESS.fullmatch(address):
            raise self.complaint("[alert]: webhook must be an address, http://… or https://…")
        return address

    def replicas(self, entry: Mapping[str, Any], number: int, known: Sequence[str]) -> ReplicaGroup:
        where = f"[[replicas]] number {number}"
        self.only(entry, where, {"brokers", "group_size"})
        names = entry.get("brokers")
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names) or len(set(names)) < 2:
            raise self.complaint(f"{where}: brokers must be a list of two names or more")
        if strange := next((name for name in names if name not in known), None):
            raise self.complaint(f"{where}: no [[broker]] is named {strange!r}")
        size = entry.get("group_size")
        if size is not None and (type(size) is not int or size < 2):
            raise self.complaint(f"{where}: group_size must be a whole number from 2, not {size!r}")
        return ReplicaGroup(tuple(dict.fromkeys(names)), size)

    def broker(self, entry: Mapping[str, Any], number: int, storage: Mapping[str, Any]) -> BrokerSource:
        where = f"[[broker]] number {number}"
        self.only(entry, where, {"name", "id", "cluster", "store", "logs", "version", "broker_conf", "settings"})
        name = self.text(entry, "name", where)
        if "/" in name or not name.isprintable():
            raise self.complaint(f"{where}: name {name!r} may hold neither '/' nor control characters")
        broker_id = entry.get("id", 0)
        if type(broker_id) is not int or broker_id < 0:
            raise self.complaint(f"{where}: id must be a whole number from 0 (0 is the master), not {broker_id!r}")
        settings = entry.get("settings", {})
        if not isinstance(settings, Mapping):
            raise self.complaint(f"{where}: settings must be a table of RocketMQ's property names")
        store = self.text(entry, "store", where)
        address = self.address(store, storage)
        return BrokerSource(
            name=name,
            store=Path(store) if address is not None else self.place(store),
            address=address,
            broker_id=broker_id,
            cluster=self.text(entry, "cluster", where, "DefaultCluster"),
            logs=self.place(self.text(entry, "logs", where)) if "logs" in entry else None,
            version=self.text(entry, "version", where) if "version" in entry else None,
            settings={key: property_text(value) for key, value in settings.items()},
            broker_conf=self.place(self.text(entry, "broker_conf", where)) if "broker_conf" in entry else None,
        )

    def globs(self, document: Mapping[str, Any], table: str, key: str) -> tuple[str, ...]:
        patterns = []
        for number, entry in enumerate(self.tables(document, table), 1):
            where = f"[[{table}]] number {number}"
            self.only(entry, where, {key})
            patterns.append(str(self.place(self.text(entry, key, where))))
        return tuple(patterns)

    def table(self, document: Mapping[str, Any], key: str) -> Mapping[str, Any]:
        value = document.get(key, {})
        if not isinstance(value, Mapping):
            raise self.complaint(f"{key} must be a table, written [{key}]")
        return value

    def tables(self, document: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
        value = document.get(key, [])
        if not isinstance(value, list) or not all(isinstance(entry, Mapping) for entry in value):
            raise self.complaint(f"{key} must be a list of tables, written [[{key}]]")
        return value

    def text(self, table: Mapping[str, Any], key: str, where: str, default: str | None = None) -> str:
        value = table.get(key, default)
        if value is None:
            raise self.complaint(f"{where}: {key} is missing")
        if not isinstance(value, str) or not value:
            raise self.complaint(f"{where}: {key} must be text in quotes, not {value!r}")
        return value

    def flag(self, table: Mapping[str, Any], key: str, where: str) -> bool:
        value = table.get(key, False)
        if not isinstance(value, bool):
            raise self.complaint(f"{where}: {key} must be true or false, not {value!r}")
        return value

    def only(self, table: Mapping[str, Any], where: str, known: set[str]) -> None:
        if strange := sorted(set(table) - known):
            raise self.complaint(f"{where}: unknown key {strange[0]!r} (known: {', '.join(sorted(known))})")

    def place(self, text: str) -> Path:
        if is_address(text):
            raise self.complaint(why_refused(text))
        try:
            return Path(os.path.normpath(self.folder / Path(text).expanduser()))
        except RuntimeError:
            raise self.complaint(f"{text!r}: there is no user of that name") from None

    def complaint(self, problem: str) -> SourcesError:
        return SourcesError(f"{self.path}: {problem}")
