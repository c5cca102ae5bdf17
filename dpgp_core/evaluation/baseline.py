"""The error when nothing is hidden: Bayes cloaking's mixture of models on the exact outputs, on people left out.

Under model m, y = f(X) + e with covariance phi phi^T + D, D diagonal, so that (R&W section 2.7, matrix inversion lemma)

    A = I + phi^T D^-1 phi,   b = phi^T D^-1 y,   E f_* = phi_* A^-1 b,
    -2 log p(y) = y^T D^-1 y - b^T A^-1 b + log |A| + log |D| + const,

and the prediction is the mean of the models', weighted by prior weight times p(y).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.special import softmax

from ..arrays import FloatArray
from ..bayes.filter_records import RecordModel, record_filter
from ..bayes.settings import reading_for
from ..kernels import Kernel
from ..mechanisms import BayesCloaking
from ..mechanisms.base import Mechanism
from ..table import Dataset
from .comparison import held_out_errors, hold_out, with_epsilon
from .cross_validation import Folds, held_out_matrices
from .errors import rmse

NOTHING_HIDDEN = 1000.0
_DRAWS = 2  # they hardly differ
_MECHANISM = BayesCloaking(epsilon=1.0, delta=1e-5)  # its models depend on box and bounds alone


def without_privacy(dataset: Dataset, X_test: FloatArray) -> FloatArray:
    """Predictions at X_test (P, D) when nothing is hidden (P,), in the output's unit. Not private.

    The same automatic models as Bayes cloaking mixes, on the outputs clipped to the public bounds.

    Args:
        dataset: the records.
        X_test: test inputs (P, D).
    """
    half_range = dataset.output_range / dataset.y_scale / 2
    models = _MECHANISM.models(dataset.x_box, half_range, reading_for(dataset.y_kind))
    y = (dataset.clipped_y - dataset.midpoint) / dataset.y_scale
    of = record_filter(models, dataset.X, X_test)
    posteriors = [_under(model, of.tests, y) for model in of.models]
    weights = softmax([evidence for _, evidence in posteriors])
    mean = np.einsum("m,mp->p", weights, np.stack([mean for mean, _ in posteriors]))
    predicted: FloatArray = np.clip(dataset.in_data_units(mean), *dataset.y_bounds)
    return predicted


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
        dataset: all records.
        folds: test indices of each fold; predicted from all others.
        declared: kernels and noise variances of Gaussian processes, in model units.
        mechanisms: others, at any budget; nothing is hidden at epsilon = ``NOTHING_HIDDEN``.
    """
    y, missed = dataset.standardised(), []
    for test in folds:
        train = dataset.subset(np.delete(np.arange(dataset.n), test))
        missed.append(without_privacy(train, dataset.X[test]) - dataset.clipped_y[test])
    errors = [_error(missed)]
    for kernel, noise_variance in declared:
        matrices = held_out_matrices(kernel, dataset.X, folds, noise_variance)
        residuals = [C @ np.delete(y, test) - y[test] for C, test in zip(matrices, folds, strict=True)]
        errors.append(dataset.y_scale * _error(residuals))
    for mechanism in mechanisms:
        held = hold_out(mechanism, dataset, folds)
        exact = held_out_errors(with_epsilon(mechanism, NOTHING_HIDDEN), held, _DRAWS, 0, intervals=False)
        errors.append(float(exact.rmse.mean()))
    return min(errors)


def _error(missed: Sequence[FloatArray]) -> float:
    return float(rmse(np.concatenate(missed), np.zeros(1)))


def _under(model: RecordModel, tests: slice, y: FloatArray) -> tuple[FloatArray, float]:
    """Posterior mean of f at the test inputs (P,), and log prior weight + log p(y) but for a constant."""
    phi, at_tests, D = model.phi[: len(y)], model.phi[tests], model.noise
    factor = cho_factor(np.eye(phi.shape[1]) + phi.T @ (phi / D[:, None]), lower=True)
    b = phi.T @ (y / D)
    weights = cho_solve(factor, b)
    log_determinant = 2 * np.log(np.diag(factor[0])).sum() + np.log(D).sum()
    evidence = -0.5 * (float(y @ (y / D)) - float(b @ weights) + log_determinant)
    return at_tests @ weights, float(np.log(model.weight)) + evidence
