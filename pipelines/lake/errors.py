"""What ends work on the lake, each as one sentence; light to import, without Delta or Spark."""

from __future__ import annotations


class LakeError(Exception):
    """The lake could not be written or read as asked; what it holds is as it was."""


class LakeMismatch(LakeError):
    """A table in the lake has another type for a column than this version of rocketlens."""


class PartsMissing(LakeError):
    """Parts that tasks say they wrote are not there."""


class LakeMoved(LakeError):
    """Another process wrote to a table between reading it and committing to it."""


class WorkFailed(LakeError):
    """Work on Spark that did not end: what it was, and why."""
