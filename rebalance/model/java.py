"""Java's own rules where Python's differ: string order, `String.split`, bytes of a string, the ring's hash."""

from __future__ import annotations

from hashlib import md5


def utf16_order(text: str) -> str:
    """Sort key of `String.compareTo`: one character per UTF-16 code unit, so U+1F600 (a surrogate pair) sorts before
    U+FF21.

    Source: java.lang.String#compareTo.
    """
    if text.isascii():
        return text
    units = text.encode("utf-16-be", "surrogatepass")
    return "".join(chr(int.from_bytes(units[at : at + 2], "big")) for at in range(0, len(units), 2))


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


def encoded(text: str, charset: str) -> bytes:
    """`text.getBytes(charset)`: what the charset cannot hold, a lone surrogate included, becomes `?`."""
    try:
        return text.encode(charset)
    except UnicodeEncodeError:
        whole = text.encode("utf-16-be", "surrogatepass").decode("utf-16-be", "surrogatepass")  # joins split pairs
        return whole.encode(charset, "replace")


def ring_hash(text: str, charset: str = "utf-8") -> int:
    """First four MD5 bytes, big-endian, as an unsigned number in 0 .. 2**32 - 1.

    Source: rocketmq-all-5.3.3, ConsistentHashRouter.MD5Hash#hash.
    """
    return int.from_bytes(md5(encoded(text, charset), usedforsecurity=False).digest()[:4], "big")
