"""Simulated tables, with everything declared."""

from __future__ import annotations

from typing import Any

from dpgp_core.arrays import FloatArray
from dpgp_core.table import Dataset, Outcome, declared_columns

_NAMES = ("x", "w", "v")


def simulated(
    X: FloatArray, y: FloatArray, y_bounds: tuple[float, float], x_box: tuple[tuple[float, float], ...], **more: Any
) -> Dataset:
    """Records X (n, D), y (n,); ``more`` are units of the inputs, the outcome's scale and kind, or of a ``Dataset``."""
    dim, kind = X.shape[1], more.pop("y_kind", "number")
    outcome = Outcome(name="y", unit="1", bounds=y_bounds, scale=more.pop("y_scale", 1.0), kind=kind)
    declared: dict[str, Any] = {
        "name": "simulated",
        "columns": declared_columns(_NAMES[:dim], x_box, units=("1",) * dim, levels=more.pop("x_levels", None)),
        "outcome": outcome,
        "privacy_unit": "one record",
        "source": "simulated",
        "licence": "none",
        "bounds_reason": "simulated",
        "simulated": True,
    }
    return Dataset(X=X, y=y, **(declared | more))
