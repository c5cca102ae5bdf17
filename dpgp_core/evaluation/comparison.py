"""Mechanisms on equal terms: errors on records that were not trained on, also against epsilon, fold by fold.

Folds are simulated here or in other processes.

And the error when nothing is hidden: Bayes cloaking's mixture of models on the exact outputs, on people left out.

Under model m, y = f(X) + e with covariance phi phi^T + D, D diagonal, so that (R&W section 2.7, matrix inversion lemma)

    A = I + phi^T D^-1 phi,   b = phi^T D^-1 y,   E f_* = phi_* A^-1 b,
    -2 log p(y) = y^T D^-1 y - b^T A^-1 b + log |A| + log |D| + const,

and the prediction is the mean of the models', weighted by prior weight times p(y). A curve of one input may have
change points b as in Bayes cloaking (``bayes.changepoints``): y = f(X) + Phi b + e. Their posterior depends on y only
through Phi^T K^-1 Phi and Phi^T K^-1 y, K = phi phi^T + D.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
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
from ..bayes.record_reading import RecordModel, record_models
from ..bayes.settings import reading_for
from ..bayes.tuning import TUNING
from ..gp.grid import IndexArray
from ..gp.uncertainty import NoInterval
from ..kernels import Kernel
from ..linalg import sturdy_cholesky
from ..mechanisms import BayesCloaking
from ..mechanisms.base import Mechanism
from ..table import Dataset
from .cross_validation import Folds, held_out_matrices
from .errors import held_out_rmse, interval_score

LEVEL = 0.95  # of the intervals reported


class Held(NamedTuple):
    """One fold: the records that a mechanism may train on, and the outputs that it is tested on.

    ``plans`` are public, by epsilon; None where one plan serves every budget.
    """

    train: Dataset
    X_test: FloatArray
    truth: FloatArray
    plans: dict[float | None, Any]

    def plan_for(self, mechanism: Mechanism) -> Any:
        """Return the mechanism's plan: the one that a release at its budget has, made at the first use."""
        epsilon = None if mechanism.one_plan else mechanism.guarantee.budget.epsilon
        if epsilon not in self.plans:
            self.plans[epsilon] = mechanism.plan_for(self.train, self.X_test)
        return self.plans[epsilon]


class Residuals(NamedTuple):
    """Of one fold: release minus truth (draws, P), half-widths of the first draw's intervals (P,), half scores (P,)."""

    residuals: FloatArray
    half_width: FloatArray
    half_score: FloatArray


def left_out(dataset: Dataset, folds: Folds) -> list[Held]:
    """Split a data set by public folds; nothing is planned yet."""
    everybody = np.arange(dataset.n)
    splits = ((dataset.subset(np.delete(everybody, test)), test) for test in folds)
    return [Held(train, dataset.X[test], dataset.clipped_y[test], {}) for train, test in splits]


def hold_out(mechanism: Mechanism, dataset: Dataset, folds: Folds) -> list[Held]:
    """Split a data set by public folds, each with the mechanism's plan, which serves other budgets too."""
    held = left_out(dataset, folds)
    for fold in held:
        fold.plan_for(mechanism)
    return held


def held_out_errors(mechanism: Mechanism, held: Sequence[Held], draws: int, seed: int) -> FloatArray:
    """RMSE of each of ``draws`` simulated releases (draws,), trained without the records that they are tested on.

    The same seed gives the same underlying draws at every epsilon, so errors are smooth in epsilon.

    Args:
        mechanism: at the budget to be judged.
        held: from ``hold_out`` of the same mechanism at any budget.

    Raises:
        ValueError: draws < 1.
    """
    parts = [residuals_of(mechanism, fold, draws, [seed, index], intervals=False) for index, fold in enumerate(held)]
    return held_out_rmse([part.residuals for part in parts])


def with_epsilon(mechanism: Any, epsilon: float) -> Mechanism:
    """The same mechanism at another epsilon.

    Raises:
        ValueError: epsilon is out of range for it.
    """
    changed: Mechanism = replace(mechanism, epsilon=epsilon)
    return changed


