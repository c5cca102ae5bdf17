"""Results as bytes on their way between processes, arrays apart from the rest: they are then shared without a copy."""

from __future__ import annotations

import inspect
import pickle
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Frames = list[bytes]


@dataclass(eq=False)
class Handed:
    """Arguments of one call, that can be taken back from everybody who still holds them."""

    args: tuple[Any, ...] = field(repr=False)


Progress = Callable[[float], None]  # told the fraction done


def called(function: Callable[..., Any], args: tuple[Any, ...], progress: Progress) -> Any:
    """``function(*args)``, with ``progress`` if it takes that."""
    takes = "progress" in inspect.signature(function).parameters
    return function(*args, progress=progress) if takes else function(*args)


def packed(
    function: Callable[..., Any], args: tuple[Any, ...] | Handed, progress: Progress = lambda fraction: None
) -> Frames:
    """What ``called`` returns; an array that came out of a frame goes back as that frame."""
    value = called(function, args.args if isinstance(args, Handed) else args, progress)
    arrays: list[pickle.PickleBuffer] = []
    rest = pickle.dumps(value, protocol=5, buffer_callback=arrays.append)
    return [rest, *map(_frame, arrays)]


def _frame(array: pickle.PickleBuffer) -> bytes:
    with array.raw() as content:
        owner: Any = content.obj
        while isinstance(owner, np.ndarray):
            owner = owner.base
        # bytes never change, so whoever looks at all of them may share them
        return owner if isinstance(owner, bytes) and len(owner) == content.nbytes else bytes(content)


def unpack(frames: Frames) -> Any:
    """The value; its arrays look at the frames' own bytes, and so cannot be written to."""
    return pickle.loads(frames[0], buffers=frames[1:])
