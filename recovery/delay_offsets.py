"""Does config/delayOffset.json load? Up to 4.9.8 the store reads it itself, and a broken one stops the broker.

Source: ConfigManager#load, #loadBak, ScheduleMessageService#decode @4.9.8.
"""

from __future__ import annotations

import json
import re

UNQUOTED_KEY = re.compile(r"([{,]\s*)(-?\d+)(\s*:)")
"""fastjson writes the integer keys of a map without quotes."""


def delay_offsets_load(stored: tuple[bytes | None, bytes | None]) -> bool:
    """True when the file, or else its .bak, can be parsed; a .bak that is absent or empty counts as success."""
    main, backup = stored
    if main and _parses(main):
        return True
    return not backup or _parses(backup)


def _parses(content: bytes) -> bool:
    text = UNQUOTED_KEY.sub(r'\1"\2"\3', content.decode("utf-8", "replace"))
    try:
        parsed = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return parsed is None or isinstance(parsed, dict)
