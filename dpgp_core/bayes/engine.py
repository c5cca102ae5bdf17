"""Measuring in stages: each looks closely about the curve that the stages before it released. One loop for all data.

A stage measures z = B q + s w of outputs in public intervals, columns of B at most 1 long, so that one record, or one
person, moves it by at most 1 (see ``measurement``). Strategy and intervals of a stage are functions of numbers released
before: stage i is (1 / s_i)-GDP, and all together are exactly (1 / s)-GDP with sum 1 / s_i^2 = 1 / s^2
(adaptive composition: Dong, Roth & Su 2022, corollary 3.3). Only a ``Reader`` sees records.

Two filters read the numbers: ``RecordFilter``, where every record has a column of its own, and ``CellFilter``,
where records share those of public cells. All of it is post-processing.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np
from scipy.special import softmax

from ..arrays import FloatArray
from ..measurement.fit import Fit, fits_of
from ..measurement.measurement import CellCounts
from ..strategies.strategy import Strategy
from .counts import Counts, Positions
from .mixture import Mixture, side_by_side
from .scatter import (
    ROUNDS,
    NoiseShares,
    Scatter,
    expected,
    far_out,
    log_density,
    log_prior,
    model_weights,
    most_of_squares,
    noise_shares,
    of_two_values,
    split_stage,
)
from .spread import Distances, Shares, Spread, reach_of, spread_of, usual_distance, with_spread, with_two_values
from .stages import IntArray, PlannedStage, each_column

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


class Observation(NamedTuple):
    """One stage of D draws: the query and, with z, its noisy answer. Public, in model units.

    Attributes:
        B: strategy (r, n), or (r, M) over cells.
        low, high: ends to which outputs (D, n), or over cells residuals about g (D, M), are clipped.
        noise_multiplier: s; of a release, the standard deviation of the noise on each entry of z.
        z: noisy measurements (D, r), once they are made.
        squares: of the same records, if they were measured.
        g: public function subtracted from outputs, at the nodes of cells (D, F); None for outputs themselves.
        width: half-width over cells, over the predictive standard deviation; not needed to read.
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
        counts: measurement of the numbers of records in cells, or these numbers where they are public.
        z: noisy counts (r,).
        positions: of the records in cells, if they were measured.
    """

    stages: tuple[Observation, ...]
    distances: Distances | None = None
    counts: CellCounts | Counts | None = None
    z: FloatArray = NOTHING
    positions: Positions | None = None

    def draws(self, some: slice | IntArray) -> Measured:
        """Some of the draws."""
        stages, distances = _by_draw(lambda arrays: arrays[0][some], (self.stages, self.distances))
        return self._replace(stages=stages, distances=distances)


class Posterior(NamedTuple, Generic[S]):
    """Posterior of D draws after some stages.

    Attributes:
        states: of all models, as their filter has them.
        scatter: log density of the noise variance (D, S); None where stages are read as if outcomes were normal.
        weights: probabilities of the models (D, M).
        numbers: how many numbers each stage released, counts included.
    """

    states: S
    scatter: FloatArray | None
    weights: FloatArray
    numbers: tuple[int, ...] = ()


class Reader(Protocol):
    """The only part that reads records: it returns each query with its noisy numbers."""

    def counts(self, measurement: CellCounts) -> FloatArray:
        """Numbers of records in public cells (r,); where every record has a column of its own, there are none."""
        raise TypeError("there are no cells to count records in")

    def positions(self, query: Positions) -> Positions:
        """Where in public cells records are."""
        raise TypeError("there are no cells to stand in")

    def sums(self, query: Observation) -> Observation:
        """Clipped outputs, or residuals."""
        ...

    def squares(self, query: Squares) -> Squares:
        """Squared residuals of the records of the stage before."""
        ...

    def distances(self, query: Distances, g: FloatArray) -> Distances:
        """Distances to g, and how many outcomes lie above it."""
        ...


class Filter(ABC, Generic[S]):
    """A mixture of models on the records, or cells, that are measured, and at test inputs.

    Attributes:
        two_valued: whether every output is at one end of the range, as yes and no are.
    """

    n: int
    half_range: float
    two_valued: bool
    X_test: FloatArray

    @property
    @abstractmethod
    def noise_variances(self) -> FloatArray:
        """Noise variance of each model (M,)."""

    @property
    @abstractmethod
    def prior_weights(self) -> FloatArray:
        """Prior weight of each model (M,)."""

    @property
    @abstractmethod
    def labels(self) -> tuple[int, ...]:
        """Number of each model's kernel, equal for equal kernels."""

    @cached_property
    def noise_shares(self) -> NoiseShares:
        """How the models of each kernel share the cases of the residual variance."""
        return noise_shares(self.noise_variances, self.prior_weights, self.labels, self.half_range)

    @property
    @abstractmethod
    def biased(self) -> bool:
        """Whether clipping may be, and squares say how people scatter: all but releases of before."""

    @property
    @abstractmethod
    def people(self) -> FloatArray:
        """Numbers of people at each column of a strategy, none below 0, for shares."""

    @property
    def expected_people(self) -> FloatArray:
        """How many are expected there, which may be below 0 by chance where counts are noisy."""
        return self.people

    @property
    @abstractmethod
    def zero(self) -> FloatArray:
        """A curve that is 0."""

    @abstractmethod
    def prior(self, draws: int) -> tuple[S, tuple[int, ...]]:
        """Of each model before any output is measured; and how many numbers were released by then."""

    @abstractmethod
    def evidence_of(self, states: S) -> FloatArray:
        """Log density of the sums of outcomes, under each model (D, M)."""

    @abstractmethod
    def misfit_of(self, states: S) -> FloatArray:
        """|w|^2 of each stage under each model (D, M, S), see ``measurement.fit``."""

    @abstractmethod
    def next_stage(
        self, posterior: Posterior[S], stage: PlannedStage, s: float, first: bool
    ) -> tuple[Observation, Any]:
        """Query of a stage of noise multiplier s: intervals of least expected risk, and the strategy as planned or best
        for them; and its linearisation, if ``updated`` needs one.
        """

    @abstractmethod
    def updated(self, posterior: Posterior[S], observation: Observation, linear: Any = None) -> S:
        """States after a stage's sums."""

    @abstractmethod
    def mean_square(self, posterior: Posterior[S], g: FloatArray) -> FloatArray:
        """E (y - g)^2 of each column (D, n), over the models."""

    @abstractmethod
    def curve(self, posterior: Posterior[S]) -> FloatArray:
        """The expected curve within the range, where residuals are taken about it."""

    @abstractmethod
    def predict(self, posterior: Posterior[S]) -> Mixture:
        """The models' predictions at the test inputs."""

    @abstractmethod
    def shared(self, posterior: Posterior[S]) -> tuple[FloatArray, ...]:
        """Q (R, P) of each model and the first draw: covariance of f at the test inputs = K_** - Q^T Q + breaks'."""

    def of_breaks(self, posterior: Posterior[S]) -> tuple[FloatArray, ...]:
        """What breaks add to that covariance (P, P), of each model; () where curves have none."""
        return ()

    @abstractmethod
    def distance_filter(self) -> Filter[S]:
        """Models of 2 (a / A - usual), see ``spread``, on the same columns and test inputs, from the box alone."""

    def plan_distances(self, usual: float, s: float) -> Strategy:
        """Strategy of distances that was not planned in advance, ``usual`` being the expected a / A."""
        return each_column(len(self.people))

    def batch_size(self, rows: int) -> int:
        """Number of draws of so many numbers that are kept side by side."""
        return 1

    def begin(self, draws: int = 1) -> Posterior[S]:
        """Posterior before any output is measured."""
        states, numbers = self.prior(draws)
        scatter = np.tile(log_prior(), (draws, 1)) if self.biased else None
        return self._weighed(Posterior(states, scatter, NOTHING, numbers))

    def after(self, posterior: Posterior[S], observation: Observation, linear: Any = None) -> Posterior[S]:
        """Posterior after the sums of one more stage."""
        states, numbers = self.updated(posterior, observation, linear), (*posterior.numbers, len(observation.B))
        posterior = self._weighed(posterior._replace(states=states, numbers=numbers))
        if not self.two_valued:
            return posterior
        share = self.people / self.people.sum()
        for _ in range(ROUNDS):  # the scatter follows from the curve, and the models' weights from it, until both agree
            square = self.mean_square(posterior, self.zero) @ share - self._noise_variance(posterior)
            posterior = self._weighed(posterior._replace(scatter=of_two_values(self.half_range, square)))
        return posterior

    def with_squares(self, posterior: Posterior[S], squares: Squares | None) -> Posterior[S]:
        """Posterior after the squares of a stage; the same if there are none."""
        if squares is None or posterior.scatter is None:
            return posterior
        curve_mse = np.maximum(self.mean_square(posterior, squares.g) - self._noise_variance(posterior)[:, None], 0.0)
        log_likelihood = [
            log_density(self.half_range, each, reach, self.expected_people, squares.s, float(z))
            for each, reach, z in zip(curve_mse, np.sqrt(squares.high), squares.z, strict=True)
        ]
        return self._weighed(posterior._replace(scatter=posterior.scatter + np.stack(log_likelihood)))

    def with_squares_of_last(self, posterior: Posterior[S], stages: Sequence[Observation]) -> Posterior[S]:
        """Posterior after the squares of the last of some stages; the same if there are none.

        Draws of which squares say now that people are far out are read again by that: sums of the stages before were
        taken for less biased than they are.
        """
        before, posterior = posterior.scatter, self.with_squares(posterior, stages[-1].squares)
        if before is None or posterior.scatter is None:
            return posterior
        found = np.flatnonzero(far_out(posterior.scatter) & ~far_out(before))
        if not len(found):
            return posterior
        again = self._weighed(self.begin(len(found))._replace(scatter=posterior.scatter[found]))
        for stage in Measured(tuple(stages)).draws(found).stages:
            again = self.after(again, stage)
        return again if len(found) == len(before) else _replaced(posterior, again, found)

    def read(self, stages: Sequence[Observation]) -> Posterior[S]:
        """Posterior given stages that were released: spends nothing."""
        posterior = self.begin(len(stages[0].z))
        for number, stage in enumerate(stages, 1):
            posterior = self.with_squares_of_last(self.after(posterior, stage), stages[:number])
        return posterior

    def read_and_predict(self, stages: Sequence[Observation]) -> Mixture:
        """The prediction of many draws, as many at a time as fit into memory."""
        size, draws = self.batch_size(sum(len(stage.B) for stage in stages)), len(stages[0].z)
        batches = [slice(first, first + size) for first in range(0, draws, size)]
        return side_by_side([self.predict(self.read(Measured(tuple(stages)).draws(some).stages)) for some in batches])

    def with_people(self, prediction: Mixture, distances: Distances | None) -> Mixture:
        """The same prediction at the test inputs, with the scatter of people there."""
        if self.two_valued:
            return with_two_values(prediction, self.half_range)
        if distances is None or not self.biased:
            return prediction
        return with_spread(prediction, self.read_distances(distances), distances, self.n)

    def read_distances(self, distances: Distances) -> Spread:
        """E a at the test inputs, from noisy sums of distances: spends nothing."""
        filtered, usual = self.distance_filter(), usual_distance(distances.sd / distances.reach)
        observation = filtered.distance_observation(distances.B, usual, distances.s, distances.z)
        posterior = filtered.after(filtered.begin(len(distances.z)), observation)
        return spread_of(filtered.predict(posterior), usual[:, None], distances.reach)

    def distance_observation(self, B: FloatArray, usual: FloatArray, s: float, z: FloatArray = NOTHING) -> Observation:
        """Sums of a / A - 1/2 = (v + 2 usual - 1) / 2 of the models' v = 2 (a / A - usual); none is cut."""
        centre, one = (2 * usual - 1)[:, None], np.ones((len(usual), len(self.people)))
        return Observation(B, -one - centre, one - centre, s, z, g=self.zero, cut=False)

    def expected_scatter(self, posterior: Posterior[S]) -> Scatter | None:
        """How people scatter, for clipping's bias; None where it is taken to have none."""
        return None if posterior.scatter is None else expected(posterior.scatter, self.half_range)

    def log_evidence(self, posterior: Posterior[S]) -> FloatArray:
        """Log density of the sums of outcomes, under each model (D, M)."""
        return self.evidence_of(posterior.states)

    def fit(self, posterior: Posterior[S]) -> tuple[Fit, ...]:
        """Fit of the released numbers to the models; () before any stage."""
        if not posterior.numbers:
            return ()
        return fits_of(posterior.weights, self.misfit_of(posterior.states), posterior.numbers)

    def _noise_variance(self, posterior: Posterior[S]) -> FloatArray:
        """Expected over the models (D,)."""
        return np.asarray(posterior.weights @ self.noise_variances)

    def _weighed(self, posterior: Posterior[S]) -> Posterior[S]:
        """With the models' probabilities: by squares and evidence, or by prior weight and evidence alone."""
        evidence = self.log_evidence(posterior)
        if posterior.scatter is not None:
            weights = model_weights(self.noise_shares, posterior.scatter, evidence)
        else:
            weights = softmax(np.log(self.prior_weights) + evidence, axis=1)
        return posterior._replace(weights=weights)


