"""Comparison of mechanisms by their errors on held-out records, for several values of epsilon, and without privacy.

``sweeps`` simulates releases fold by fold, in this process or in others.

``without_privacy`` predicts with the mixture of models of Bayes cloaking, given the exact outputs. Under model m,
y = f(X) + e with covariance phi phi^T + D, D diagonal, so that (R&W section 2.7, matrix inversion lemma)

    A = I + phi^T D^-1 phi,   b = phi^T D^-1 y,   E f_* = phi_* A^-1 b,
    -2 log p(y) = y^T D^-1 y - b^T A^-1 b + log |A| + log |D| + const,

and the prediction is the average over the models, weighted by prior weight times p(y). A curve of one input may have
change points with heights b, as in Bayes cloaking (``bayes.changepoints``): y = f(X) + Phi b + e. Their posterior
depends on y only through Phi^T K^-1 Phi and Phi^T K^-1 y, with K = phi phi^T + D.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.special import softmax

from ..arrays import FloatArray
from ..bayes.changepoints import ChangePoints, change_points_of
from ..bayes.model import Model
from ..bayes.record_posterior import RecordModel, record_models
from ..bayes.settings import outcome_model_for
from ..bayes.tuning import TUNING
from ..kernels import Kernel
from ..linalg import sturdy_cholesky
from ..mechanisms import BayesCloaking, RefinedCloaking
from ..mechanisms.base import Mechanism
from ..mechanisms.gaussian import ModelBasedMechanism
from ..table import Dataset
from .cross_validation import Folds, held_out_matrices
from .errors import held_out_rmse, interval_score

LEVEL = 0.95  # confidence level of the intervals that are reported


class Made(NamedTuple):
    """A plan or a prediction, and the seconds in which it is made alone, with all that it shares with others."""

    value: Any
    seconds: float


class HeldOutFold(NamedTuple):
    """A fold: the records on which a mechanism is trained, and the inputs and outputs of those on which it is tested.

    ``plans`` are the public plans that were made, each with its mechanism at a fixed budget if the plan serves all
    budgets. ``models`` are the predictions of declared models, which mechanisms with the same model share.
    """

    train: Dataset
    X_test: FloatArray
    truth: FloatArray
    plans: list[tuple[Mechanism, Made]]
    models: dict[Hashable, Made]

    def copied(self) -> HeldOutFold:
        """Return the fold with these plans, to which further ones can be added without changing this one."""
        return self._replace(plans=[*self.plans], models={**self.models})

    def plan_for(self, mechanism: Mechanism) -> Any:
        """Return the plan of a mechanism for this fold at its budget. It is made once and then reused."""
        return self.made_for(mechanism).value

    def made_for(self, mechanism: Mechanism) -> Made:
        """Return this plan with the seconds that it takes."""
        planned = mechanism.as_planned
        for known, plan in self.plans:
            if known == planned:
                return plan
        plan = self._plan(mechanism)
        self.plans.append((planned, plan))
        return plan

    def _plan(self, mechanism: Mechanism) -> Made:
        if not isinstance(mechanism, ModelBasedMechanism):
            return _timed(lambda: mechanism.plan_for(self.train, self.X_test))
        declared = mechanism.kernel, mechanism.noise_variance, mechanism.inference, mechanism.tolerance
        if declared not in self.models:
            self.models[declared] = _timed(lambda: mechanism.model_for(self.train.X, self.X_test))
        model = self.models[declared]
        if isinstance(mechanism, RefinedCloaking):
            last, refined = self.made_for(mechanism.last_stage), mechanism
            return _timed(lambda: refined.plan_before(last.value, model.value, self.X_test), last.seconds)
        return _timed(lambda: mechanism.plan_of(model.value, self.X_test), model.seconds)


def _timed(make: Callable[[], Any], seconds: float = 0.0) -> Made:
    """Return what ``make`` returns, and the seconds that it took in addition to these."""
    start = time.perf_counter()
    return Made(make(), seconds + time.perf_counter() - start)


class Residuals(NamedTuple):
    """Results of one fold, in the unit of the output.

    Attributes:
        residuals: release minus truth (draws, P).
        half_width: half-widths of the intervals of the first release (P,); nan without intervals.
        half_score: half of the interval score, mean over releases (P,); nan without intervals.
    """

    residuals: FloatArray
    half_width: FloatArray
    half_score: FloatArray


def left_out(dataset: Dataset, folds: Folds) -> list[HeldOutFold]:
    """Split a data set by public folds, without making plans."""
    everybody = np.arange(dataset.n)
    splits = ((dataset.subset(np.delete(everybody, test)), test) for test in folds)
    return [HeldOutFold(train, dataset.X[test], dataset.clipped_y[test], [], {}) for train, test in splits]


def hold_out(mechanism: Mechanism, dataset: Dataset, folds: Folds) -> list[HeldOutFold]:
    """Split a data set by public folds, and make the plan of the mechanism for each fold."""
    held = left_out(dataset, folds)
    for fold in held:
        fold.plan_for(mechanism)
    return held


def held_out_errors(mechanism: Mechanism, held: Sequence[HeldOutFold], draws: int, seed: int) -> FloatArray:
    """Return the held-out RMSE of each of ``draws`` simulated releases (draws,), in the unit of the output.

    The same seed gives the same random numbers for every epsilon, so errors are smooth in epsilon.

    Args:
        mechanism: mechanism with the budget of interest.
        held: result of ``hold_out`` for the same mechanism with any budget.
        seed: seed of the simulation.

    Raises:
        ValueError: draws < 1.
    """
    parts = [residuals_of(mechanism, fold, draws, [seed, index], intervals=False) for index, fold in enumerate(held)]
    return held_out_rmse([part.residuals for part in parts])


def with_epsilon(mechanism: Any, epsilon: float) -> Mechanism:
    """Return the mechanism with another epsilon.

    Raises:
        ValueError: epsilon is out of range for the mechanism.
    """
    changed: Mechanism = replace(mechanism, epsilon=epsilon)
    return changed


def residuals_of(
    mechanism: Mechanism, fold: HeldOutFold, draws: int, seed: list[int], intervals: bool = True
) -> Residuals:
    """Simulate ``draws`` releases trained on a fold; return their residuals, and widths of intervals if requested."""
    rng = np.random.default_rng(seed)
    release = mechanism.measure(fold.plan_for(mechanism), fold.train, fold.X_test, rng, draws, mean=False)
    residuals, none = release.samples - fold.truth, np.full(len(fold.truth), np.nan)
    if not (intervals and mechanism.has_interval):
        return Residuals(residuals, none, none)
    low, high = release.interval(LEVEL)
    score = interval_score(low, high, fold.truth, LEVEL).mean(axis=0)
    return Residuals(residuals, (high[0] - low[0]) / 2, score / 2)


Piece = tuple[list[Residuals], float]
"""Results of one fold at every epsilon, and the time in seconds of one plan and one release."""


class Sweep(NamedTuple):
    """Held-out performance of one mechanism at E budgets, in the unit of the output. It is not private.

    Attributes:
        errors: RMSE over all folds of each simulated release (E, draws).
        half_width: half-width of the 95 % interval for an output, median over test points (E,); nan for a mechanism
            without intervals, and if they are not computed.
        half_score: half of the interval score of these intervals, mean over releases and test points (E,), which is the
            half-width plus 20 times the distance of outputs outside; nan without intervals.
        seconds: time of one plan and one release in seconds, mean over folds, measured where they ran.
    """

    errors: FloatArray
    half_width: FloatArray
    half_score: FloatArray
    seconds: float


class Trial(NamedTuple):
    """Simulated releases of one mechanism at several budgets.

    Attributes:
        mechanism: mechanism with any budget.
        epsilons: values of epsilon, at least one.
        draws: number of releases at each of them.
        with_intervals: those at which widths and scores of intervals are computed, which takes longer than the errors.
    """

    mechanism: Mechanism
    epsilons: tuple[float, ...]
    draws: int
    with_intervals: tuple[float, ...] = ()


def sweep(
    mechanism: Mechanism,
    dataset: Dataset,
    folds: Folds,
    epsilons: Sequence[float],
    draws: int,
    seed: int,
    executor: Executor | None = None,
    progress: Callable[[float], None] = lambda fraction: None,
) -> Sweep:
    """Return the held-out performance at every epsilon, with intervals; see ``sweeps``."""
    trial = Trial(mechanism, tuple(epsilons), draws, tuple(epsilons))
    [swept] = sweeps([trial], dataset, folds, seed, executor, progress)
    return swept


def sweeps(
    trials: Sequence[Trial],
    dataset: Dataset,
    folds: Folds,
    seed: int,
    executor: Executor | None = None,
    progress: Callable[[float], None] = lambda fraction: None,
    held: Sequence[HeldOutFold] = (),
) -> list[Sweep]:
    """Return the held-out performance of several mechanisms. Folds are independent tasks.

    A plan is made once for each mechanism and fold. Mechanisms with the same declared model share its prediction.

    Args:
        trials: at least one.
        seed: seed of the simulation. Random numbers depend on it and on the index of the fold, not on the process.
        progress: called with the fraction done, after every mechanism in this process or every fold in others.
        held: result of ``hold_out`` for the same folds and mechanisms whose plans were made before.

    Raises:
        ValueError: draws < 1, or an epsilon is out of range for a mechanism.
    """
    fold = partial(_sweep_fold, tuple(trials), seed)
    pieces: list[list[Piece]] = []
    if executor is None:
        for index, each in enumerate(held or left_out(dataset, folds)):
            pieces.append(fold(index, each, lambda part: progress((len(pieces) + part) / len(folds))))
    else:
        for piece in executor.map(fold, list(range(len(folds))), list(held or left_out(dataset, folds))):
            pieces.append(piece)
            progress(len(pieces) / len(folds))
    return [gathered(of_one) for of_one in zip(*pieces, strict=True)]


def gathered(pieces: Sequence[Piece]) -> Sweep:
    """Combine the results of at least one fold. With those of all folds, the result is that of ``sweep``."""
    rows = []
    for parts in zip(*(residuals for residuals, _ in pieces), strict=True):
        residuals, widths, scores = zip(*parts, strict=True)
        rows.append((held_out_rmse(residuals), np.median(np.concatenate(widths)), np.mean(np.concatenate(scores))))
    errors, half_widths, half_scores = map(np.array, zip(*rows, strict=True))
    return Sweep(errors, half_widths, half_scores, float(np.mean([seconds for _, seconds in pieces])))


def _sweep_fold(
    trials: Sequence[Trial],
    seed: int,
    index: int,
    held: HeldOutFold,
    progress: Callable[[float], None] = lambda fraction: None,
) -> list[Piece]:
    """Run one fold of ``sweeps``, with this index."""
    fold, pieces = held.copied(), list[Piece]()
    for mechanism, epsilons, draws, with_intervals in trials:
        plan, start = fold.made_for(mechanism), time.perf_counter()
        residuals_of(mechanism, fold, 1, [seed, index], intervals=False)
        seconds = plan.seconds + time.perf_counter() - start
        parts = [
            residuals_of(with_epsilon(mechanism, each), fold, draws, [seed, index], each in with_intervals)
            for each in epsilons
        ]
        pieces.append((parts, seconds))
        progress(len(pieces) / len(trials))
    return pieces


LARGE_EPSILON = 1000.0  # privacy noise is then too small to see
_DRAWS = 2  # with so little noise, simulated releases hardly differ
_FEW = 1000  # rough curves are fitted up to so many records, because they need almost as many features as records
_TINY = 1e-12  # lower bound on eigenvalues, which rounding errors could make negative
_CLEARLY = 0.98  # rough curves are used if they reduce the held-out mean squared error below this share
_MECHANISM = BayesCloaking(epsilon=LARGE_EPSILON, delta=1e-5)  # the weight of rough curves depends on the noise


def without_privacy(dataset: Dataset, X_test: FloatArray) -> FloatArray:
    """Return predictions (P,) at X_test (P, D) without privacy, in the unit of the output. They are not private.

    The models and change points are those that Bayes cloaking uses if there is very little noise. The outputs are
    clipped to the public bounds. Rough curves are included only if they clearly improve the prediction of held-out
    records. If the evidence alone decided, the curve of the heights of the !Kung would follow small groups of people,
    and would not predict others better.
    """
    y = (dataset.clipped_y - dataset.midpoint) / dataset.y_scale
    change_points = change_points_of(_MECHANISM.bins_for(dataset), TUNING.curve_variance * dataset.half_range**2)
    shapes = change_points.at(np.vstack([dataset.X, X_test]))

    def models(people: int) -> dict[object, Model]:
        """Return the models for so many people, by everything but their weights."""
        found = _MECHANISM.models(dataset.x_box, dataset.half_range, outcome_model_for(dataset.y_kind), people)
        return {(each.kernel, each.noise_variance): each for each in found}

    smooth, rough = models(0), models(dataset.n) if dataset.n <= _FEW else {}
    every = rough | smooth
    at_records = record_models([*every.values()], dataset.X, X_test)
    posteriors = {
        key: _exact_posterior(model, at, y, change_points, shapes)
        for (key, model), at in zip(every.items(), at_records, strict=True)
    }

    def mixed(models: Mapping[object, Model]) -> tuple[FloatArray, float]:
        """Return the mean (P,), and the sum of squared leave-one-out residuals with the models' weights kept."""
        means, left_out, evidence = zip(*(posteriors[key] for key in models), strict=True)
        weights = softmax(np.log([model.weight for model in models.values()]) + evidence)
        return weights @ np.array(means), float(np.sum((weights @ np.array(left_out)) ** 2))

    mean, square = mixed(smooth)
    if rough:
        rougher, rougher_square = mixed(rough)
        mean = rougher if rougher_square < _CLEARLY * square else mean
    return np.clip(dataset.in_data_units(mean), *dataset.y_bounds)


