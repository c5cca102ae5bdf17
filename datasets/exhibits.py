"""Declarations of how pages show a data set, so that pages need not refer to data sets by name.

An ``Exhibit`` says how its records are shown, and a ``Study`` how its excursion sets are.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol

from dpgp_core.accounting.posterior_paths import Sensitivity
from dpgp_core.arrays import FloatArray
from dpgp_core.excursion.sets import Targets
from dpgp_core.table import Dataset

Scene = Literal["curve", "map"]


@dataclass(frozen=True, kw_only=True)
class SparseDefaults:
    """Settings with which the page "Sparse DP-GP" opens for a data set. All of it is public.

    Attributes:
        inducing: numbers of inducing inputs along each input that are offered.
        start: initial number, one of ``inducing``.
        noise: initial ratio of noise variance to kernel variance.
        load: loads the records for this page; None if they are those of other pages.
    """

    inducing: tuple[int, ...]
    start: int
    noise: float
    load: Callable[[], Dataset] | None = None


@dataclass(frozen=True, kw_only=True)
class Exhibit:
    """How pages show the records of a data set. All of it is public, and nothing is computed from outputs.

    Attributes:
        name: name in addresses. A data set may have several exhibits with different options.
        title: title in menus.
        load: loads the records with the options of this exhibit.
        unit: unit of the first input and of its lengthscale.
        lengthscales: lengthscales that are offered for the first input, in ``unit``, ascending.
        lengthscale: initial lengthscale, one of ``lengthscales``.
        side_by_side: three lengthscales whose curves a page shows side by side; only for exhibits with a scene.
        ratios: lengthscale of each numerical input, relative to that of the first.
        scene: "curve" for data with one input; "map" for prices on London's hexagons (``london_hexes``); None if no
            page draws a release.
        drawn: range of the first input over which curves are drawn; None for the declared box and 30 % beyond it.
        cross_validated: whether the data are small enough to fit every candidate on every fold while a visitor waits.
        smooth_only: whether there are too many records for rough kernels, which have no low-rank approximation.
        residual_bound: clipping threshold of the residuals of refined cloaking, in model units; None for 1.5 standard
            deviations of the noise.
        sparse: initial settings of the page "Sparse DP-GP"; None if the page does not offer the data set.
        simulated: whether the data are simulated.
    """

    name: str
    title: str
    load: Callable[[], Dataset]
    unit: str
    lengthscales: tuple[float, ...]
    lengthscale: float
    side_by_side: tuple[float, ...] = ()
    ratios: tuple[float, ...] = (1.0,)
    scene: Scene | None = None
    drawn: tuple[float, float] | None = None
    cross_validated: bool = True
    smooth_only: bool = False
    residual_bound: float | None = None
    sparse: SparseDefaults | None = None
    simulated: bool = False


@dataclass(frozen=True, kw_only=True)
class Thresholds:
    """Thresholds of f that a page offers, and the text of their control.

    Attributes:
        key: name in the address.
        title: label of the control, with the unit.
        offered: thresholds, ascending.
        start: initial threshold, one of ``offered``.
        help: help text of the control.
        subtracted: whether the threshold is subtracted from the outputs, so that the threshold of f is 0.
        logarithmic: whether the outputs are logarithms; thresholds are then given in thousands of the original unit.
    """

    key: str
    title: str
    offered: tuple[float, ...]
    start: float
    help: str | None = None
    subtracted: bool = False
    logarithmic: bool = False

    def level_of(self, offered: float) -> float:
        """Return one of the offered thresholds in the unit of the output."""
        return math.log(1000 * offered) if self.logarithmic else offered


class Shown(Protocol):
    """Function that returns the data, the test points, and the true function there."""

    def __call__(self, *, noise: float, threshold: float) -> tuple[Dataset, FloatArray, FloatArray]:
        """Return data set, test points (P, D) and true function (P,) in model units, NaN where it is unknown."""
        ...


class Simulated(Protocol):
    """Function that simulates training sets similar to the data, with known truth, on which settings are chosen."""

    def __call__(self, count: int, *, noise: float, seed: int) -> Targets:
        """Return ``count`` training sets with their true excursion sets."""
        ...


@dataclass(frozen=True, kw_only=True)
class Study:
    """How the page "Excursion sets" shows a data set. All of it is public.

    Attributes:
        name: name in addresses.
        title: title of the tab.
        scene: how f is drawn: as a "curve" over one input, as a "field" on a square grid, or in "cells", the hexagons
            of London.
        shown: returns the data and the truth.
        simulated: simulates training sets on which settings are chosen.
        n: public number of records.
        inputs: number of inputs D, each in [0, 1].
        thresholds: thresholds that are offered.
        noises: noise levels of the data that are offered; () for real data.
        noise: initial noise level; for real data, that of the simulated training sets.
        start: initial lengthscale, r and s, with an epsilon of 2 to 4.
        validated: number of simulated sets on which the cutoff is chosen.
        searched: number of simulated sets on which settings are searched.
        truth_of: what ``shown`` returns as the truth: f, or outputs if f is unknown.
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
        """Diameter of the domain of the inputs."""
        return math.sqrt(self.inputs)

    @property
    def sensitivity(self) -> Sensitivity:
        """Rule for the smallest sensitivity that is proven for an exponential kernel on this domain."""
        return "exponential_1d_min" if self.inputs == 1 else "generic"


MODEL_LEVELS = Thresholds(key="level", title="Threshold", offered=(-0.4, -0.2, 0, 0.2, 0.4), start=0)
