"""Every mechanism, and its releases."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, NewType

import numpy as np

from ..accounting.guarantee import Guarantee, promise_of
from ..arrays import FloatArray
from ..gp.regression import Inference
from ..gp.uncertainty import IntervalTarget, Predictive, Uncertainty
from ..kernels import KERNELS
from ..linalg import Matrix, column_lengths, column_norms
from ..measurement.statistics import Stage, Statistics
from ..strategies.noise_design import NoiseDesign
from ..table import Dataset

EXACT_ROWS = 5_000
"""Most rows for mechanisms that keep a matrix of rows by prediction points."""
FACTORED_ROWS = 200_000
"""Most rows for mechanisms that keep it in factors of low rank."""
ANY_ROWS = 2_000_000
"""Most rows for mechanisms that read records in one pass."""

NotPrivate = NewType("NotPrivate", FloatArray)
"""An array computed from private data without noise. It may be drawn for teaching, never published."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Release:
    """The outcome of one mechanism on one data set. Nothing in it was computed from private values without noise.

    Attributes:
        samples: released values (draws, P), in the output's unit: these may be published.
        guarantee: for all ``samples`` together.
        statistics: measurements, one entry a draw; ``samples`` and ``interval`` follow from it.
        uncertainty: behind ``interval``.
        noise_factor: (P, k), L with noise covariance L L^T in the output's unit, where all noise is one linear map
            of independent noise; None elsewhere. Public.
    """

    X_test: FloatArray
    samples: FloatArray
    guarantee: Guarantee
    statistics: Sequence[Any]
    uncertainty: Uncertainty
    noise_factor: FloatArray | None = None

    def interval(self, level: float, of: IntervalTarget = "outputs") -> tuple[FloatArray, FloatArray]:
        """Central predictive interval at every test point, (draws, P) each, in the output's unit. Public.

        It covers the privacy noise of all stages, clipping, and the model's own uncertainty: on data from
        the declared model it holds the truth with probability ``level``.

        Args:
            of: "outputs", one further record; or "function", the latent f.

        Raises:
            ValueError: an argument is out of range, or the mechanism has no model to base an interval on.
        """
        if not 0 < level < 1:
            raise ValueError(f"level must lie between 0 and 1, got {level}")
        if of not in ("outputs", "function"):
            raise ValueError(f"of must be 'outputs' or 'function', got {of!r}")
        return self.uncertainty.interval(level, of)

    @property
    def noise_sd(self) -> FloatArray:
        """Standard deviation of the privacy noise at each test point (P,), in the output's unit. Public.

        Raises:
            ValueError: the noise is not one linear map.
        """
        return np.sqrt(column_norms(self._factor().T))

    def noise_covariance(self) -> FloatArray:
        """Covariance of the privacy noise (P, P), in squared output units. Public.

        Raises:
            ValueError: the noise is not one linear map.
        """
        return self._factor() @ self._factor().T

    def _factor(self) -> FloatArray:
        if self.noise_factor is None:
            raise ValueError("the noise of this release is not added once, so it has no covariance; use interval()")
        return self.noise_factor


@dataclass(frozen=True, kw_only=True, eq=False)
class TeachingRelease(Release):
    """Numbered draws for teaching: float noise from a generator, and the curve without it. Not a release.

    Attributes:
        mean: the same map of the noiseless measurement (P,), in the output's unit.
    """

    mean: NotPrivate


