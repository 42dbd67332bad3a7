"""`rocketmq_checkpoint`: the checkpoint file of a store; and `rocketmq_epochs`: those of controller mode."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pipelines.spark.sources.slices import Piece
from pipelines.spark.sources.source import StoreReader, StoreSource

if TYPE_CHECKING:
    import pyarrow as pa


class CheckpointReader(StoreReader):
    """Further option: `version` of the broker, which tells a field it does not have from one that is 0."""

    def read_piece(self, piece: Piece) -> Iterator[pa.RecordBatch]:
        from parsers.checkpoints.checkpoint import checkpoint_to_batch, read_checkpoint
        from recovery.rules.versions import BrokerVersion

        version = BrokerVersion.parse(self.options["version"]) if "version" in self.options else None
        checkpoint = read_checkpoint(piece.file, version=version, on_damage="collect", damage=self.note_damage)
        if checkpoint is not None:
            yield checkpoint_to_batch(piece.file, checkpoint)


class CheckpointSource(StoreSource):
    format_name = "rocketmq_checkpoint"
    table_name = "checkpoints"
    reader_class = CheckpointReader


class EpochReader(StoreReader):
    def read_piece(self, piece: Piece) -> Iterator[pa.RecordBatch]:
        from parsers.checkpoints.epochs import epochs_to_batch, read_epochs

        found = read_epochs([piece.file], on_damage="collect", damage=self.note_damage)
        if found is not None:
            yield epochs_to_batch(piece.file.name, found[1])


class EpochSource(StoreSource):
    format_name = "rocketmq_epochs"
    table_name = "epochs"
    reader_class = EpochReader