def error_without_privacy(
    dataset: Dataset,
    folds: Folds,
    declared: Iterable[tuple[Kernel, float]] = (),
    mechanisms: Iterable[Mechanism] = (),
) -> float:
    """Return the held-out root mean square error without privacy, in the unit of the output. It is not private.

    It is the smallest error of ``without_privacy`` and of the methods given, all without privacy. A private release of
    any of them has a smaller error only by chance.

    Args:
        declared, mechanisms: see ``error_of_methods``.
    """
    residuals = [without_privacy(fold.train, fold.X_test) - fold.truth for fold in left_out(dataset, folds)]
    return min(float(held_out_rmse(residuals)), error_of_methods(dataset, folds, declared, mechanisms))


def error_of_methods(
    dataset: Dataset,
    folds: Folds,
    declared: Iterable[tuple[Kernel, float]] = (),
    mechanisms: Iterable[Mechanism] = (),
    held: Sequence[HeldOutFold] = (),
) -> float:
    """Return the smallest held-out root mean square error of these methods without privacy, in the output's unit.

    It is not private, and infinite if no method is given.

    Args:
        declared: kernels and noise variances of Gaussian processes, in model units.
        mechanisms: mechanisms with any budget. They are run with epsilon = ``LARGE_EPSILON``.
        held: result of ``hold_out`` for mechanisms whose plans were made before.
    """
    held, errors = [each.copied() for each in held] or left_out(dataset, folds), [math.inf]
    for kernel, noise_variance in declared:
        pairs = zip(held_out_matrices(kernel, dataset.X, folds, noise_variance), held, strict=True)
        curves = [dataset.in_data_units(C @ fold.train.standardised()) - fold.truth for C, fold in pairs]
        errors.append(float(held_out_rmse(curves)))
    for mechanism in mechanisms:
        errors.append(float(held_out_errors(with_epsilon(mechanism, LARGE_EPSILON), held, _DRAWS, 0).mean()))
    return min(errors)


