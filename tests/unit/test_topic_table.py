"""Topics met while scanning keep their codes and names however many there are."""

from __future__ import annotations

import numpy as np

from parsers.commitlog.record.message import encode_message
from parsers.kernels.java_hash import MALFORMED
from recovery.rules.dispatch import DispatchRules
from recovery.rules.settings import StoreSettings
from recovery.rules.versions import BrokerVersion
from recovery.scan.scanner import LogScanner
from recovery.scan.topic_table import FIRST_ROOM, TopicTable, look_up
from tests.support.new_message import new_message

RULES = DispatchRules.of(BrokerVersion.parse("5.3.3"), StoreSettings())
MANY = 10 * FIRST_ROOM


def test_a_log_of_many_topics_is_scanned_as_one_of_few() -> None:
    names = [f"topic-{number:03}" for number in range(MANY)]
    records: list[bytes] = []
    for name in names:
        records.append(encode_message(new_message(name, b"x", physical_offset=sum(map(len, records)))))
    positions = np.cumsum([0, *map(len, records)], dtype=np.int64)[:-1]
    data = np.frombuffer(b"".join(records), np.uint8)
    scanner = LogScanner(RULES)
    first, again = scanner.scan(data, positions), scanner.scan(data, positions)
    assert [scanner.topics.names[code] for code in first.records.topic] == names
    assert again.records.topic.tolist() == first.records.topic.tolist()


def test_every_name_is_found_by_its_bytes_after_the_table_has_grown() -> None:
    table = TopicTable(RULES)
    stored = [*(b"t" * size for size in range(1, MANY)), b"\xff\xfe", "标签".encode()]
    codes = [table.code(name) for name in stored]
    assert codes == list(range(len(stored)))
    arrays = table.arrays
    for name, code in zip(stored, codes, strict=True):
        assert look_up(arrays.slots, arrays.names, arrays.ends, np.frombuffer(name, np.uint8), 0, len(name)) == code
    assert look_up(arrays.slots, arrays.names, arrays.ends, np.frombuffer(b"absent", np.uint8), 0, 6) == -1
    assert [bool(arrays.seeds[code] == MALFORMED) for code in codes] == [name == b"\xff\xfe" for name in stored]
