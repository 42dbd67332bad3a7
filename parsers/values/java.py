"""Java's rules where Python's differ: wrapping integers, UTF-16 text, hash codes, absolute values, CRCs, order."""

from __future__ import annotations

import codecs
import zlib
from hashlib import md5

INT_MIN, INT_MAX = -(2**31), 2**31 - 1
LONG_MIN, LONG_MAX = -(2**63), 2**63 - 1


def to_int(value: int) -> int:
    """Wrap to a signed 32-bit int, as an `(int)` cast does."""
    return ((value + 2**31) & 0xFFFFFFFF) - 2**31


def to_long(value: int) -> int:
    """Wrap to a signed 64-bit long."""
    return ((value + 2**63) & 0xFFFFFFFFFFFFFFFF) - 2**63


def divide(dividend: int, divisor: int) -> int:
    """Java's `/`: the quotient rounded toward zero."""
    quotient = abs(dividend) // abs(divisor)
    return quotient if (dividend < 0) == (divisor < 0) else -quotient


def remainder(dividend: int, divisor: int) -> int:
    """Java's `%`: what `divide` leaves, with the sign of the dividend."""
    return dividend - divide(dividend, divisor) * divisor


def utf16_units(text: str) -> bytes:
    """The UTF-16 code units of `text`, big-endian: sorts and hashes as Java's String does (lone surrogates kept)."""
    return text.encode("utf-16-be", "surrogatepass")


def string_hash_code(text: str) -> int:
    """`String.hashCode`: h = 31 * h + unit over UTF-16 code units, wrapping at 32 bits, signed."""
    units = utf16_units(text)
    value = 0
    for high, low in zip(units[::2], units[1::2], strict=True):
        value = (31 * value + (high << 8 | low)) & 0xFFFFFFFF
    return to_int(value)


def index_key_hash(key: str) -> int:
    """`IndexFile#indexKeyHashMethod`: Math.abs(hashCode), where abs(-2**31) overflows and becomes 0."""
    value = abs(string_hash_code(key))
    return 0 if value > INT_MAX else value


def decode_utf8(data: bytes | memoryview) -> str:
    """`new String(bytes, UTF_8)`: malformed bytes become U+FFFD, nothing raises."""
    return bytes(data).decode("utf-8", "java_replace")


def _replace(error: UnicodeError) -> tuple[str, int]:
    """Replace what is no UTF-8 by U+FFFD; an encoded surrogate is one U+FFFD, where Python's `replace` makes three."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    rest = error.object[error.start : error.start + 3]
    if rest[0] == 0xED and 0xA0 <= int.from_bytes(rest[1:2]) <= 0xBF:
        whole = 0x80 <= int.from_bytes(rest[2:3]) <= 0xBF
        return "\ufffd", error.start + (3 if whole else 2)
    return "\ufffd", error.end


codecs.register_error("java_replace", _replace)


def crc31(data: bytes | memoryview) -> int:
    """`UtilAll.crc32`: CRC-32 with the sign bit cleared."""
    return zlib.crc32(data) & 0x7FFFFFFF


def parse_whole(text: str, lowest: int = LONG_MIN, highest: int = LONG_MAX) -> int | None:
    """`Long.parseLong` of ASCII digits, or `Integer.parseInt` with its limits; None where Java refuses the text."""
    digits = text.removeprefix("-") if text.startswith("-") else text.removeprefix("+")
    if not (digits.isascii() and digits.isdigit()):
        return None
    significant = digits.lstrip("0")
    if len(significant) > len(str(LONG_MAX)):
        return None
    value = int(significant or "0") * (-1 if text.startswith("-") else 1)
    return value if lowest <= value <= highest else None


def split(text: str, separator: str) -> list[str]:
    """`text.split(separator)` of Java: trailing empty parts are dropped, the empty string has one empty part.

    `"idc@"` has one part, `"@b"` two, `"@"` none. `separator` is taken literally.
    Source: java.lang.String#split(String).
    """
    parts = text.split(separator)
    if len(parts) == 1:
        return parts
    while parts and not parts[-1]:
        parts.pop()
    return parts


def is_blank(text: str) -> bool:
    """`StringUtils.isBlank`: nothing but Character.isWhitespace characters (which leaves out the no-break spaces).

    Source: org.apache.commons.lang3.StringUtils#isBlank, java.lang.Character#isWhitespace.
    """
    return all(char.isspace() and char not in "\x85\xa0\u2007\u202f" for char in text)


def utf16_order(text: str) -> str:
    """Sort key of `String.compareTo`: one character per UTF-16 code unit, so U+1F600 (a surrogate pair) sorts before
    U+FF21.

    Source: java.lang.String#compareTo.
    """
    if text.isascii():
        return text
    units = utf16_units(text)
    return "".join(chr(int.from_bytes(units[at : at + 2], "big")) for at in range(0, len(units), 2))


def encoded(text: str, charset: str) -> bytes:
    """`text.getBytes(charset)`: what the charset cannot hold, a lone surrogate included, becomes `?`."""
    try:
        return text.encode(charset)
    except UnicodeEncodeError:
        whole = utf16_units(text).decode("utf-16-be", "surrogatepass")  # joins split pairs
        return whole.encode(charset, "replace")


def ring_hash(text: str, charset: str = "utf-8") -> int:
    """First four MD5 bytes, big-endian, as an unsigned number in 0 .. 2**32 - 1.

    Source: rocketmq-all-5.3.3, ConsistentHashRouter.MD5Hash#hash.
    """
    return int.from_bytes(md5(encoded(text, charset), usedforsecurity=False).digest()[:4], "big")


def property_text(value: object) -> str:
    """A value as a properties file such as broker.conf spells it."""
    return str(value).lower() if isinstance(value, bool) else str(value)
