"""Places in arrays, as intrinsics ask for them."""

from __future__ import annotations

from typing import Any


def pointer(context: Any, builder: Any, array_type: Any, place: tuple[Any, Any], to: Any) -> Any:
    """Inside an intrinsic: where a value of type `to` starts, given the array and the byte in it."""
    first = context.make_array(array_type)(context, builder, place[0]).data
    return builder.bitcast(builder.gep(first, [place[1]], inbounds=True), to.as_pointer())