@dataclass(frozen=True, kw_only=True, eq=False)
class EachDraw(Sequence[Statistics]):
    """The statistics of every draw, made on demand: strategies of many records are large.

    Released values are an affine map of the numbers measured last.

    Attributes:
        public: the table without its outputs.
        z: measured by each stage (draws, r).
    """

    public: Dataset
    guarantee: Guarantee
    z: tuple[FloatArray, ...]

    @property
    @abstractmethod
    def size(self) -> int:
        """Numbers in all strategies."""

    @abstractmethod
    def stages(self, draw: int) -> list[Stage]:
        """The measurement and numbers of each stage."""

    @abstractmethod
    def mapped(self, draw: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Offset (P,), map (P, r) and z (r,): the curve is offset + map z, in the output's unit."""

    def __len__(self) -> int:
        return len(self.z[0])

    def __getitem__(self, draw: int | slice) -> Any:
        """The statistics of one draw, or of several: its stages, the public part, and the promise for all draws."""
        if isinstance(draw, slice):
            return [self[i] for i in range(len(self))[draw]]
        public, promised = self.public, self.guarantee
        return Statistics(
            stages=tuple(self.stages(range(len(self))[draw])),
            X=public.X,
            columns=public.columns,
            y_name=public.y_name,
            y_unit=public.y_unit,
            y_scale=public.y_scale,
            guarantee=promise_of(promised) | {"releases": promised.releases, "established": promised.established},
        )


class Draws(NamedTuple):
    """Number of draws, their source of noise, and the promise for all of them together."""

    times: int
    rng: np.random.Generator | None
    promise: Guarantee


Hidden = Callable[[], FloatArray]
"""Computes the curve without noise (P,). Not private."""


class Mechanism(ABC):
    """A private release of GP predictions, in two steps: a public plan, before outputs are read, and a measurement.

    Its class lists its abilities; menus, configurations and comparisons use nothing else.
    """

    label: ClassVar[str]
    reference: ClassVar[str]
    one_plan: ClassVar[bool] = True
    """Whether the best plan is the same at every budget."""
    pure: ClassVar[bool] = False
    """Whether its delta is 0."""
    max_rows: ClassVar[int] = EXACT_ROWS
    many_inputs: ClassVar[int] = 10
    """Most rows that it takes in a real release, and of how many input columns at most; of more, ``EXACT_ROWS``."""
    uses_cells: ClassVar[bool] = False
    """Whether the number of cells of the box is a parameter."""
    automatic: ClassVar[bool] = False
    """Whether it makes its models itself, from box and bounds: kernel, lengthscale and noise are not used."""
    scatter: ClassVar[bool] = False
    """Whether it measures how far people are apart."""
    levels: ClassVar[bool] = False
    """Whether it takes inputs that are categories."""
    people: ClassVar[bool] = False
    """Whether it hides all rows of a person at the price of one, where a column says whose row each is."""
    kernel_names: ClassVar[tuple[str, ...]] = tuple(kernel.__name__ for kernel in KERNELS)
    """Names of the kernels it works with."""
    taught: ClassVar[type[TeachingRelease]] = TeachingRelease
    """Class of numbered draws with the curve without noise; it has the fields of the release otherwise."""

    @classmethod
    def rows_for(cls, inputs: int) -> int:
        """Most rows of so many input columns that it takes in a real release."""
        return cls.max_rows if inputs <= cls.many_inputs else min(cls.max_rows, EXACT_ROWS)

    @property
    @abstractmethod
    def guarantee(self) -> Guarantee:
        """The promise for one draw, known before any data are read."""

    def promise_for(self, dataset: Dataset) -> Guarantee:
        """The promise for one draw of a data set.

        Raises:
            ValueError: people have several rows, or an input is a category, and it cannot hide or read that.
        """
        if dataset.x_levels is not None and not self.levels:
            raise ValueError(
                f"an input is a category, and {self.label} takes inputs that are numbers; use Bayes cloaking"
            )
        if dataset.person is not None and not self.people:
            raise ValueError(
                f"people may have several rows here, and {self.label} hides one row only. Use Bayes cloaking, whose "
                "promise is to people, or one row of each person"
            )
        return self.guarantee.for_unit(dataset.privacy_unit)

    def plan_for(self, dataset: Dataset, X_test: FloatArray) -> Any:
        """Public plan for the inputs, box and range of a data set and test inputs; None where nothing is planned."""
        return None

    def measure(
        self,
        plan: Any,
        dataset: Dataset,
        X_test: FloatArray,
        rng: np.random.Generator | None = None,
        draws: int = 1,
        *,
        mean: bool = True,
    ) -> Release:
        """Measure as planned, and map: the only step that reads the outputs.

        Args:
            plan: of ``plan_for``, for this mechanism at any budget, these inputs and X_test.
            rng: None for a real release: exact integers, noise from the operating system. A generator gives numbered
                draws for teaching, a ``TeachingRelease``, whose card says that it is no release.
            mean: whether numbered draws come with the curve without noise, which may take long; else a ``Release``.

        Raises:
            ValueError: draws < 1, shapes disagree, or the plan is of something else.
        """
        all_draws = Draws(draws, rng, self.promise_for(dataset).repeated(draws))
        release, hidden = self.drawn(plan, dataset, X_test, all_draws)
        if rng is None:
            return release
        card = release.guarantee.taught()
        if not mean:
            return replace(release, guarantee=card)
        return self.taught(**{**vars(release), "guarantee": card, "mean": NotPrivate(hidden())})

    @abstractmethod
    def drawn(self, plan: Any, dataset: Dataset, X_test: FloatArray, draws: Draws) -> tuple[Release, Hidden]:
        """Each mechanism's own part of ``measure``: the release, and the curve without noise."""

    def release(
        self, dataset: Dataset, X_test: FloatArray, rng: np.random.Generator | None = None, draws: int = 1
    ) -> Release:
        """Plan and measure at X_test (P, D); ``draws`` > 1 composes and says so in the guarantee."""
        return self.measure(self.plan_for(dataset, X_test), dataset, X_test, rng, draws)


@dataclass(frozen=True, kw_only=True, eq=False)
class Plan:
    """The public part of a Gaussian release: the measurement of the outputs, and the map from there to a curve.

    Measured are z = B q + s w, |b_j| <= 1, q_j in [-1/2, 1/2] output j scaled to its interval of width u; the curve
    is u L z about the middle. So L B = A acts on the outputs and u s L w is its noise.

    Where there are two stages, this is the last one, whose map is to X_test.

    Attributes:
        strategy: B (r, n). For very many records it is kept as a product (``FactoredMatrix``).
        factor: L (P, r).
        design: the optimised noise, for mechanisms that have one.
        inference: how A was computed, for mechanisms that have a choice.
        model: the declared model, for intervals; None where there is none.
        first: the stage before, whose map is to the rows of [X; X_test] (n + P, D); None where this is the only one.
    """

    strategy: Matrix
    factor: FloatArray
    design: NoiseDesign | None = None
    inference: Inference | None = None
    model: Predictive | None = None
    first: Plan | None = None

    @property
    def stages(self) -> tuple[Plan, ...]:
        """All measurements in order."""
        return (self,) if self.first is None else (self.first, self)

    @property
    def weights(self) -> Matrix:
        """A = L B (P, n). Column j is how far record j can move the curve, per unit of its output."""
        return self.factor @ self.strategy


def within_unit(strategy: Matrix, factor: FloatArray) -> tuple[Matrix, FloatArray]:
    """The same L B with every |b_j| <= 1, whatever rounding or an ill-conditioned model did to the columns."""
    longest = float(np.sqrt(column_lengths(strategy).max(initial=0.0)))
    return (strategy, factor) if longest <= 1 else ((1 / longest) * np.eye(len(strategy)) @ strategy, longest * factor)