def residuals_of(mechanism: Mechanism, fold: Held, draws: int, seed: list[int], intervals: bool = True) -> Residuals:
    """Residuals of ``draws`` releases trained on a fold, and widths of their intervals: nan without ``intervals``."""
    rng = np.random.default_rng(seed)
    release = mechanism.measure(fold.plan_for(mechanism), fold.train, fold.X_test, rng, draws, mean=False)
    residuals, none = release.samples - fold.truth, np.full(len(fold.truth), np.nan)
    if not intervals or isinstance(release.uncertainty, NoInterval):
        return Residuals(residuals, none, none)
    low, high = release.interval(LEVEL)
    score = interval_score(low, high, fold.truth, LEVEL).mean(axis=0)
    return Residuals(residuals, (high[0] - low[0]) / 2, score / 2)


Piece = tuple[list[Residuals], float]
"""Of one fold: residuals at every epsilon, and the seconds of one plan and one release."""


class Sweep(NamedTuple):
    """Held-out performance of one mechanism at E budgets. Not private.

    Attributes:
        errors: root mean square of each simulated draw over all folds (E, draws), in the output's unit.
        half_width: half of the 95 % interval for an output, median over test points (E,), in the output's unit; nan for
            a mechanism that has none.
        half_score: half of the interval score of those intervals, mean over draws and test points (E,): the half-width
            plus 20 times how far outputs lie outside; in the output's unit, or nan.
        seconds: of one plan and one release, mean over folds, where they ran.
    """

    errors: FloatArray
    half_width: FloatArray
    half_score: FloatArray
    seconds: float


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
    """Errors at every epsilon, as from ``hold_out`` and ``held_out_errors``; a fold is a piece of work by itself.

    Args:
        mechanism: at any budget.
        epsilons: budgets to be judged, at least one.
        seed: of the simulation; a fold's draws depend on it and on the fold's index, not on where they are made.
        progress: called with the fraction done: after every budget of every fold here, after every fold elsewhere.

    Raises:
        ValueError: draws < 1, or an epsilon is out of range for the mechanism.
    """
    fold = partial(sweep_fold, mechanism, dataset, tuple(epsilons), draws, seed)
    pieces: list[Piece] = []
    if executor is None:
        for index, test in enumerate(folds):
            pieces.append(fold(index, test, lambda part: progress((len(pieces) + part) / len(folds))))
    else:
        for piece in executor.map(fold, list(range(len(folds))), list(folds)):
            pieces.append(piece)
            progress(len(pieces) / len(folds))
    return gathered(pieces)


def gathered(pieces: Sequence[Piece]) -> Sweep:
    """The sweep of the folds that are done, at least one: ``sweep`` itself, if these are all."""
    rows = []
    for parts in zip(*(residuals for residuals, _ in pieces), strict=True):
        residuals, widths, scores = zip(*parts, strict=True)
        rows.append((held_out_rmse(residuals), np.median(np.concatenate(widths)), np.mean(np.concatenate(scores))))
    errors, half_widths, half_scores = map(np.array, zip(*rows, strict=True))
    return Sweep(errors, half_widths, half_scores, float(np.mean([seconds for _, seconds in pieces])))


def sweep_fold(
    mechanism: Mechanism,
    dataset: Dataset,
    epsilons: Sequence[float],
    draws: int,
    seed: int,
    index: int,
    test: IndexArray,
    progress: Callable[[float], None] = lambda fraction: None,
) -> Piece:
    """One fold of a sweep, for ``gathered``: indices ``test``, number ``index``; the rest is as of ``sweep``."""
    start = time.perf_counter()
    [held] = left_out(dataset, (test,))
    residuals_of(mechanism, held, 1, [seed, index], intervals=False)
    seconds = time.perf_counter() - start
    rows = []
    for epsilon in epsilons:
        rows.append(residuals_of(with_epsilon(mechanism, epsilon), held, draws, [seed, index]))
        progress(len(rows) / len(epsilons))
    return rows, seconds


NOTHING_HIDDEN = 1000.0
_DRAWS = 2  # they hardly differ
_FEW = 1000  # records for whom rough curves are fitted too: their features are nearly as many as the records
_TINY = 1e-12  # raises what rounding made negative
_CLEARLY = 0.98  # of the mean square of records left out
_MECHANISM = BayesCloaking(epsilon=NOTHING_HIDDEN, delta=1e-5)  # with so little noise rough curves have their weight


