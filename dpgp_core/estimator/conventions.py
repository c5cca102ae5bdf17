"""Conventions of scikit-learn, which need not be installed: parameters, tags, and what arrays are refused."""

from __future__ import annotations

import inspect
import sys
from datetime import date
from importlib import import_module
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import FloatArray
from ..reading.writing import as_float
from .spending import cloned, spent
from .tables import is_missing


class NotFitted(ValueError, AttributeError):
    """A method was called that needs ``fit`` first, where scikit-learn, which has a class for it, is not loaded."""


class Regressor:
    """Parameters by name, as ``clone``, ``Pipeline`` and searches ask for them. ``__init__`` only stores them."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters by name. None of them is an estimator, so ``deep`` changes nothing."""
        return {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}

    def set_params(self, **params: Any) -> Self:
        """Change parameters by name, for the next ``fit``; what was fitted stays as it is.

        Raises:
            ValueError: a name is unknown; nothing is changed.
        """
        known = self.get_params()
        for name in params:
            if name not in known:
                raise ValueError(f"{type(self).__name__} has no parameter {name!r}; it has {', '.join(known)}")
        for name, value in params.items():
            setattr(self, name, value)
        return self

    def __sklearn_clone__(self) -> Self:
        """Asked for by scikit-learn's ``clone``: the copies of an estimator know what they spend together."""
        return cloned(self, self.get_params())

    def spent_by_copies(self) -> tuple[float, float]:
        """(epsilon, delta) of all real fits of this estimator's copies in this process, as a search makes them."""
        return spent(self)

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self)).parameters
        changed = {k: v for k, v in self.get_params().items() if repr(v) != repr(defaults[k].default)}
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in changed.items())})"

    def __sklearn_tags__(self) -> Any:
        """Asked for by scikit-learn alone."""
        utils = import_module("sklearn.utils")
        return utils.Tags(
            estimator_type="regressor",
            target_tags=utils.TargetTags(required=True),
            transformer_tags=None,
            classifier_tags=None,
            regressor_tags=utils.RegressorTags(poor_score=True),  # at a small budget
            non_deterministic=getattr(self, "random_state", None) is None,
        )


def not_fitted(estimator: object) -> Exception:
    """The error of an estimator that was not fitted, of scikit-learn's own class where that is loaded."""
    kind = getattr(sys.modules.get("sklearn.exceptions"), "NotFittedError", NotFitted)
    error: Exception = kind(f"this {type(estimator).__name__} is not fitted; call fit(X, y) first")
    return error


def matrix_of(X: ArrayLike) -> FloatArray:
    """X as finite floats (n, D), n and D at least 1.

    Raises:
        ValueError: it is not.
        TypeError: it is sparse, or a cell is no number.
    """
    array = _floats("X", X)
    if array.ndim != 2:
        raise ValueError(
            f"X must have two dimensions, rows and columns, got shape {array.shape}. Reshape your data: X[:, None] "
            "makes a column of a vector"
        )
    if len(array) < 1:
        raise ValueError(f"Found array with 0 sample(s) (shape={array.shape}) while a minimum of 1 is required.")
    if array.shape[1] < 1:
        raise ValueError(f"Found array with 0 feature(s) (shape={array.shape}) while a minimum of 1 is required.")
    return array


def column_of(y: ArrayLike | None, n: int) -> FloatArray:
    """Y as finite floats (n,). No message repeats a value.

    Raises:
        ValueError: it is not.
        TypeError: it is sparse, or a cell is no number.
    """
    if y is None:
        raise ValueError("the estimator requires y to be passed, but the target y is None")
    array = _floats("y", y)
    if array.shape == (n, 1):  # a column of a table
        array = array[:, 0]
    if array.shape != (n,):
        raise ValueError(f"y must have one number for each of the {n} rows of X, shape ({n},), got {array.shape}")
    return array


def names_of(X: object) -> tuple[str, ...] | None:
    """Column names of a table, if all are strings."""
    names = tuple(getattr(X, "columns", ()))
    return names if names and all(isinstance(name, str) for name in names) else None


def _as_floats(name: str, array: Any) -> FloatArray:
    """An array as floats, missing values of pandas as NaN. No message repeats a value."""
    if array.dtype == object and array.size:
        array = np.array([np.nan if is_missing(each) else each for each in array.flat], dtype=object).reshape(
            array.shape
        )
    try:
        floats: FloatArray = array.astype(float)
    except ValueError:
        count = max(sum(isinstance(each, str) and as_float(each) is None for each in array.flat), 1)
    else:
        return floats
    remedy = "declare yes and no if it is an outcome of these" if name == "y" else "declare x_levels if it holds groups"
    raise ValueError(f"{name} has text instead of a number in {count:,} of {array.size:,} cells; {remedy}")


def _floats(name: str, values: ArrayLike) -> FloatArray:
    if hasattr(values, "toarray"):
        raise TypeError(f"{name} is sparse, and sparse data are not supported; pass {name}.toarray()")
    array = np.asarray(values)
    dates = array.dtype == object and any(isinstance(each, date) for each in array.flat)
    if dates or array.dtype.kind in "mM":
        raise ValueError(f"{name} holds dates, and the estimator takes numbers; give it days since a public first day")
    if np.iscomplexobj(array):
        raise ValueError(f"Complex data not supported: {name} must be of real numbers")
    floats = _as_floats(name, array)
    for holds, what in ((np.isnan, "NaN, a missing value,"), (np.isinf, "infinity (inf)")):
        count = int(holds(floats).sum())
        if count:
            raise ValueError(f"{name} must be finite, and holds {what} {count:,} times; leave out or fill such rows")
    return floats
