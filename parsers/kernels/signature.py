"""What a kernel takes and returns, read from its annotations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import numpy as np


@dataclass(frozen=True, slots=True)
class Number:
    """A scalar: one word.

    Attributes:
        dtype: of the machine's number; a Python int is int64, a bool is bool.
    """

    dtype: np.dtype[Any]


@dataclass(frozen=True, slots=True)
class Array:
    """A C-contiguous array: a word for its address, and one for each dimension."""

    dtype: np.dtype[Any]
    dimensions: int


@dataclass(frozen=True, slots=True)
class Group:
    """A tuple.

    Attributes:
        kind: the NamedTuple class, or tuple.
    """

    kind: type
    parts: tuple[Shape, ...]


Shape = Number | Array | Group


@dataclass(frozen=True, slots=True)
class Signature:
    """A kernel's arguments in order, and what it returns; None for nothing."""

    takes: tuple[Shape, ...]
    returns: Shape | None


def signature_of(function: Callable[..., Any]) -> Signature:
    """Raises TypeError for an annotation that no kernel has."""
    hints = get_type_hints(function, include_extras=True)
    returned = hints.pop("return")
    returns = None if returned is type(None) else _shape(returned)
    return Signature(tuple(_shape(hint) for hint in hints.values()), returns)


def text_of(signature: Signature) -> str:
    """The signature as `doors.c` reads it."""
    returned = "" if signature.returns is None else _text(signature.returns, is_returned=True)
    return "".join(map(_text, signature.takes)) + ">" + returned


def _text(shape: Shape, *, is_returned: bool = False) -> str:
    match shape:
        case Number(dtype=dtype):
            return "F" if dtype == np.bool_ else "U" if is_returned and dtype.kind == "u" else "N"
        case Array(dtype=dtype, dimensions=dimensions):
            return f"{dtype.char}{dimensions}"
        case Group(parts=parts):
            return f"({''.join(_text(part, is_returned=is_returned) for part in parts)})"


def _shape(hint: Any) -> Shape:
    origin = get_origin(hint)
    if origin is Annotated:
        array, dimensions = get_args(hint)
        return Array(_items(array), dimensions)
    if origin is np.ndarray:
        return Array(_items(hint), 1)
    if origin is tuple:
        return Group(tuple, tuple(_shape(part) for part in get_args(hint)))
    if hint in (int, bool):
        return Number(np.dtype(np.int64 if hint is int else np.bool_))
    if isinstance(hint, type) and issubclass(hint, np.generic):
        return Number(np.dtype(hint))
    if isinstance(hint, type) and issubclass(hint, tuple):
        return Group(hint, tuple(_shape(part) for part in get_type_hints(hint, include_extras=True).values()))
    raise TypeError(f"no kernel takes or returns {hint}")


def _items(array: Any) -> np.dtype[Any]:
    """The dtype of the items of an `npt.NDArray[...]`."""
    item: type[np.generic] = get_args(get_args(array)[1])[0]
    return np.dtype(item)
