"""Noise of numbered draws, for teaching: draw k has a generator of its own, so that it is the same beside any others.

A generator that is shared would hand its numbers to whichever draws are made together: stage after stage, draw 1 beside
four others would get other noise than draw 1 alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import checks
from ..arrays import FloatArray


class Apart(ValueError):
    """Fewer draws were made at a time than there are numbers for; make them one by one."""


class NumberedDraws(np.random.Generator):
    """A generator whose arrays have one row a draw; the row of draw k comes from ``default_rng(k)`` alone.

    Noise that mechanisms add comes from ``standard_normal`` and ``laplace``; only these are of a draw.

    Args:
        first: number of the first draw, >= 0.
        count: how many, >= 1.

    Raises:
        ValueError: a number is out of range.
    """

    def __init__(self, first: int, count: int) -> None:
        checks.whole("first", first, 0, 2**63)
        checks.whole("count", count, 1, 10**6)
        super().__init__(np.random.PCG64(first))
        self._each = [np.random.default_rng(number) for number in range(first, first + count)]

    def standard_normal(self, size: Any = None, dtype: Any = np.float64, out: Any = None) -> Any:
        """Rows (count, ...) of normal numbers.

        Raises:
            Apart: the first side of ``size`` is not ``count``.
        """
        rest = self._of_one(size)
        return np.stack([each.standard_normal(rest) for each in self._each])

    def laplace(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """Rows (count, ...) of Laplace numbers. Raises Apart as ``standard_normal`` does."""
        rest = self._of_one(size)
        rows: FloatArray = np.stack([each.laplace(loc, scale, rest) for each in self._each])
        return rows

    def _of_one(self, size: Any) -> tuple[int, ...]:
        if not isinstance(size, tuple) or not size or size[0] != len(self._each):
            raise Apart(f"numbered draws are made {len(self._each)} at a time, got the shape {size}")
        return size[1:]
