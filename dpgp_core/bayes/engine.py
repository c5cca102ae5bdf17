"""Measuring in stages: each looks closely about the curve that the stages before it released. One loop for all data.

A stage measures z = B q + s w of what lies in public intervals, columns of B at most 1 long, so that one record, or one
person, moves it by at most 1 (see ``measurement``). Strategy and intervals of a stage are functions of what earlier
stages released: stage i is (1 / s_i)-GDP, and all together are exactly (1 / s)-GDP with sum 1 / s_i^2 = 1 / s^2
(adaptive composition: Dong, Roth & Su 2022, corollary 3.3). Only a ``Reader`` sees records.

Two filters say what numbers mean: ``RecordFilter``, where every record has a column of its own, and ``CellFilter``,
where records share those of public cells. What both have in common stands here. All of it is post-processing.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np
from scipy.special import softmax

from ..arrays import FloatArray
from ..measurement.fit import Fit, fits_of
from ..measurement.measurement import CellCounts
from ..strategies.strategy import Strategy
from .cells import Counts
from .mixture import Mixture, side_by_side
from .scatter import REACH, ROUNDS, Noisy, expected, log_density, model_weights, nothing_known, of_two_values, split
from .spread import Distances, Shares, Spread, peopled, reach_of, spread_of, two_valued, usual_distance
from .stages import PlannedStage, each_column

NOTHING: FloatArray = np.zeros(0)
S = TypeVar("S")


class Squares(NamedTuple):
    """The sum of min((y - g)^2, high) / high - 1/2 over all records, of D draws. Public.

    Attributes:
        g: public curve, in model units: at the records (D, n), or at the nodes of public cells (D, F).
        high: largest square that counts, of each record (D, n) or cell (D, M), in squared model units.
        s: standard deviation of the noise.
        z: noisy numbers (D,), once they are measured.
    """

    g: FloatArray
    high: FloatArray
    s: float
    z: FloatArray = NOTHING


class Observed(NamedTuple):
    """One stage of D draws, as it is asked for and as it is released. Public, in model units.

    Attributes:
        B: strategy (r, n), or (r, M) over cells.
        low, high: what outputs are clipped to (D, n); over cells, what residuals about g are (D, M).
        noise_multiplier: s; of a release, the standard deviation of the noise on each entry of z.
        z: noisy measurements (D, r), once they are made.
        squares: of the same records, if they were measured.
        g: public function that residuals are taken about, at the nodes of cells (D, F); None for outputs themselves.
        width: half-width that was chosen over cells, over the predictive standard deviation; not needed to read.
        cut: whether an outcome may lie beyond the ends.
    """

    B: FloatArray
    low: FloatArray
    high: FloatArray
    noise_multiplier: float
    z: FloatArray = NOTHING
    squares: Squares | None = None
    g: FloatArray | None = None
    width: float | None = None
    cut: bool = True


class Measured(NamedTuple):
    """All that one budget measured, of D draws. Public.

    Attributes:
        stages: one after another.
        distances: of outcomes to the curve that the stages gave, if they were measured.
        counts: what was asked of the numbers of records in cells, or these numbers where they are public.
        z: what was released of counts (r,).
    """

    stages: tuple[Observed, ...]
    distances: Distances | None = None
    counts: CellCounts | Counts | None = None
    z: FloatArray = NOTHING

    def draws(self, some: slice) -> Measured:
        """Some of the draws."""
        stages, distances = _by_draw(lambda arrays: arrays[0][some], (self.stages, self.distances))
        return self._replace(stages=stages, distances=distances)


class Posterior(NamedTuple, Generic[S]):
    """What is known of D draws after some stages.

    Attributes:
        states: of each model (M), as its filter has them.
        scatter: log density of the noise variance (D, S); None where stages are read as if outcomes were normal.
        weights: probabilities of the models (D, M).
        numbers: how many numbers each stage released, counts included.
    """

    states: tuple[S, ...]
    scatter: FloatArray | None
    weights: FloatArray
    numbers: tuple[int, ...] = ()


class Reader(Protocol):
    """The only part that reads records: it returns what it is asked, with the noisy numbers."""

    def counts(self, measurement: CellCounts) -> FloatArray:
        """Numbers of records in public cells (r,)."""
        ...

    def sums(self, asked: Observed) -> Observed:
        """Clipped outputs, or residuals."""
        ...

    def squares(self, asked: Squares) -> Squares:
        """Squared residuals of the records of the stage before."""
        ...

    def distances(self, asked: Distances, g: FloatArray) -> Distances:
        """Distances to g, and how many outcomes lie above it."""
        ...


class Filter(ABC, Generic[S]):
    """A mixture of models on the records, or cells, that are measured, and at test inputs.

    Attributes:
        labels: of each model's kernel, equal for equal kernels.
        two_valued: whether every output stands at one end of the range, as yes and no do.
    """

    models: Sequence[Noisy]
    labels: tuple[int, ...]
    n: int
    half_range: float
    two_valued: bool
    X_test: FloatArray

    @property
    @abstractmethod
    def biased(self) -> bool:
        """Whether clipping may be, and squares say how people scatter: all but releases of before."""

    @property
    @abstractmethod
    def people(self) -> FloatArray:
        """How many stand at each column of a strategy, none below 0: what shares are made of."""

    @property
    def expected_people(self) -> FloatArray:
        """How many are expected there, which may be below 0 by chance where counts are noisy."""
        return self.people

    @property
    @abstractmethod
    def zero(self) -> FloatArray:
        """A curve that is 0."""

    @abstractmethod
    def prior(self, draws: int) -> tuple[tuple[S, ...], tuple[int, ...]]:
        """Of each model before any output is measured; and how many numbers were released by then."""

    @abstractmethod
    def next_stage(self, posterior: Posterior[S], stage: PlannedStage, s: float, first: bool) -> tuple[Observed, Any]:
        """What a stage of noise multiplier s asks: intervals of least expected risk, and the strategy as planned or
        best for them; beside it what ``updated`` can use again.
        """

    @abstractmethod
    def updated(self, posterior: Posterior[S], seen: Observed, again: Any = None) -> tuple[S, ...]:
        """States after a stage's sums."""

    @abstractmethod
    def mean_square(self, posterior: Posterior[S], g: FloatArray) -> FloatArray:
        """E (y - g)^2 of each column (D, n), over the models."""

    @abstractmethod
    def curve(self, posterior: Posterior[S]) -> FloatArray:
        """The expected curve within the range, where residuals are taken about it."""

    @abstractmethod
    def squares_about(self, posterior: Posterior[S], seen: Observed) -> FloatArray:
        """The curve that a stage's squares are taken about."""

    @abstractmethod
    def predict(self, posterior: Posterior[S]) -> Mixture:
        """The models' predictions at the test inputs."""

    @abstractmethod
    def shared(self, posterior: Posterior[S]) -> tuple[FloatArray, ...]:
        """Of each model Q (R, P): what the first draw learnt of f at the test inputs, covariance = K_** - Q^T Q."""

    @abstractmethod
    def of_distances(self) -> Filter[S]:
        """Models of 2 (a / A - usual), see ``spread``, on the same columns and test inputs, from the box alone."""

    def plan_distances(self, usual: float, s: float) -> Strategy:
        """What to measure of distances where that was not planned in advance, ``usual`` being expected of a / A."""
        return each_column(len(self.people))

    def at_once(self, rows: int) -> int:
        """How many draws of so many numbers are kept side by side."""
        return 1

    def begin(self, draws: int = 1) -> Posterior[S]:
        """What is known before any output is measured."""
        states, numbers = self.prior(draws)
        scatter = np.tile(nothing_known(), (draws, 1)) if self.biased else None
        return self._weighed(Posterior(states, scatter, NOTHING, numbers))

    def after(self, posterior: Posterior[S], seen: Observed, again: Any = None) -> Posterior[S]:
        """What is known after the sums of one more stage."""
        states = self.updated(posterior, seen, again)
        now = self._weighed(posterior._replace(states=states, numbers=(*posterior.numbers, len(seen.B))))
        if not self.two_valued:
            return now
        share = self.people / self.people.sum()
        for _ in range(ROUNDS):  # what the curve says of the scatter about it, and that of the models, until both agree
            square = self.mean_square(now, self.zero) @ share - self._noise_variance(now)
            now = self._weighed(now._replace(scatter=of_two_values(self.half_range, square)))
        return now

    def with_squares(self, posterior: Posterior[S], squares: Squares | None) -> Posterior[S]:
        """What is known once the squares of a stage are too; the same if there are none."""
        if squares is None or posterior.scatter is None:
            return posterior
        about = np.maximum(self.mean_square(posterior, squares.g) - self._noise_variance(posterior)[:, None], 0.0)
        told = [
            log_density(self.half_range, each, reach, self.expected_people, squares.s, float(z))
            for each, reach, z in zip(about, np.sqrt(squares.high), squares.z, strict=True)
        ]
        return self._weighed(posterior._replace(scatter=posterior.scatter + np.stack(told)))

    def read(self, stages: Sequence[Observed]) -> Posterior[S]:
        """What stages that were released say: spends nothing."""
        now = self.begin(len(stages[0].z))
        for stage in stages:
            now = self.with_squares(self.after(now, stage), stage.squares)
        return now

    def read_and_predict(self, stages: Sequence[Observed]) -> Mixture:
        """The same of many draws, as many at a time as fit into memory."""
        at_once, draws = self.at_once(sum(len(stage.B) for stage in stages)), len(stages[0].z)
        parts = [slice(first, first + at_once) for first in range(0, draws, at_once)]
        return side_by_side([self.predict(self.read(Measured(tuple(stages)).draws(some).stages)) for some in parts])

    def with_people(self, prediction: Mixture, distances: Distances | None) -> Mixture:
        """The same prediction at the test inputs, with what is known of how people scatter there."""
        if self.two_valued:
            return two_valued(prediction, self.half_range)
        if distances is None or not self.biased:
            return prediction
        return peopled(prediction, self.read_distances(distances), distances, self.n)

    def read_distances(self, distances: Distances) -> Spread:
        """What noisy sums of distances say of E a at the test inputs: spends nothing."""
        of, usual = self.of_distances(), usual_distance(distances.sd, distances.reach)
        now = of.after(of.begin(len(distances.z)), of.distances_seen(distances.B, usual, distances.s, distances.z))
        return spread_of(of.predict(now), usual[:, None], distances.reach)

    def distances_seen(self, B: FloatArray, usual: FloatArray, s: float, z: FloatArray = NOTHING) -> Observed:
        """Sums of a / A - 1/2 = (v + 2 usual - 1) / 2 of v = 2 (a / A - usual), which models speak of; none is cut."""
        centre, one = (2 * usual - 1)[:, None], np.ones((len(usual), len(self.people)))
        return Observed(B, -one - centre, one - centre, s, z, g=self.zero, cut=False)

    def expected_noise(self, posterior: Posterior[S]) -> FloatArray | None:
        """E sigma^2 (D,), which clipping's bias depends on; None where it is taken to have none."""
        return None if posterior.scatter is None else expected(posterior.scatter, self.half_range)

    def log_evidence(self, posterior: Posterior[S]) -> FloatArray:
        """Log density of what was measured of the outcomes, under each model (D, M)."""
        return np.stack([np.atleast_1d(state.log_evidence) for state in self._any(posterior)], axis=1)

    def fit(self, posterior: Posterior[S]) -> tuple[Fit, ...]:
        """How what was released fits the models; () before any stage."""
        if not posterior.numbers:
            return ()
        misfit = np.stack([np.atleast_2d(state.misfit) for state in self._any(posterior)], axis=1)
        return fits_of(posterior.weights, misfit, posterior.numbers)

    def _any(self, posterior: Posterior[S]) -> tuple[Any, ...]:
        return posterior.states

    def _noise_variance(self, posterior: Posterior[S]) -> FloatArray:
        """Expected over the models (D,)."""
        return np.asarray(posterior.weights @ [model.noise_variance for model in self.models])

    def _weighed(self, posterior: Posterior[S]) -> Posterior[S]:
        """With the models' probabilities: by squares and evidence, or by prior weight and evidence alone."""
        evidence = self.log_evidence(posterior)
        if posterior.scatter is not None:
            weights = model_weights(self.models, self.labels, posterior.scatter, evidence, self.half_range)
        else:
            weights = softmax(np.log([model.weight for model in self.models]) + evidence, axis=1)
        return posterior._replace(weights=weights)


