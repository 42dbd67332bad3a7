"""Settings that let a start pass what stops it or ends the log: a check that is asked for and need not be."""

from __future__ import annotations

from enum import Enum


class PassedBy(Enum):
    """A setting, the value that passes, and what that costs."""

    NO_CRC = "checkCRCOnRecover", "false", "the damaged message is served as it is"
    NO_DUPLICATION = "duplicationEnable", "false", "nothing, unless the store belongs to a replicating broker"
    NO_RECORD_CRC = "forceVerifyPropCRC", "false", "only bodies are verified"
    NO_OFFSET_CHECK = "checkCommitLogOffsetOnRecover", "false", "a record of another place is served"
    WHOLE_FILES = "enableAcceleratedRecovery", "false", "recovery reads whole files"

    @property
    def setting(self) -> str:
        return self.value[0]

    @property
    def to(self) -> str:
        return self.value[1]

    @property
    def costs(self) -> str:
        return self.value[2]
