"""Predictions of a fitted estimator, which are computed from its measurements and therefore spend nothing.

The classes follow the conventions of scikit-learn, which need not be installed.
"""

from __future__ import annotations

import copy
import inspect
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from ..arrays import FloatArray
from ..bayes.mixture import MixtureUncertainty
from ..bayes.model import weights_of
from ..bayes.refit import ReleasePosterior
from ..checks import check_share
from ..gp.uncertainty import IntervalTarget
from ..reading.writing import Declared
from ..table import Column, Outcome
from .declared import column_of, matrix_of, names_of, outcomes_in_numbers, table_in_numbers
from .spending import Copies

_ROWS = 4096  # number of test inputs that are predicted at a time


@dataclass(frozen=True, kw_only=True, eq=False)
class FittedPosterior:
    """A release of Bayes cloaking and the models with which it is read. It contains no private values."""

    posterior: ReleasePosterior
    outcome: Outcome
    columns: tuple[Column, ...]

    def parts(self, X_test: FloatArray) -> Iterator[MixtureUncertainty]:
        """Yield predictions at X_test (P, D), for ``_ROWS`` rows at a time."""
        for start in range(0, len(X_test), _ROWS):
            some = self.posterior.at(X_test[start : start + _ROWS]).curve
            yield MixtureUncertainty(outcome=self.outcome, prediction=some)


class NotFitted(ValueError, AttributeError):
    """Raised if a method needs ``fit`` first and scikit-learn, which has an error for it, is not loaded."""


