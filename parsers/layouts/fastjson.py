"""JSON as fastjson 1.2 writes and accepts it: unquoted keys, single quotes, comments, surplus commas, a byte
order mark, control characters in texts and between them.

The text is rewritten into strict JSON token by token, in one pass and linear time, and then parsed by the standard
library; nothing in it is ever executed. Source: fastjson JSONScanner, JSON.DEFAULT_PARSER_FEATURE @1.2.83.
"""

from __future__ import annotations

import json
import re
from typing import TypeAlias

from parsers.damage.errors import CorruptRecord, TooLarge

Json: TypeAlias = "dict[str, Json] | list[Json] | str | int | float | bool | None"

# Each alternative takes all it can and never gives back (possessive), so that no text makes the scan quadratic.
TOKEN = re.compile(
    r"""
      (?P<text>   "(?:[^"\\]++|\\.)*+"? )
    | (?P<single> '(?:[^'\\]++|\\.)*+'? )
    | (?P<note>   //[^\n]*+ | /\*(?:[^*]++|\*(?!/))*+(?:\*/)? )
    | (?P<bare>   [\w$.+-]++ ) (?P<colon> \s*+ : )?
    | (?P<control> [\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufeff]++ )
    | (?P<commas> ,[\s,]*+ ) (?P<close> [}\]] )?
    """,
    re.VERBOSE | re.DOTALL,
)
STRUCTURE = re.compile(r'(?P<text>"(?:[^"\\]++|\\.)*+"?)|(?P<close>[}\]])|[{\[,]', re.DOTALL)
CLOSER = {"{": "}", "[": "]"}
ROW_DEPTH = 2  # a document, its tables: what stands in a table is a row
QUOTE = re.compile(r"\\.|\"", re.DOTALL)
REQUOTED = {"\\'": "'", '"': '\\"'}
MAX_QUOTED_LONG_DIGITS = 20
MAX_BYTES = 1 << 28
MOST_VALUE_BYTES = 640 << 20
"""What the values of one document may take in memory: those of a million topics with their queues."""


class NotStrict(ValueError):
    """What Python takes for JSON and is none: one sentence."""


def parse(content: bytes | memoryview) -> Json:
    """One JSON document. Keys are always strings; of equal keys the last one wins, as in Java.

    Raises:
        TooLarge: longer than MAX_BYTES, or its values may take more than MOST_VALUE_BYTES.
        CorruptRecord: not UTF-8, not JSON even by fastjson's habits, or nested beyond reason.
            `at` is a byte position in `content`, exact up to the first tolerated peculiarity.
    """
    if len(content) > MAX_BYTES:
        raise TooLarge("too long for a config file", field="file size", expected=MAX_BYTES, actual=len(content))
    if (cost := _cost(bytes(content))) > MOST_VALUE_BYTES:
        raise TooLarge(
            "more values than a config file has", field="bytes of its values", expected=MOST_VALUE_BYTES, actual=cost
        )
    try:
        text = bytes(content).decode("utf-8")
    except UnicodeDecodeError as error:
        raise CorruptRecord(
            "not UTF-8 (a 4.x broker writes its platform's charset)", at=error.start, field="text"
        ) from None
    try:
        return _strict(text)
    except ValueError:
        pass
    try:
        return _strict(TOKEN.sub(_strictly, text))
    except ValueError as error:
        character = error.pos if isinstance(error, json.JSONDecodeError) else 0
        at = len(text[:character].encode("utf-8"))
        raise CorruptRecord(f"not JSON: {error}", at=at, field="text", length=len(content) - at) from None


def parse_beginning(content: bytes | memoryview) -> Json:
    """What a document that breaks off, or turns into something else, holds up to there.

    Members of the document and rows of its tables count when they are complete; a row that was only begun is left out.
    An empty map where nothing is complete.
    """
    if _cost(bytes(content[:MAX_BYTES])) > MOST_VALUE_BYTES:
        return {}
    text = TOKEN.sub(_strictly, bytes(content[:MAX_BYTES]).decode("utf-8", "replace"))
    try:
        return _strict(text)
    except json.JSONDecodeError as error:
        text = text[: error.pos]
    except ValueError:
        return {}
    end, closers, still_open = 0, "", ""
    for token in STRUCTURE.finditer(text):
        still_open = still_open[:-1] if token["close"] else still_open + CLOSER.get(token[0], "")
        if not token["text"] and 0 < len(still_open) <= ROW_DEPTH:
            end, closers = token.start() if token[0] == "," else token.end(), still_open[::-1]
    try:
        return _strict(text[:end] + closers)
    except ValueError:
        return {}


def _cost(content: bytes) -> int:
    """About how many bytes the values of a document take, never much less than they do."""
    counted = {b"{": 232, b"[": 88, b",": 40, b'"': 28}
    return len(content) + sum(each * content.count(mark) for mark, each in counted.items())


def kind_of(value: Json) -> str:
    """What a value is, in JSON's words."""
    kinds = {dict: "a map", list: "a list", str: "a text", bool: "true or false", int: "a number", float: "a number"}
    return kinds.get(type(value), "null")


def whole_number(value: Json | None) -> int | None:
    """An int or long, also where the browser-compatible mode wrote it as a string; None for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, str) and len(value) <= MAX_QUOTED_LONG_DIGITS and re.fullmatch(r"-?[0-9]+", value):
        value = int(value)
    return value if isinstance(value, int) and -(2**63) <= value < 2**63 else None


def as_map(value: Json | None) -> dict[str, Json]:
    """The map, or an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def _strict(text: str) -> Json:
    try:
        value: Json = json.loads(text, parse_constant=_no_constant, strict=False)
        if "\\u" in text:
            json.dumps(value, ensure_ascii=False).encode("utf-8")
    except RecursionError:
        raise ValueError("nested too deeply") from None
    except UnicodeEncodeError:
        raise ValueError("half of a surrogate pair") from None
    except (json.JSONDecodeError, NotStrict):
        raise
    except ValueError:  # Python's limit of digits
        raise ValueError("a number of thousands of digits") from None
    return value


def _no_constant(name: str) -> Json:
    raise NotStrict(f"{name} is no number")


def _strictly(token: re.Match[str]) -> str:
    """One token as strict JSON spells it."""
    if token["text"] is not None:
        return token[0]
    if token["single"] is not None:
        body = token["single"][1:].removesuffix("'")
        return '"' + QUOTE.sub(lambda found: REQUOTED.get(found[0], found[0]), body) + '"'
    if token["note"] is not None or token["control"] is not None:
        return " "
    if token["bare"] is not None:
        return f'"{token["bare"]}":' if token["colon"] else token[0]
    return token["close"] or ","