def run_stages(
    filtered: Filter[Any], stages: Sequence[PlannedStage], reader: Reader, draws: int = 1
) -> tuple[tuple[Observation, ...], Posterior[Any]]:
    """Measure stage after stage, D independent draws side by side. Only ``reader`` sees records.

    Args:
        filtered: the mixture on records or cells.
        stages: with strategies, or to be planned from the numbers released before.
    """
    posterior, observations = filtered.begin(draws), list[Observation]()
    for stage in stages:
        s, s_squares = split_stage(stage.noise_multiplier, not filtered.biased or not observations)
        query, linear = filtered.next_stage(posterior, stage, s, not observations)
        observation = reader.sums(query)
        posterior = filtered.after(posterior, observation, linear)
        if s_squares is not None and posterior.scatter is not None:
            # about the curve of the sums, or where sums are of outputs, about the one after them
            g = filtered.curve(posterior) if observation.g is None else observation.g
            square, far = filtered.mean_square(posterior, g), len(observations) % 2 == 0
            high = most_of_squares(posterior.scatter, square, filtered.n, s_squares, filtered.half_range, far=far)
            observation = observation._replace(squares=reader.squares(Squares(g, high, s_squares)))
        observations.append(observation)
        posterior = filtered.with_squares_of_last(posterior, observations)
    return tuple(observations), posterior


