"""Results as bytes on their way between processes, arrays apart from the rest: they are then shared without a copy."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

Frames = list[bytes]


@dataclass(eq=False)
class Handed:
    """Arguments of one call, that can be taken back from everybody who still holds them."""

    args: tuple[Any, ...] = field(repr=False)


def packed(function: Callable[..., Any], args: tuple[Any, ...] | Handed, **options: Any) -> Frames:
    """What ``function(*args, **options)`` returns."""
    if isinstance(args, Handed):
        args = args.args
    arrays: list[pickle.PickleBuffer] = []
    rest = pickle.dumps(function(*args, **options), protocol=5, buffer_callback=arrays.append)
    return [rest, *(bytes(array.raw()) for array in arrays)]


def unpack(frames: Frames) -> Any:
    """The value; its arrays look at the frames' own bytes, and so cannot be written to."""
    return pickle.loads(frames[0], buffers=frames[1:])
