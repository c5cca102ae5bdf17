"""A model on the grid of public cells: what a filter needs of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...arrays import FloatArray
from ...gp.pivoted import Features, factorise
from ...kernels import Kernel
from ...seasons import Periods, lifted
from ..bias import bias_features
from ..models import Model, family_of, is_rough
from .grid import CellGrid

_TOLERANCE = 1e-10  # of the prior variance at the cells' centres, left out of the features


@dataclass(frozen=True, kw_only=True, eq=False)
class CellModel:
    """One model on the grid.

    Attributes:
        features: phi, of pivots among the cells' centres.
        nodes: phi at the grid's nodes (F, k).
        cells: its means over the cells (M, k).
        bias: psi, of the field h of clipping's bias (M, q); q = 0 where a release is read as if there were none.
        noise_variance: of an output about f.
        weight: prior weight.
        periods: of the inputs, whose phases stand behind them on the grid.
        family: the same for models that differ in noise or amplitude alone.
        rough: whether the curve is nowhere smooth.
    """

    features: Features
    nodes: FloatArray
    cells: FloatArray
    bias: FloatArray
    noise_variance: float
    weight: float
    periods: Periods = ()
    family: object = None
    rough: bool = False

    def at(self, X: FloatArray) -> FloatArray:
        """Phi at X (n, D): (n, k)."""
        return self.features.at(lifted(X, self.periods)).values()


def cell_models(models: Sequence[Model], grid: CellGrid, *, biased: bool = True) -> tuple[CellModel, ...]:
    """Every model on the grid; models of one kernel share their features.

    Args:
        models: the mixture.
        grid: public cells.
        biased: whether clipping may be; False for releases that were made, and are read, as if it were not.
    """
    bias = bias_features(grid.box, grid.centres) if biased else np.zeros((grid.size, 0))
    known: dict[Kernel, tuple[Features, FloatArray, FloatArray]] = {}
    for kernel in dict.fromkeys(model.kernel for model in models):
        features = factorise(kernel, grid.centres, _TOLERANCE).features
        nodes = features.at(grid.nodes).values()
        known[kernel] = features.at(grid.centres), nodes, grid.averages(nodes)
    on_cells = (_cell_model(model, bias, *known[model.kernel]) for model in models)
    return tuple(
        replace(each, periods=grid.periods, family=family_of(model.kernel), rough=is_rough(model.kernel))
        for each, model in zip(on_cells, models, strict=True)
    )


def _cell_model(model: Model, bias: FloatArray, features: Features, nodes: FloatArray, cells: FloatArray) -> CellModel:
    return CellModel(
        features=features,
        nodes=nodes,
        cells=cells,
        bias=bias,
        noise_variance=model.noise_variance,
        weight=model.weight,
    )