def run_stages(
    filtered: Filter[Any], stages: Sequence[PlannedStage], reader: Reader, draws: int = 1
) -> tuple[tuple[Observed, ...], Posterior[Any]]:
    """Measure stage after stage, D independent draws side by side. Only ``reader`` sees records.

    Args:
        filtered: the mixture on what is measured.
        stages: with strategies, or to be planned from what those before released.
        reader: measures.
        draws: D.
    """
    now, observed = filtered.begin(draws), list[Observed]()
    for stage in stages:
        own, of_squares = split(stage.noise_multiplier, not filtered.biased or not observed)
        asked, again = filtered.next_stage(now, stage, own, not observed)
        seen = reader.sums(asked)
        now = filtered.after(now, seen, again)
        if of_squares is not None:
            g = filtered.squares_about(now, seen)
            high = np.minimum(REACH**2 * filtered.mean_square(now, g), (2 * filtered.half_range) ** 2)
            seen = seen._replace(squares=reader.squares(Squares(g, high, of_squares)))
            now = filtered.with_squares(now, seen.squares)
        observed.append(seen)
    return tuple(observed), now


def measure_distances(
    filtered: Filter[Any], now: Posterior[Any], shares: Shares, reader: Reader, B: FloatArray | None = None
) -> Distances:
    """Measure distances to the curve that the stages gave; see ``spread``.

    Args:
        filtered: of the stages.
        now: what they say.
        shares: noise multipliers.
        reader: measures.
        B: planned in advance, or None.
    """
    assert shares.distances is not None
    assert now.scatter is not None
    g, people = filtered.curve(now), filtered.people
    reach = reach_of(filtered.mean_square(now, g) @ people / people.sum(), filtered.half_range)
    sd = np.sqrt(expected(now.scatter, filtered.half_range))
    if B is None:
        B = filtered.plan_distances(float(usual_distance(sd, reach)[0]), shares.distances).B
    above = None if shares.above is None else (shares.above, NOTHING)
    return reader.distances(Distances(B, reach, sd, shares.distances, NOTHING, above), g)


def together(parts: Sequence[Measured]) -> Measured:
    """The same stages of several releases of one plan, side by side as draws."""
    return Measured(*_by_draw(np.concatenate, *((part.stages, part.distances) for part in parts)))


def _by_draw(change: Callable[[tuple[FloatArray, ...]], FloatArray], *parts: Any) -> Any:
    """The first of several alike, all its arrays changed but B: they have a row for each draw."""
    first = parts[0]
    if isinstance(first, np.ndarray):
        return change(parts)
    if isinstance(first, Squares | Observed | Distances):
        names = (name for name in first._fields if name != "B")
        return first._replace(**{name: _by_draw(change, *(getattr(part, name) for part in parts)) for name in names})
    if isinstance(first, tuple):
        return tuple(_by_draw(change, *each) for each in zip(*parts, strict=True))
    return first
