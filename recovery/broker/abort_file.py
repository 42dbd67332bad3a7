"""What stands in the place of `abort`, the mark of a running broker, when it is no file.

Source: DefaultMessageStore#isTempFileExist, #createTempFile, #deleteFile @4.9.8, 5.3.1, 5.3.3, 5.5.1;
MixAll#string2File, which keeps what was there in `abort.bak`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from recovery.rules.versions import BrokerVersion

EXITS = ("normal", "abnormal")
"""How the last run ended: in order, or with `abort` left behind."""


@dataclass(frozen=True, slots=True)
class AbortFile:
    """A folder in that place counts as the mark too, and createNewFile says nothing of it.

    Attributes:
        is_folder: `abort` is a folder.
        cannot_go: it is one that holds something, which File#delete leaves where it is.
        copy_is_folder: `abort.bak` is one.
    """

    is_folder: bool = False
    cannot_go: bool = False
    copy_is_folder: bool = False

    def start_error(self, version: BrokerVersion) -> str | None:
        """What start() throws when it writes its process id there, None when it does not throw."""
        if not version.writes_process_id_to_abort or not (self.is_folder or self.copy_is_folder):
            return None
        return f"java.io.FileNotFoundException: {'abort' if self.is_folder else 'abort.bak'} (Is a directory)"


def read_abort_file(root: Path) -> AbortFile:
    """Look at the two places below a store's root."""
    abort = root / "abort"
    is_folder = abort.is_dir()
    return AbortFile(is_folder, is_folder and any(abort.iterdir()), (root / "abort.bak").is_dir())
