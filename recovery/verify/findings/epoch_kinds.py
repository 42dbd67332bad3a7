"""Kinds of findings about the epochs of a broker in controller mode."""

from __future__ import annotations

from recovery.verify.findings.kind import Kind

EPOCH_KINDS: dict[str, Kind] = {
    "epochs_unreadable": Kind(
        "error",
        "none",
        "A broker writes a count, a CRC and a line for each epoch, and keeps the content before in the backup.",
        "In controller mode it goes by the backup, but does not start where a number is none or the file is empty. "
        "Without either file it knows no epoch: as a slave it cuts nothing off before it copies from a master.",
        "Stop the broker and copy both files away. Put a copy of a readable backup in the file's place: what it lacks "
        "is copied again from the master. Without one take the entries of a replica, up to the byte up to which the "
        "logs agree (`rocketlens compare`); where none agrees decide nothing by this broker's log.",
    ),
    "epochs_backup_unreadable": Kind(
        "warning",
        "none",
        "The backup has the same form as the file.",
        "It goes by the file as long as that can be read.",
        "Keep a copy of epochFileCheckpoint elsewhere; the next change of epochs writes the backup anew.",
    ),
    "epochs_wrong": Kind(
        "error",
        "unknown",
        "An epoch begins behind the one before it, and not behind the log's end.",
        "By its epochs a slave reckons from where its log parts from its master's: with wrong ones it cuts off "
        "messages that are right, or keeps some that its master does not have.",
        "Stop the broker and copy the store before it meets another replica. Hold it against the others with "
        "`rocketlens compare`, and take over the entries of one whose log agrees; delete nothing.",
    ),
}
