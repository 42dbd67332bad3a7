"""RemotingCommand frames written, in both header forms: the twin of `rebalance.readers.wire.remoting.decode_frame`."""

from __future__ import annotations

import json
from typing import Any

from rebalance.readers.wire.remoting import (
    FIXED,
    INT16,
    INT32,
    JSON_HEADER,
    LANGUAGES,
    PREFIX,
    RemotingCommand,
)


def encode_frame(command: RemotingCommand, header_form: int = JSON_HEADER) -> bytes:
    """The whole frame, leading `total` included."""
    header = _encode_json(command) if header_form == JSON_HEADER else _encode_rocketmq(command)
    total = INT32.size + len(header) + len(command.body)
    return PREFIX.pack(total, header_form << 24 | len(header)) + header + command.body


def _encode_json(command: RemotingCommand) -> bytes:
    fields: dict[str, Any] = {"code": command.code}
    if command.ext_fields is not None:
        fields["extFields"] = dict(command.ext_fields)
    fields |= {"flag": command.flag, "language": command.language, "opaque": command.opaque}
    if command.remark is not None:
        fields["remark"] = command.remark
    fields |= {"serializeTypeCurrentRPC": "JSON", "version": command.version}
    return json.dumps(fields, separators=(",", ":"), ensure_ascii=False).encode()


def _encode_rocketmq(command: RemotingCommand) -> bytes:
    remark = (command.remark or "").encode()
    ext = bytearray()
    for key, value in (command.ext_fields or {}).items():
        for text, length in ((key.encode(), INT16), (value.encode(), INT32)):
            ext += length.pack(len(text)) + text
    language = LANGUAGES.index(command.language)
    fixed = FIXED.pack(command.code, language, command.version, command.opaque, command.flag)
    return fixed + INT32.pack(len(remark)) + remark + INT32.pack(len(ext)) + bytes(ext)
