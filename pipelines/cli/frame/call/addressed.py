"""Stores at addresses among the arguments of a command (`rocketlens queues s3://bucket/store`), and files of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from pipelines.cli.frame.errors import WrongUsage
from pipelines.cli.frame.visible import show_as
from pipelines.installed.addresses import is_address, written_address
from pipelines.installed.extras import OBJECTS, need
from pipelines.objects.protocols import scheme_of

STORES = ("store", "stores", "source", "file")
"""The arguments that name stores, or files of them."""


@contextmanager
def stores_here(given: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The arguments, with a place of this machine for each address of a store, or of a file of one; what is said of the
    place names the address.

    Addresses of other protocols stay, to be refused.

    Raises:
        WrongUsage: what looks like an address of these protocols is none.
        OSError: the server refuses, or there is no room for what is fetched.
    """
    folders, changed = dict[str, Path](), dict[str, Any]()
    with ExitStack() as open_views:

        def here(place: Path) -> Path:
            address = written_address(place)
            scheme = scheme_of(address) if is_address(place) else None
            if scheme is None:
                return place
            need(*OBJECTS)
            from pipelines.objects.place import ObjectPlace
            from pipelines.objects.storage import Storage
            from pipelines.objects.view import viewed

            if address not in folders:
                try:
                    there = ObjectPlace.of(address, Storage(scheme=scheme))
                except ValueError as wrong:
                    raise WrongUsage(str(wrong)) from wrong
                folders[address] = open_views.enter_context(viewed(there)).folder
                show_as(str(folders[address]), address)
            return folders[address]

        for name in STORES:
            value = given.get(name)
            if isinstance(value, Path):
                changed[name] = here(value)
            elif isinstance(value, list):
                changed[name] = [here(each) for each in value]
        yield {**given, **changed}