def without_privacy(dataset: Dataset, X_test: FloatArray) -> FloatArray:
    """Predictions at X_test (P, D) when nothing is hidden (P,), in the output's unit. Not private.

    The same automatic models as Bayes cloaking mixes where noise is little, with the same change points, on the outputs
    clipped to the public bounds. Rough curves are among them where records left out are clearly better predicted so: by
    evidence alone the !Kung's height would follow every few people up and down, and be no nearer to others.
    """
    y = (dataset.clipped_y - dataset.midpoint) / dataset.y_scale
    change_points = change_points_of(_MECHANISM.columns_for(dataset), TUNING.curve_variance * dataset.half_range**2)
    shapes = change_points.at(np.vstack([dataset.X, X_test]))

    def mixed(people: int) -> tuple[FloatArray, float]:
        """Mean (P,), and the sum of squares of y - f of records left out, whose weights of models stay."""
        models = _MECHANISM.models(dataset.x_box, dataset.half_range, reading_for(dataset.y_kind), people)
        at_records = record_models(models, dataset.X, X_test)
        each = (_exact_posterior(*both, y, change_points, shapes) for both in zip(models, at_records, strict=True))
        means, left_out, evidence = zip(*each, strict=True)
        weights = softmax(evidence)
        return weights @ np.array(means), float(np.sum((weights @ np.array(left_out)) ** 2))

    mean, square = mixed(0)
    if dataset.n <= _FEW:
        rougher, rougher_square = mixed(dataset.n)
        mean = rougher if rougher_square < _CLEARLY * square else mean
    return np.clip(dataset.in_data_units(mean), *dataset.y_bounds)


def error_without_privacy(
    dataset: Dataset,
    folds: Folds,
    declared: Iterable[tuple[Kernel, float]] = (),
    mechanisms: Iterable[Mechanism] = (),
) -> float:
    """Root mean square error on people left out when nothing is hidden, in the output's unit. Not private.

    Of ``without_privacy``, or of the best method that it is compared with where that does better, nothing hidden
    either: no release of any of them can do better by hiding something, but by chance.

    Args:
        declared: kernels and noise variances of Gaussian processes, in model units.
        mechanisms: others, at any budget; nothing is hidden at epsilon = ``NOTHING_HIDDEN``.
    """
    held = left_out(dataset, folds)
    errors = [held_out_rmse([without_privacy(fold.train, fold.X_test) - fold.truth for fold in held])]
    for kernel, noise_variance in declared:
        pairs = zip(held_out_matrices(kernel, dataset.X, folds, noise_variance), held, strict=True)
        curves = [dataset.in_data_units(C @ fold.train.standardised()) - fold.truth for C, fold in pairs]
        errors.append(held_out_rmse(curves))
    for mechanism in mechanisms:
        planned = [fold._replace(plans={}) for fold in held]
        errors.append(held_out_errors(with_epsilon(mechanism, NOTHING_HIDDEN), planned, _DRAWS, 0).mean())
    return float(min(errors))


def _exact_posterior(
    model: Model, at: RecordModel, y: FloatArray, change_points: ChangePoints, shapes: FloatArray
) -> tuple[FloatArray, FloatArray, float]:
    """Mean of f at the test inputs (P,), y - f of each record left out (n,), log prior weight + log p(y) + constant.

    A record that is left out is missed by (y - f) / (1 - h), h its leverage given the change points.

    Args:
        at: the model at the records and the test inputs.
        shapes: of the change points there (n + P, J).
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
    off = np.concatenate([[1.0], -b])  # y less the change points
    leverages = np.einsum("ij,ji->i", phi, cho_solve(factor, phi.T)) / D
    mean = at_tests @ (loads @ off) + shapes[n:] @ b
    return mean, (unexplained @ off) / (1 - leverages), float(np.log(at.weight)) + evidence + gained


def _heights(products: FloatArray, change_points: ChangePoints, noise_variance: float) -> tuple[FloatArray, float]:
    """Expected heights of the change points (J,), and what they add to log p(y).

    ``products`` are (y, Phi)^T K^-1 (y, Phi), (1 + J, 1 + J): any vectors with these inner products do.
    """
    if len(products) == 1:
        return np.zeros(0), 0.0
    white = sturdy_cholesky(products, _TINY).T
    variances = change_points.variances_under(noise_variance)[None]
    state = change_points.updated(change_points.prior(variances), white[None, :, 1:], white[None, :, 0], variances)
    return state.mean[0], float(state.log_evidence[0])
