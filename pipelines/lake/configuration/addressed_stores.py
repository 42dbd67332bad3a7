"""Stores at addresses that `rocketlens.toml` names, as folders of this machine while they are read."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from pipelines.installed.extras import OBJECTS, need
from pipelines.lake.configuration.sources import BrokerSource, Sources

if TYPE_CHECKING:
    from pipelines.objects.listing import StoreView
    from pipelines.objects.place import ObjectPlace


@contextmanager
def stores_here(sources: Sources, names: Collection[str] | None = None) -> Iterator[Sources]:
    """The configuration with a folder in place of each store at an address, which is listed once; it goes with the
    block. Of one whose server refuses it is said why (`BrokerSource.refused`).

    `names`: the brokers that are asked about; all of them without it.
    Raises BytesRefused at the end of the block, for bytes that a server refused in it.
    """
    away = {one.name: one.address for one in sources.brokers if one.address and (names is None or one.name in names)}
    if not away:
        yield sources
        return
    need(*OBJECTS)
    with ExitStack() as views:
        brokers = (_here(one, away[one.name], views) if one.name in away else one for one in sources.brokers)
        yield replace(sources, brokers=tuple(brokers))


@contextmanager
def at_hand(view: StoreView | None) -> Iterator[None]:
    """Let the bytes of a broker's store come, where it is at an address (`pipelines.objects.view`), in a worker or
    within `stores_here`. Raises BytesRefused at the end of the block, for bytes that a server refused in it."""
    if view is None:
        yield
        return
    from pipelines.objects.view import at_hand as seen_from_here

    with seen_from_here(view):
        yield


def _here(broker: BrokerSource, address: ObjectPlace, views: ExitStack) -> BrokerSource:
    from pipelines.objects.view import viewed

    try:
        view = views.enter_context(viewed(address, is_shared=True))
    except OSError as refused:
        return replace(broker, refused=f"{address}: {refused.strerror or refused}")
    return replace(broker, store=view.folder, view=view)
