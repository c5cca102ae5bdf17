"""Simulated tables, with everything declared."""

from __future__ import annotations

from typing import Any

from dpgp_core.arrays import FloatArray
from dpgp_core.data import Dataset

_NAMES = ("x", "w", "v")


def simulated(
    X: FloatArray, y: FloatArray, y_bounds: tuple[float, float], x_box: tuple[tuple[float, float], ...], **more: Any
) -> Dataset:
    """Records X (n, D), y (n,); ``more`` are other fields of a ``Dataset``."""
    dim = X.shape[1]
    declared: dict[str, Any] = {
        "name": "simulated",
        "x_names": _NAMES[:dim],
        "x_units": ("1",) * dim,
        "y_name": "y",
        "y_unit": "1",
        "privacy_unit": "one record",
        "source": "simulated",
        "licence": "none",
        "bounds_reason": "simulated",
        "simulated": True,
    }
    return Dataset(X=X, y=y, y_bounds=y_bounds, x_box=x_box, **(declared | more))