def _exact_posterior(
    model: Model, at: RecordModel, y: FloatArray, change_points: ChangePoints, shapes: FloatArray
) -> tuple[FloatArray, FloatArray, float]:
    """Return, under one model, the mean of f at the test inputs (P,), leave-one-out residuals (n,), and log p(y).

    A constant is left out of log p(y). The leave-one-out residual of a record is (y - f) / (1 -
    h), where h is its leverage given the change points.

    Args:
        model: the model.
        at: the model at the records and the test inputs.
        change_points: change points of the curve.
        shapes: their shapes at the records and the test inputs (n + P, J).
    """
    n, D = len(y), at.noise
    phi, at_tests = at.phi[:n], at.phi[n:]
    factor = cho_factor(np.eye(phi.shape[1]) + phi.T @ (phi / D[:, None]), lower=True)
    both = np.column_stack([y, shapes[:n]])
    loads = cho_solve(factor, phi.T @ (both / D[:, None]))  # A^-1 phi^T D^-1 (y, Phi)
    unexplained = both - phi @ loads
    log_determinant = 2 * np.log(np.diag(factor[0])).sum() + np.log(D).sum()
    evidence = -0.5 * (float(y @ (unexplained[:, 0] / D)) + log_determinant)
    b, gained = _heights(both.T @ (unexplained / D[:, None]), change_points, model.noise_variance)
    off = np.concatenate([[1.0], -b])  # both @ off is y minus the change points
    leverages = np.einsum("ij,ji->i", phi, cho_solve(factor, phi.T)) / D
    mean = at_tests @ (loads @ off) + shapes[n:] @ b
    return mean, (unexplained @ off) / (1 - leverages), evidence + gained


def _heights(products: FloatArray, change_points: ChangePoints, noise_variance: float) -> tuple[FloatArray, float]:
    """Return the expected heights of the change points (J,), and their contribution to log p(y).

    ``products`` is (y, Phi)^T K^-1 (y, Phi), shape (1 + J, 1 + J). The result depends on y and Phi only through it, so
    they are replaced by the columns of a root of it.
    """
    if len(products) == 1:
        return np.zeros(0), 0.0
    white = sturdy_cholesky(products, _TINY).T
    variances = change_points.variances_under(noise_variance)[None]
    state = change_points.updated(change_points.prior(variances), white[None, :, 1:], white[None, :, 0], variances)
    return state.mean[0], float(state.log_evidence[0])
