"""Where to read on in a CommitLog file that a broker still appends to."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from parsers.commitlog.record.message import decode_message
from parsers.damage.errors import StoreFormatError
from parsers.evidence.mapped import map_file
from pipelines.lake.configuration.sources import BrokerSource
from pipelines.lake.lake import Lake

LAST_ROWS = """
SELECT file,
       max(physical_offset) AS physical_offset,
       arg_max(total_size, physical_offset) AS total_size,
       arg_max(body_crc, physical_offset) AS body_crc,
       arg_max(store_timestamp, physical_offset) AS store_timestamp
FROM commitlog_messages
WHERE broker = $broker AND list_contains($files, file)
GROUP BY file
"""


def grown_from(lake: Lake, broker: BrokerSource, files: Sequence[str]) -> dict[str, int]:
    """For each file that the lake holds the beginning of: the byte of the file where its rows in the lake end.

    A log is only appended to, or cut at its end and then appended to. So when the last record in the lake is still the
    record at that place in the file, everything before it is unchanged too; else the file is not in the answer and is
    read from its start.
    """
    starts = {}
    for last in lake.query_broker(LAST_ROWS, broker.name, files=list(files)).to_pylist():
        file_pos = last["physical_offset"] - int(last["file"].rsplit("/", 1)[-1])
        if _is_still_there(broker, last, file_pos):
            starts[last["file"]] = file_pos + last["total_size"]
    return starts


def _is_still_there(broker: BrokerSource, last: dict[str, object], file_pos: int) -> bool:
    stored_at = last["store_timestamp"]
    try:
        message = decode_message(map_file(broker.store / str(last["file"])), file_pos)
    except StoreFormatError:
        return False
    return (
        isinstance(stored_at, datetime)
        and message.physical_offset == last["physical_offset"]
        and message.total_size == last["total_size"]
        and message.body_crc == last["body_crc"]
        and message.store_timestamp_ms == round(stored_at.timestamp() * 1000)
    )