class Predicting:
    """Base class of an estimator, with all methods except ``fit``. All except ``score`` use released numbers only.

    Subclasses follow the conventions of scikit-learn for ``clone``, ``Pipeline`` and searches: ``__init__`` only stores
    the parameters under their names. ``fit`` sets ``posterior_``.
    """

    random_state: int | np.random.Generator | None
    yes: Declared
    no: Declared
    posterior_: FittedPosterior
    n_features_in_: int

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name. None of them is an estimator, so ``deep`` has no effect."""
        return {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}

    def set_params(self, **params: Any) -> Self:
        """Change parameters for the next ``fit``. Fitted attributes do not change.

        Raises:
            ValueError: a name is unknown. No parameter is changed then.
        """
        parameters = self.get_params()
        for name in params:
            if name not in parameters:
                raise ValueError(f"{type(self).__name__} has no parameter {name!r}; it has {', '.join(parameters)}")
        for name, value in params.items():
            setattr(self, name, value)
        return self

    def __sklearn_clone__(self) -> Self:
        """Copy the estimator for ``sklearn.clone``. An estimator and its copies count their spending together."""
        new, copies = type(self)(**copy.deepcopy(self.get_params())), vars(self).setdefault("_copies", Copies())
        copies.several = True
        vars(new)["_copies"] = copies
        return new

    def spent_by_copies(self) -> tuple[float, float]:
        """Return (epsilon, delta) of all real fits of this estimator and its copies in this process together."""
        copies = vars(self).get("_copies", Copies())
        return copies.epsilon, copies.delta

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self)).parameters
        changed = {k: v for k, v in self.get_params().items() if repr(v) != repr(defaults[k].default)}
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in changed.items())})"

    def __sklearn_tags__(self) -> Any:
        """Return the tags of the estimator, for scikit-learn."""
        utils = import_module("sklearn.utils")
        return utils.Tags(
            estimator_type="regressor",
            target_tags=utils.TargetTags(required=True),
            transformer_tags=None,
            classifier_tags=None,
            regressor_tags=utils.RegressorTags(poor_score=True),  # with a small budget
            non_deterministic=self.random_state is None,
        )

    def predict(
        self, X: ArrayLike, return_std: bool = False, return_cov: bool = False
    ) -> FloatArray | tuple[FloatArray, FloatArray]:
        """Return the posterior mean of f (P,), clipped to the bounds, in the unit of the output. No budget is spent.

        Args:
            X: test inputs (P, D).
            return_std: whether to return also the standard deviation of f (P,), in the unit of the output.
            return_cov: whether to return also the covariance of f (P, P), in squared units of the output. The
                distribution is a mixture and not normal; use ``interval`` for quantiles.

        Raises:
            ValueError: both are requested, or X does not match the fitted inputs.
        """
        if return_std and return_cov:
            raise ValueError("return_std and return_cov cannot both be True; the covariance has the std's squares")
        fitted, X_test = self._fitted(), self._test_inputs(X)
        parts = list(fitted.parts(X_test))
        mean = np.concatenate([part.values[0] for part in parts])
        if return_cov:
            return mean, fitted.outcome.scale**2 * fitted.posterior.at(X_test).joint().covariance()
        sd = np.concatenate([fitted.outcome.scale * np.sqrt(part.prediction.variance[0]) for part in parts])
        return (mean, sd) if return_std else mean

    def interval(
        self, X: ArrayLike, level: float = 0.95, of: IntervalTarget = "outputs"
    ) -> tuple[FloatArray, FloatArray]:
        """Return both ends (P,) of central predictive intervals, in the unit of the output. No budget is spent.

        They account for privacy noise and clipping.

        Args:
            X: test inputs (P, D).
            of: "outputs" for one further record, which may lie beyond the bounds, or "function" for the latent f.

        Raises:
            ValueError: level or ``of`` is out of range, or X does not match the fitted inputs.
        """
        fitted, X_test = self._fitted(), self._test_inputs(X)
        low, high = zip(*(part.interval(level, of) for part in fitted.parts(X_test)), strict=True)
        return np.hstack(low)[0], np.hstack(high)[0]

    def predict_quantiles(self, X: ArrayLike, quantiles: Sequence[float] = (0.05, 0.5, 0.95)) -> FloatArray:
        """Return quantiles (P, Q) of one further output, in the unit of the output. No budget is spent.

        Args:
            X: test inputs (P, D).
            quantiles: Q probabilities in (0, 1).

        Raises:
            ValueError: a probability is out of range, or X does not match the fitted inputs.
        """
        for each in quantiles:
            check_share("each of the quantiles", each)
        parts = list(self._fitted().parts(self._test_inputs(X)))
        return np.stack([np.hstack([part.quantile(p)[0] for part in parts]) for p in quantiles], axis=1)

    def residual_sd(self, X: ArrayLike) -> FloatArray:
        """Return the residual standard deviation of outputs about the curve (P,), in their unit. No budget is spent.

        Args:
            X: test inputs (P, D).

        Raises:
            ValueError: X does not match the fitted inputs.
        """
        return np.hstack([part.residual_sd[0] for part in self._fitted().parts(self._test_inputs(X))])

    def sample_y(self, X: ArrayLike, n_samples: int = 1, random_state: int | np.random.Generator = 0) -> FloatArray:
        """Return samples f (P, n_samples) from the joint posterior, in the unit of the output. No budget is spent.

        Args:
            X: test inputs (P, D).
            n_samples: number of samples.
            random_state: seed or generator of the samples. Privacy does not depend on it.

        Raises:
            ValueError: X does not match the fitted inputs.
        """
        fitted, X_test = self._fitted(), self._test_inputs(X)
        paths = fitted.posterior.at(X_test).joint().sample(np.random.default_rng(random_state), n_samples)
        return np.asarray(fitted.outcome.midpoint + fitted.outcome.scale * paths.T)

    def log_evidence(self) -> float:
        """Return the log evidence of the last fit's measurements under the mixture of models. No budget is spent."""
        posterior = self._fitted().posterior
        return float(logsumexp(posterior.log_evidence(), b=weights_of(posterior.models)))

    def score(self, X: ArrayLike, y: ArrayLike) -> float:
        """Return 1 - sum (y - prediction)^2 / sum (y - mean y)^2. It uses y without noise, so it is not private."""
        predicted = self.predict(X)
        assert isinstance(predicted, np.ndarray)
        truth = column_of(outcomes_in_numbers(y, self.yes, self.no), len(predicted))
        left, total = float(((truth - predicted) ** 2).sum()), float(((truth - truth.mean()) ** 2).sum())
        return 1 - left / total if total > 0 else float(left == 0)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "posterior_")

    def _fitted(self) -> FittedPosterior:
        if not self.__sklearn_is_fitted__():  # the error is that of scikit-learn if it is loaded
            kind = getattr(sys.modules.get("sklearn.exceptions"), "NotFittedError", NotFitted)
            raise kind(f"this {type(self).__name__} is not fitted; call fit(X, y) first")
        return self.posterior_

    def _test_inputs(self, X: ArrayLike) -> FloatArray:
        matrix, names = matrix_of(table_in_numbers(X, self.posterior_.columns)), names_of(X)
        fitted = getattr(self, "feature_names_in_", None)
        if matrix.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has {matrix.shape[1]} features, but {type(self).__name__} is expecting {self.n_features_in_} "
                "features as input"
            )
        if names is not None and fitted is not None and names != tuple(fitted):
            raise ValueError(f"the columns of X must be {tuple(fitted)}, in this order, as in fit; got {names}")
        return matrix
