"""What Java's classes tell of a message (`MessageExt` as JSON), as columns of `commitlog_messages`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

FIELDS = {
    "topic": "topic",
    "queue_id": "queueId",
    "queue_offset": "queueOffset",
    "physical_offset": "physicalOffset",
    "total_size": "size",
    "magic_code": "magic",
    "flag": "flag",
    "sys_flag": "sysFlag",
    "body_crc": "bodyCRC",
    "reconsume_times": "reconsumeTimes",
    "prepared_transaction_offset": "preparedTransactionOffset",
    "body_size": "bodyLength",
    "message_id": "msgId",
}
TIMES = {"born_timestamp": "bornTimestamp", "store_timestamp": "storeTimestamp"}
HOSTS = {"born_host": "bornHost", "store_host": "storeHost"}


def columns_of(told: Mapping[str, Any]) -> dict[str, Any]:
    """The columns of one message: times in microseconds, hosts without the name that Java has before the slash."""
    return {
        **{column: told[name] for column, name in FIELDS.items()},
        **{column: told[name] * 1000 for column, name in TIMES.items()},
        **{column: told[name].partition("/")[2] for column, name in HOSTS.items()},
    }
