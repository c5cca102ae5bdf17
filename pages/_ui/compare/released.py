"""One numbered draw of a contender, for the page that compares them: its curve or its prices. No streamlit here."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpgp_core.arrays import FloatArray
from dpgp_core.data import Dataset
from dpgp_core.gp.uncertainty import NoInterval
from pages._ui.cloaking.cells import LAYERS, public_cells, released_prices
from pages._ui.cloaking.results import LEVEL, Scene
from pages._ui.compare.contenders import CONTENDERS, Contest, contender
from pages._ui.look import text

SEED = 1  # number of the draw
_WIDTH = f"{100 * LEVEL:g} % interval, half [%]"
LAYER = replace(LAYERS["private"], spread="")  # an interval also holds what the model leaves open: it hides no value


@dataclass(frozen=True, eq=False)
class Drawn:
    """One numbered draw at those rows of a scene that lie in the declared box: elsewhere there are no bins.

    Attributes:
        rows: which these are (P,).
        values: (P,), in the output's unit.
        outputs, curve: ends (2, P) of the interval at ``LEVEL`` of one more output, and of the curve; None where the
            mechanism has none.
    """

    rows: NDArray[np.intp]
    values: FloatArray
    outputs: FloatArray | None
    curve: FloatArray | None


def drawn(dataset: Dataset, scene: Scene, contest: Contest, name: str, epsilon: float) -> Drawn:
    """Release all records once, with the noise of draw ``SEED``."""
    mechanism = contender(contest, name, epsilon)
    low, high = np.array(dataset.x_box).T
    rows = np.flatnonzero(((low <= scene.X_test) & (scene.X_test <= high)).all(axis=1))
    release = mechanism.release(dataset, scene.X_test[rows], np.random.default_rng(SEED))
    if isinstance(release.uncertainty, NoInterval):
        return Drawn(rows, release.samples[0], None, None)
    outputs, curve = (np.stack([end[0] for end in release.interval(LEVEL, of)]) for of in ("outputs", "function"))
    return Drawn(rows, release.samples[0], outputs, curve)


def cells(release: Drawn, scene: Scene, dataset: Dataset) -> pd.DataFrame:
    """One row a cell of a map of prices: public labels, the released price, and how far the curve may be from it."""
    table = public_cells(scene).iloc[release.rows]
    table[LAYER.column] = released_prices(release.values, dataset)
    if release.curve is not None:
        table[_WIDTH] = (100 * np.expm1(np.minimum(np.diff(release.curve, axis=0)[0] / 2, 20))).round(1)
    return table


def caption(release: Drawn, scene: Scene, dataset: Dataset, name: str, epsilon: float) -> str:
    """What the picture shows."""
    title = CONTENDERS[name].title
    said = f"One release of all records by {title} at ε = {epsilon:g}: draw number {SEED}, to teach."
    if release.curve is None:
        said += " It has no interval."
    elif scene.labels is not None:
        half = float(np.median(np.diff(release.curve, axis=0))) / 2
        said += f" Half of its {100 * LEVEL:g} % interval: {text.factor_of(half)} at a typical hexagon; see the table."
    if scene.labels is None and dataset.X.shape[1] > 1:
        said += f" Along {dataset.x_names[0]}; {' and '.join(dataset.x_names[1:])} in the middle of what is declared."
    return said
