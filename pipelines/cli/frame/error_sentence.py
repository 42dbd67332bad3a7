"""The one sentence an error is: file, position, what was expected, what to try."""

from __future__ import annotations

import sys

from parsers.damage.errors import NotThisFormat, StoreFormatError, TruncatedRecord, UnsupportedVersion
from parsers.evidence.guard import WouldTouchEvidence
from parsers.evidence.seen import TooManyFiles
from parsers.store.store import NotAStore
from pipelines.cli.frame.errors import ExitCode, Stop
from pipelines.installed.extras import missing_extra
from pipelines.lake.delta.errors import LakeError, first_line, raised_in
from pipelines.recordings.fact_room import NoRoom


def explain_error(error: Exception) -> tuple[str, ExitCode]:
    """One sentence for any exception, and the exit code that goes with it."""
    if isinstance(error, Stop):
        return error.sentence, error.code
    if isinstance(error, WouldTouchEvidence):
        return str(error), ExitCode.WRONG_USAGE
    if (missing := missing_extra(error)) is not None:
        return missing, ExitCode.WRONG_USAGE
    if isinstance(error, NotAStore | NoRoom | TooManyFiles | LakeError):
        return str(error), ExitCode.UNREADABLE
    if isinstance(error, StoreFormatError):
        return f"{error}; {_what_to_try(error)}", ExitCode.UNREADABLE
    if _is_of_delta(error):
        sentence = f"the lake: {first_line(str(error))}; `rocketlens check-lake` names a table that cannot be read"
        return sentence, ExitCode.UNREADABLE
    if isinstance(error, OSError):
        return _os_error(error), ExitCode.UNREADABLE
    if type(error).__module__.startswith(("pyspark.", "py4j.")):
        return f"a task in Spark failed: {raised_in(str(error))} (--debug prints all of it)", ExitCode.UNREADABLE
    fault = f"a fault of rocketlens itself, please report it: {type(error).__name__}: {error}"
    return f"{fault} (the same command with --debug prints where)", ExitCode.FAULT


def _is_of_delta(error: Exception) -> bool:
    """Whether Delta's library raised it; it is not imported for that."""
    exceptions = sys.modules.get("deltalake.exceptions")
    return exceptions is not None and isinstance(error, exceptions.DeltaError)


def _what_to_try(error: StoreFormatError) -> str:
    if isinstance(error, NotThisFormat):
        return "`rocketlens explain FILE` shows what the bytes could be"
    if isinstance(error, UnsupportedVersion):
        return "this form is known but not read here"
    if isinstance(error, TruncatedRecord):
        return "the file seems cut: copy it again, or read what is left with `rocketlens dump`"
    return f"`rocketlens explain FILE --at {error.at}` shows the bytes"


def _os_error(error: OSError) -> str:
    place = error.filename if error.filename is not None else "input or output"
    if isinstance(error, FileNotFoundError):
        return f"{place}: no such file or folder"
    if isinstance(error, PermissionError):
        return f"{place}: no permission to read it (run as its owner, or on a copy)"
    return f"{place}: {error.strerror or error}"
