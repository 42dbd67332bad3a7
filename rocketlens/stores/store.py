"""One broker's store, and every question about it."""

from __future__ import annotations

from pipelines.cli.frame.visible import as_named
from pipelines.installed.addresses import is_address, written_address
from rocketlens.gathered import at_hand
from rocketlens.piece import Piece
from rocketlens.stores.care import Care
from rocketlens.stores.files import Files
from rocketlens.stores.groups import Groups
from rocketlens.stores.stories import Stories


class Store(Files, Groups, Stories, Care):
    """Asks the files at `path` anew with each call. Every method raises RocketlensError: one sentence."""

    def __repr__(self) -> str:
        path = written_address(self.path) if is_address(self.path) else self.path
        return f"<Store {path}{f', version {self._broker.version}' if self._broker.version else ''}>"

    def _repr_html_(self) -> str:
        from pipelines.notebook.outlines import store_outline

        queues = self.queues().printed()
        with at_hand(self.path) as folder:
            return as_named(Piece(store_outline(folder, self.said, queues))._repr_html_())
