"""Kinds of findings about the files of config/ themselves."""

from __future__ import annotations

from recovery.verify.findings.kind import Kind

COPY_FIRST = "Copy config/ before any start, also before one that fails: a broker writes these files on its way out. "
NEWEST_COPY = "Then put the newest readable copy in place of the file: "
STARTS_EMPTY = "It starts without an error, with what it makes by itself and nothing else, and writes that down."
PUT_BACK = (
    COPY_FIRST + NEWEST_COPY + "its .bak where that has rows, a backup, or the file of a slave; "
    "without one make again what the finding's document lists under `rebuilt`."
)

CONFIG_KINDS: dict[str, Kind] = {
    "config_unreadable": Kind(
        "critical",
        "none",
        "The file is not what the broker writes, and what its ConfigManager decodes.",
        "It takes the .bak instead; it stops in BrokerController#initialize where that cannot be decoded either, and "
        "has an empty table where that is missing or empty. 5.4.0 and later delete the file.",
        COPY_FIRST + NEWEST_COPY + "its .bak, a backup, or the file of a slave.",
    ),
    "config_emptied": Kind(
        "critical",
        "none",
        "The file has 0 bytes, which no finished write leaves, or holds no row although other files tell that it held "
        "some.",
        STARTS_EMPTY,
        PUT_BACK,
    ),
    "config_missing": Kind(
        "critical",
        "none",
        "The file is not there although other files tell that a broker wrote it.",
        STARTS_EMPTY,
        PUT_BACK,
    ),
    "config_older": Kind(
        "error",
        "config",
        "The file is missing or has 0 bytes; its .bak holds what it held before it was last written.",
        "It takes the .bak: what the last write changed is gone back. Its next two writes go over both.",
        COPY_FIRST
        + "Compare the .bak with a backup or the file of a slave; where there is none, the .bak is the best.",
    ),
}