def measure_distances(
    filtered: Filter[Any], posterior: Posterior[Any], shares: Shares, reader: Reader, B: FloatArray | None = None
) -> Distances:
    """Measure distances to the curve that the stages gave; see ``spread``.

    Args:
        posterior: after the stages.
        B: planned in advance, or None.
    """
    assert shares.distances is not None
    assert posterior.scatter is not None
    g, people = filtered.curve(posterior), filtered.people
    reach = reach_of(filtered.mean_square(posterior, g) @ people / people.sum(), filtered.half_range)
    sd = np.sqrt(expected(posterior.scatter, filtered.half_range).variance)
    if B is None:
        B = filtered.plan_distances(float(usual_distance(sd / reach)[0]), shares.distances).B
    above = None if shares.above is None else (shares.above, NOTHING)
    return reader.distances(Distances(B, reach, sd, shares.distances, NOTHING, above), g)


def _replaced(posterior: Posterior[S], again: Posterior[S], draws: IntArray) -> Posterior[S]:
    """Some draws replaced, where states are arrays with a row for each."""

    def with_rows(of: FloatArray, rows: FloatArray) -> FloatArray:
        changed = of.copy()
        changed[draws] = rows
        return changed

    pairs: Any = zip(posterior.states, again.states, strict=True)
    states = tuple(type(old)(*(with_rows(*each) for each in zip(old, new, strict=True))) for old, new in pairs)
    return posterior._replace(states=states, weights=with_rows(posterior.weights, again.weights))


def together(parts: Sequence[Measured]) -> Measured:
    """The same stages of several releases of one plan, side by side as draws."""
    return Measured(*_by_draw(np.concatenate, *((part.stages, part.distances) for part in parts)))


def _by_draw(change: Callable[[tuple[FloatArray, ...]], FloatArray], *parts: Any) -> Any:
    """The first of several alike, all its arrays changed but B: they have a row for each draw."""
    first = parts[0]
    if isinstance(first, np.ndarray):
        return change(parts)
    if isinstance(first, Squares | Observation | Distances):
        names = (name for name in first._fields if name != "B")
        return first._replace(**{name: _by_draw(change, *(getattr(part, name) for part in parts)) for name in names})
    if isinstance(first, tuple):
        return tuple(_by_draw(change, *each) for each in zip(*parts, strict=True))
    return first
