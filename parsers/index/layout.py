"""The three fixed structures of an IndexFile: header, then slots, then entries."""

from __future__ import annotations

from parsers.layouts.layout import Field, Layout

INDEX_HEADER = Layout(
    "IndexFile header",
    "store/index/IndexHeader.java @5.3.3",
    Field("begin_timestamp_ms", "q", "store time of the first entry (empty file: the previous file's last, or 0)"),
    Field("end_timestamp_ms", "q", "store time of the last entry"),
    Field("begin_physical_offset", "q", "CommitLog byte of the first entry's message"),
    Field("end_physical_offset", "q", "CommitLog byte of the last entry's message"),
    Field("hash_slot_count", "i", "slots in use (since 4.7.1; before: number of puts)"),
    Field("index_count", "i", "number the next entry will get: entries + 1; 0 means 1"),
)
INDEX_SLOT = Layout(
    "IndexFile slot",
    "store/index/IndexFile.java#putKey @5.3.3",
    Field("newest_entry_no", "i", "the newest entry of the chain, 0 when empty"),
)
INDEX_ENTRY = Layout(
    "IndexFile entry",
    "store/index/IndexFile.java#putKey @5.3.3",
    Field("key_hash", "i", "abs(String.hashCode of topic + # + key); 0 for -2**31"),
    Field("physical_offset", "q", "where the message starts, byte in the CommitLog"),
    Field("time_diff_s", "i", "seconds from the header's begin_timestamp_ms at the time of writing to the store time"),
    Field("prev_index_no", "i", "the next older entry in the same slot (Javadoc: Next Index Pos), 0 at the end"),
)
ENTRIES_FIRST_NO = 1  # entry 0 is never used, so a file of N entries holds N - 1


def build_key(topic: str, key: str) -> str:
    """IndexService#buildKey: what is hashed."""
    return f"{topic}#{key}"
