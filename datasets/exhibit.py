"""A dataset as the pages show it: what it declares of itself, so that no page knows a dataset by its name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

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
    ratios: tuple[float, ...] = (1.0,)
    scene: Scene | None = None
    drawn: tuple[float, float] | None = None
    cross_validated: bool = True
    smooth_only: bool = False
    residual_bound: float | None = None
    sparse: SparseDefaults | None = None
    simulated: bool = False
