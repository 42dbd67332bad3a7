"""Kinds of findings about the entries of a DLedger."""

from __future__ import annotations

from recovery.verify.findings.kind import RESTORE_LOG, Kind

DLEDGER_KINDS: dict[str, Kind] = {
    "entry_header_wrong": Kind(
        "critical",
        "commitlog",
        "The header before a whole message is not what the entry's place, size and neighbours ask for.",
        "Recovery reads the last three files; where it reads sizes, number or term that do not fit, the node's log is "
        "cut there and comes again from the leader.",
        RESTORE_LOG,
    ),
    "entry_index_wrong": Kind(
        "error",
        "commitlog",
        "The unit at an entry's number is not that entry's: the index is made from the log.",
        "Recovery compares the entries of the last three files and writes the index anew from the first difference; "
        "an earlier entry cannot be sent to a replica.",
        "Restore dledger-<selfId>/index from a copy.",
    ),
    "dledger_state_wrong": Kind(
        "error",
        "unknown",
        "The node's term or checkpoint speaks of what its log does not have, or the log of what they do not know.",
        "The node starts with the log as it is: a term may be voted in twice, or entries are missing until the leader "
        "sends them.",
        "Compare with the other replicas before any start.",
    ),
}
