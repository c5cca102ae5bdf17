"""A dataset whose excursion sets are studied: what the page of excursion sets needs of it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, Protocol

from dpgp_core.accounting.posterior_paths import Sensitivity
from dpgp_core.arrays import FloatArray
from dpgp_core.excursion.sets import Targets
from dpgp_core.table import Dataset


@dataclass(frozen=True, kw_only=True)
class Thresholds:
    """Offered levels of f, and how they are called.

    Attributes:
        key: in the address.
        title: on the screen, with the unit.
        offered: ascending.
        start: the one the page opens with, among ``offered``.
        help: beside the control.
        subtracted: outputs are measured from the threshold, so that the level of f is 0.
        logarithmic: they are offered in thousands of what the outputs are the logarithms of.
    """

    key: str
    title: str
    offered: tuple[float, ...]
    start: float
    help: str | None = None
    subtracted: bool = False
    logarithmic: bool = False

    def level_of(self, offered: float) -> float:
        """One of the offered levels in the output's unit."""
        return math.log(1000 * offered) if self.logarithmic else offered


class Shown(Protocol):
    """The data, where paths are drawn, and what is known of f there."""

    def __call__(self, *, noise: float, threshold: float) -> tuple[Dataset, FloatArray, FloatArray]:
        """Dataset, test points (P, D), true function (P,) in model units: NaN where nobody knows it."""
        ...


class Simulated(Protocol):
    """Training sets like the data, with known truth, apart from them: for choosing, never for reporting."""

    def __call__(self, count: int, *, noise: float, seed: int) -> Targets:
        """``count`` of them."""
        ...


@dataclass(frozen=True, kw_only=True)
class Study:
    """What the page of excursion sets needs of a dataset. All of it is public.

    Attributes:
        name: in addresses.
        title: on the tab.
        scene: how f is drawn: a "curve" over one input; a "field" over a square grid; "cells" of London's hexagons.
        shown, simulated: the data, and what settings are chosen on.
        n: number of records, public here.
        inputs: D, each over [0, 1].
        thresholds: offered levels.
        noises: offered noises of the data; none where the data are real.
        noise: the one it opens with; of simulated maps where the data are real.
        start: lengthscale, r and s that the page opens with: an epsilon of 2 to 4.
        validated, searched: simulated sets that choose the cutoff, and that settings are searched on.
        truth_of: what ``shown`` gives as the truth: f, or outputs where nobody knows f.
    """

    name: str
    title: str
    scene: Literal["curve", "field", "cells"]
    shown: Shown
    simulated: Simulated
    n: int
    inputs: int
    thresholds: Thresholds
    noises: tuple[float, ...]
    noise: float
    start: tuple[float, float, float]
    validated: int
    searched: int
    truth_of: Literal["function", "outputs"] = "function"

    @property
    def diameter(self) -> float:
        """Of the domain."""
        return math.sqrt(self.inputs)

    @property
    def sensitivity(self) -> Sensitivity:
        """The smallest bound that is proven for an exponential kernel over this domain."""
        return "exponential_1d_min" if self.inputs == 1 else "generic"


MODEL_LEVELS = Thresholds(key="level", title="Level", offered=(-0.4, -0.2, 0, 0.2, 0.4), start=0)
