"""One broker's store, and every question about it."""

from __future__ import annotations

from rocketlens.gathered import sentences
from rocketlens.piece import Piece
from rocketlens.stores.care import Care
from rocketlens.stores.files import Files
from rocketlens.stores.groups import Groups
from rocketlens.stores.stories import Stories


class Store(Files, Groups, Stories, Care):
    """Asks the files at `path` anew with each call. Every method raises RocketlensError: one sentence."""

    def __repr__(self) -> str:
        return f"<Store {self.path}{f', version {self._broker.version}' if self._broker.version else ''}>"

    def _repr_html_(self) -> str:
        from pipelines.notebook.outlines import store_outline

        queues = self.queues().printed()
        with sentences():
            return Piece(store_outline(self.path, self.said, queues))._repr_html_()
