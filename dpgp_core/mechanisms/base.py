"""Base classes of mechanisms, their plans and their releases."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, NewType

import numpy as np

from ..accounting.guarantee import Guarantee, guarantee_fields
from ..arrays import FloatArray
from ..checks import check_share
from ..gp.regression import Inference
from ..gp.uncertainty import IntervalTarget, Predictive, Uncertainty
from ..kernels import KERNELS
from ..linalg import Matrix, column_lengths, column_norms
from ..measurement.statistics import Stage, Statistics
from ..strategies.noise_design import NoiseDesign
from ..table import Dataset

EXACT_ROWS = 5_000
"""Largest number of rows for mechanisms that store a matrix of rows by test inputs."""
FACTORED_ROWS = 200_000
"""Largest number of rows for mechanisms that store this matrix as a product of low rank."""
ANY_ROWS = 2_000_000
"""Largest number of rows for mechanisms that process records in one pass."""

NotPrivate = NewType("NotPrivate", FloatArray)
"""An array computed from private data without noise. It may be shown for teaching, but must never be published."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Release:
    """Output of a mechanism on a data set. It contains nothing computed from private values without noise.

    Attributes:
        X_test: test inputs (P, D), in input units.
        samples: released curves (draws, P), in the unit of the output. They may be published.
        guarantee: guarantee of all ``samples`` together.
        statistics: measurements of each release, from which ``samples`` and intervals are computed.
        uncertainty: computes the intervals.
        noise_factor: L (P, k), in the unit of the output, with noise covariance L L^T; None unless the noise of the
            curve is a linear map of independent noise. It is public.
    """

    X_test: FloatArray
    samples: FloatArray
    guarantee: Guarantee
    statistics: Sequence[Any]
    uncertainty: Uncertainty
    noise_factor: FloatArray | None = None

    def interval(self, level: float, of: IntervalTarget = "outputs") -> tuple[FloatArray, FloatArray]:
        """Return both ends (draws, P) of the central predictive interval at each test input. They are public.

        It accounts for privacy noise, clipping and the uncertainty of the model. For data from the declared model it
        covers the truth with probability ``level``. Ends are in the unit of the output.

        Args:
            of: "outputs" for one further record, or "function" for the latent f.

        Raises:
            ValueError: an argument is out of range, or the mechanism has no model to base an interval on.
        """
        check_share("level", level)
        if of not in ("outputs", "function"):
            raise ValueError(f"of must be 'outputs' or 'function', got {of!r}")
        return self.uncertainty.interval(level, of)

    @property
    def noise_sd(self) -> FloatArray:
        """Standard deviation of the privacy noise at each test input (P,), in the unit of the output. It is public.

        Raises:
            ValueError: the noise of the curve is not a linear map of independent noise.
        """
        return np.sqrt(column_norms(self._factor().T))

    def noise_covariance(self) -> FloatArray:
        """Return the covariance of the privacy noise (P, P), in squared output units. It is public.

        Raises:
            ValueError: the noise of the curve is not a linear map of independent noise.
        """
        return self._factor() @ self._factor().T

    def _factor(self) -> FloatArray:
        if self.noise_factor is None:
            raise ValueError("the noise of this release is not added once, so it has no covariance; use interval()")
        return self.noise_factor


@dataclass(frozen=True, kw_only=True, eq=False)
class TeachingRelease(Release):
    """Simulated releases for teaching, with floating-point noise from a generator, and the curve without noise.

    Attributes:
        mean: the curve without noise (P,), in the unit of the output. It is not private.
    """

    mean: NotPrivate


