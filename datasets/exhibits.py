"""A dataset as the pages show it: what it declares of itself, so that no page knows a dataset by its name.

An ``Exhibit`` is shown by its records, a ``Study`` by its excursion sets.
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
    """How the page about private inputs opens with a dataset. All of it is public.

    Attributes:
        inducing: numbers of inducing inputs along each input that are offered.
        start: the one it opens with, among ``inducing``.
        noise: noise variance over kernel variance that it opens with.
        load: its records there, if not those of other pages.
    """

    inducing: tuple[int, ...]
    start: int
    noise: float
    load: Callable[[], Dataset] | None = None


@dataclass(frozen=True, kw_only=True)
class Exhibit:
    """What pages need of a dataset. All of it is public: nothing is computed from an output.

    Attributes:
        name: in addresses; one dataset may be shown under several names, with other options.
        title: in drop-downs.
        load: the records, with the options of this exhibit.
        unit: of the first input, and so of the lengthscale.
        lengthscales: offered for the first input, in ``unit``, ascending.
        lengthscale: the one a page opens with, among ``lengthscales``.
        side_by_side: three of them across the domain, that a page draws beside each other; of exhibits with a scene.
        ratios: lengthscale of each input that is a number over that of the first.
        scene: "curve" for one input, drawn along it; "map" for prices on London's hexagons (``london_hexes``); None if
            no page draws a release of it.
        drawn: range of the first input that curves are drawn over; None: the declared box and 30 % beyond.
        cross_validated: small enough to be fitted on every fold for every candidate while a visitor waits.
        smooth_only: too many records for a rough kernel, which has no low rank.
        residual_bound: what refined cloaking clips residuals to, in model units, where 1.5 standard deviations of the
            noise are too wide a public guess; None elsewhere.
        sparse: how the page about private inputs opens; None if it does not offer the dataset.
        simulated: nobody's data.
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


MODEL_LEVELS = Thresholds(key="level", title="Threshold", offered=(-0.4, -0.2, 0, 0.2, 0.4), start=0)
