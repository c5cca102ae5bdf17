"""All that can be asked of a fitted estimator: computed from what was measured, so it spends nothing."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import FloatArray
from ..bayes.mixture import Of
from .conventions import Regressor, column_of, matrix_of, names_of, not_fitted
from .reading import FittedReading
from .tables import numbers_of, yes_and_no


class Predicting(Regressor):
    """Methods of an estimator that has left its ``reading_``. All but ``score`` read public numbers only."""

    reading_: FittedReading
    n_features_in_: int

    def predict(
        self, X: ArrayLike, return_std: bool = False, return_cov: bool = False
    ) -> FloatArray | tuple[FloatArray, FloatArray]:
        """Posterior mean of f (P,), clipped to the bounds, privacy noise taken into account. Free.

        Args:
            X: test inputs (P, D), anywhere.
            return_std: also the standard deviation of f (P,), in the output's unit.
            return_cov: also the covariance of f (P, P), in its square. Models are averaged: quantiles are not those
                of a normal distribution, ``interval`` has them.

        Raises:
            ValueError: both are asked for, or X does not fit.
        """
        if return_std and return_cov:
            raise ValueError("return_std and return_cov cannot both be True; the covariance has the std's squares")
        reading, X_test = self._fitted(), self._test_inputs(X)
        mean, sd = reading.mean_and_sd(X_test)
        if return_cov:
            return mean, reading.y_scale**2 * reading.joint(X_test).covariance()
        return (mean, sd) if return_std else mean

    def interval(self, X: ArrayLike, level: float = 0.95, of: Of = "outputs") -> tuple[FloatArray, FloatArray]:
        """Central predictive intervals (P,), (P,) in the output's unit, privacy noise and clipping included. Free.

        Args:
            X: test inputs (P, D).
            level: in (0, 1).
            of: "outputs", one further record, which may lie beyond the bounds; or "function", the latent f.

        Raises:
            ValueError: level or ``of`` is out of range, or X does not fit.
        """
        reading, X_test = self._fitted(), self._test_inputs(X)
        low, high = zip(*(part.interval(level, of) for part in reading.parts(X_test)), strict=True)
        return np.hstack(low)[0], np.hstack(high)[0]

    def predict_quantiles(self, X: ArrayLike, quantiles: Sequence[float] = (0.05, 0.5, 0.95)) -> FloatArray:
        """Values that one further output stays below with given probabilities (P, Q), in the output's unit. Free.

        Args:
            X: test inputs (P, D).
            quantiles: probabilities in (0, 1) (Q).

        Raises:
            ValueError: a probability is out of range, or X does not fit.
        """
        for each in quantiles:
            if not 0 < each < 1:
                raise ValueError(f"quantiles must lie between 0 and 1, got {each}; for example 0.5")
        parts = list(self._fitted().parts(self._test_inputs(X)))
        return np.stack([np.hstack([part.quantile(p)[0] for part in parts]) for p in quantiles], axis=1)

    def scatter(self, X: ArrayLike) -> FloatArray:
        """Standard deviation of people about the curve (P,), in the output's unit. Free.

        Args:
            X: test inputs (P, D).

        Raises:
            ValueError: X does not fit.
        """
        return np.hstack([part.scatter[0] for part in self._fitted().parts(self._test_inputs(X))])

    def sample_y(self, X: ArrayLike, n_samples: int = 1, random_state: int | np.random.Generator = 0) -> FloatArray:
        """Curves f (P, n_samples) from the joint posterior, in the output's unit. Free, as many as wanted.

        Args:
            X: test inputs (P, D).
            n_samples: how many.
            random_state: makes up the curves; no privacy hangs on it.

        Raises:
            ValueError: X does not fit.
        """
        reading, X_test = self._fitted(), self._test_inputs(X)
        paths = reading.joint(X_test).sample(np.random.default_rng(random_state), n_samples)
        curves: FloatArray = reading.midpoint + reading.y_scale * paths.T
        return curves

    def log_evidence(self) -> float:
        """Log density of what the last fit measured, under the mixture of models. Free."""
        return self._fitted().log_evidence()

    def score(self, X: ArrayLike, y: ArrayLike) -> float:
        """1 - sum (y - prediction)^2 / sum (y - mean y)^2. It reads y without noise: not private where y is."""
        predicted = self.predict(X)
        assert isinstance(predicted, np.ndarray)
        truth = column_of(yes_and_no(y, getattr(self, "yes", None), getattr(self, "no", None)), len(predicted))
        left, total = float(((truth - predicted) ** 2).sum()), float(((truth - truth.mean()) ** 2).sum())
        return 1 - left / total if total > 0 else float(left == 0)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "reading_")

    def _fitted(self) -> FittedReading:
        if not self.__sklearn_is_fitted__():
            raise not_fitted(self)
        return self.reading_

    def _test_inputs(self, X: ArrayLike) -> FloatArray:
        declared = [getattr(self, name, None) for name in ("x_box", "x_levels", "date_order")]
        found, names, known = matrix_of(numbers_of(X, *declared)), names_of(X), getattr(self, "feature_names_in_", None)
        if found.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has {found.shape[1]} features, but {type(self).__name__} is expecting {self.n_features_in_} "
                "features as input"
            )
        if names is not None and known is not None and names != tuple(known):
            raise ValueError(f"the columns of X must be {tuple(known)}, in this order, as in fit; got {names}")
        return found