@dataclass(frozen=True, kw_only=True, eq=False)
class LazyStatistics(Sequence[Statistics]):
    """The statistics of each release, computed on demand, because strategies of many records are large.

    The released curve is an affine map of the numbers measured in the last stage.

    Attributes:
        public: the data set without its outputs.
        guarantee: guarantee of all releases together.
        z: numbers measured by each stage (draws, r).
    """

    public: Dataset
    guarantee: Guarantee
    z: tuple[FloatArray, ...]

    @property
    @abstractmethod
    def size(self) -> int:
        """Number of entries of all strategies."""

    @abstractmethod
    def stages(self, draw: int) -> list[Stage]:
        """Return the measurement and the noisy numbers of each stage of one release."""

    @abstractmethod
    def mapped(self, draw: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return offset (P,), map (P, r) and z (r,) of one release; the curve is offset + map z, in output units."""

    def __len__(self) -> int:
        return len(self.z[0])

    def __getitem__(self, draw: int | slice) -> Any:
        """Return the statistics of one release, or a list of several. The guarantee is that of all together."""
        if isinstance(draw, slice):
            return [self[i] for i in range(len(self))[draw]]
        public, whole = self.public, self.guarantee
        return Statistics(
            stages=tuple(self.stages(range(len(self))[draw])),
            X=public.X,
            columns=public.columns,
            y_name=public.y_name,
            y_unit=public.y_unit,
            y_scale=public.y_scale,
            guarantee=guarantee_fields(whole) | {"releases": whole.releases, "established": whole.established},
        )


class Draws(NamedTuple):
    """Number of releases, their source of noise (None for real ones), and their guarantee together."""

    times: int
    rng: np.random.Generator | None
    guarantee: Guarantee


NoiselessCurve = Callable[[], FloatArray]
"""Function that computes the curve without noise (P,), which is not private."""


class Mechanism(ABC):
    """Base class of mechanisms. A release has two steps: a public plan, and a measurement that reads the outputs.

    Class attributes say what the mechanism can do. Menus, configurations and comparisons are made from them.
    """

    label: ClassVar[str]
    reference: ClassVar[str]
    one_plan: ClassVar[bool] = True
    """Whether the best plan is the same for every budget."""
    pure: ClassVar[bool] = False
    """Whether its guarantee has delta = 0."""
    max_rows: ClassVar[int] = EXACT_ROWS
    many_inputs: ClassVar[int] = 10
    """``max_rows`` is the largest number of rows of a real release with up to ``many_inputs`` inputs.

    With more inputs, ``EXACT_ROWS`` is the limit.
    """
    uses_cells: ClassVar[bool] = False
    """Whether the number of cells of the box is a parameter."""
    automatic: ClassVar[bool] = False
    """Whether it makes its models itself, from box and bounds. Kernel, lengthscale and noise variance are not used."""
    measures_dispersion: ClassVar[bool] = False
    """Whether it measures the dispersion of the outcomes about the curve."""
    levels: ClassVar[bool] = False
    """Whether inputs may be categories."""
    people: ClassVar[bool] = False
    """Whether it can protect all rows of a person together without more noise, if a column identifies persons."""
    kernel_names: ClassVar[tuple[str, ...]] = tuple(kernel.__name__ for kernel in KERNELS)
    """Names of the kernels that it accepts."""
    simulation_type: ClassVar[type[TeachingRelease]] = TeachingRelease
    """Class of its simulated releases. It has the fields of the release, and the curve without noise."""

    @classmethod
    def rows_for(cls, inputs: int) -> int:
        """Return the largest number of rows of a real release with so many inputs."""
        return cls.max_rows if inputs <= cls.many_inputs else min(cls.max_rows, EXACT_ROWS)

    @property
    @abstractmethod
    def guarantee(self) -> Guarantee:
        """Guarantee of one release. It is known before any data are read."""

    @property
    def as_planned(self) -> Mechanism:
        """This mechanism with a fixed budget, if one plan serves all budgets, so that equal ones have equal plans."""
        here: Any = self
        if not self.one_plan:
            return self
        budget = {"epsilon": 1.0, "delta": 0.01, "calibration": "analytic", "unproven": False}
        fixed: Mechanism = replace(here, **{name: value for name, value in budget.items() if hasattr(here, name)})
        return fixed

    @property
    def has_interval(self) -> bool:
        """Whether its releases have intervals."""
        return True

    def guarantee_for(self, dataset: Dataset) -> Guarantee:
        """Return the guarantee of one release from a data set.

        Raises:
            ValueError: people have several rows or an input is a category, and the mechanism does not support it.
        """
        if dataset.x_levels is not None and not self.levels:
            raise ValueError(
                f"an input is a category, and {self.label} takes inputs that are numbers; use Bayes cloaking"
            )
        if dataset.person is not None and not self.people:
            raise ValueError(
                f"people may have several rows here, and {self.label} protects single rows only. Use Bayes "
                "cloaking, whose guarantee is for people, or one row of each person"
            )
        return self.guarantee.for_unit(dataset.privacy_unit)

    def plan_for(self, dataset: Dataset, X_test: FloatArray) -> Any:
        """Return the public plan for the inputs, box and bounds of a data set and for test inputs X_test (P, D).

        It is None if the mechanism plans nothing.
        """
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
        """Measure as planned and compute the released curve. This is the only step that reads the outputs.

        Args:
            plan: result of ``plan_for`` for this mechanism with any budget, this data set and these test inputs.
            rng: None for a real release with exact integer arithmetic and noise from the operating system. With a
                generator the result is a simulated release, whose guarantee says that it is not private.
            draws: number of releases. The guarantee is that of all of them together.
            mean: whether simulated releases include the curve without noise, which may take long to compute. The result
                is then a ``TeachingRelease``.

        Raises:
            ValueError: draws < 1, shapes disagree, or the plan was made for something else.
        """
        guarantee = self.guarantee_for(dataset).repeated(draws)
        if rng is not None:
            guarantee = guarantee.for_simulation()
        release, hidden = self.drawn(plan, dataset, X_test, Draws(draws, rng, guarantee))
        if rng is None or not mean:
            return release
        return self.simulation_type(**{**vars(release), "mean": NotPrivate(hidden())})

    @abstractmethod
    def drawn(self, plan: Any, dataset: Dataset, X_test: FloatArray, draws: Draws) -> tuple[Release, NoiselessCurve]:
        """Return the release, and a function that computes the curve without noise; ``measure`` calls this method."""

    def release(
        self, dataset: Dataset, X_test: FloatArray, rng: np.random.Generator | None = None, draws: int = 1
    ) -> Release:
        """Plan and measure. See ``measure`` for the arguments."""
        return self.measure(self.plan_for(dataset, X_test), dataset, X_test, rng, draws)


@dataclass(frozen=True, kw_only=True, eq=False)
class Plan:
    """Public plan of a release with Gaussian noise: the strategy of the measurement, and the map from it to a curve.

    The measurement is z = B q + s w with |b_j| <= 1, where q_j in [-1/2, 1/2] is output j scaled to its clipping
    interval of width u. The curve, relative to the midpoint of the bounds, is u L z. Its noise is u s L w.

    If there are two stages, this is the plan of the last one, which maps to X_test.

    Attributes:
        strategy: B (r, n). For very many records it is kept as a product (``FactoredMatrix``).
        factor: L (P, r).
        design: the optimised noise; None for mechanisms without noise design.
        inference: how the cloaking matrix was computed; None for mechanisms without this choice.
        model: the declared model, for intervals; None if there is none.
        first: plan of the first of two stages, which maps to the rows of [X; X_test] (n + P, D); None if there is one.
    """

    strategy: Matrix
    factor: FloatArray
    design: NoiseDesign | None = None
    inference: Inference | None = None
    model: Predictive | None = None
    first: Plan | None = None

    @property
    def stages(self) -> tuple[Plan, ...]:
        """Plans of all stages, in order."""
        return (self,) if self.first is None else (self.first, self)

    @property
    def weights(self) -> Matrix:
        """A = L B (P, n). Column j is the change of the curve per unit change of output j."""
        return self.factor @ self.strategy


def within_unit(strategy: Matrix, factor: FloatArray) -> tuple[Matrix, FloatArray]:
    """Rescale strategy and factor so that every |b_j| <= 1, even if rounding errors made columns longer.

    The product L B stays the same. Columns can become too long if the covariance matrix of a model is ill-conditioned.
    """
    longest = float(np.sqrt(column_lengths(strategy).max(initial=0.0)))
    return (strategy, factor) if longest <= 1 else ((1 / longest) * np.eye(len(strategy)) @ strategy, longest * factor)
