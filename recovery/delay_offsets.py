"""Does config/delayOffset.json load? Up to 4.9.8 the store reads it itself, and a broken one stops the broker.

Source: ConfigManager#load, #loadBak, ScheduleMessageService#decode @4.9.8.
"""

from __future__ import annotations

from parsers.config.fastjson import parse
from parsers.errors import StoreFormatError


def delay_offsets_load(stored: tuple[bytes | None, bytes | None]) -> bool:
    """True when the file, or else its .bak, can be parsed; a .bak that is absent or empty counts as success."""
    main, backup = stored
    if main and _parses(main):
        return True
    return not backup or _parses(backup)


def _parses(content: bytes) -> bool:
    text = content.decode("utf-8", "replace")  # Java's String takes any bytes
    try:
        parsed = parse(text.encode())
    except StoreFormatError:
        return False
    return parsed is None or isinstance(parsed, dict)
