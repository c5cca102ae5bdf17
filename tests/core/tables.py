"""Data sets made for the tests, and releases of them read again."""

from dataclasses import replace

import numpy as np

from dpgp_core.levels import LevelSide
from dpgp_core.release.check import LoadedRelease
from dpgp_core.table import Dataset, Outcome, declared_columns

_REST = {"name": "table", "privacy_unit": "one person", "source": "made for the tests", "licence": "MIT"}
_COLUMNS = {"x_names", "x_units", "x_box", "x_levels"}
_OUTCOME = {"y_name": "name", "y_unit": "unit", "y_bounds": "bounds", "y_scale": "scale", "y_kind": "kind"}


def columns(x_names, x_units, x_box, x_levels=None):
    """Columns out of a list for each of their fields."""
    return declared_columns(x_names, x_box, units=x_units, levels=x_levels)


def table(X, y, *, x_box, x_names=("x",), x_units=None, x_levels=None, **public):
    """Records and what is public about them: of one input in m and an output in kg, unless told otherwise."""
    if x_levels is None and any(isinstance(side, LevelSide) for side in x_box):
        x_levels = [tuple(map(str, range(s.levels))) if isinstance(s, LevelSide) else None for s in x_box]
    units = ("m",) * len(x_names) if x_units is None else x_units
    outcome = {"name": "y", "unit": "kg"} | {_OUTCOME[key]: public.pop(key) for key in [*public] if key in _OUTCOME}
    inputs = columns(x_names, units, x_box, x_levels)
    rest = {**_REST, "bounds_reason": "made for the tests"} | public
    return Dataset(X=X, y=y, columns=inputs, outcome=Outcome(**outcome), **rest)


def changed(data, **changes):
    """A data set with changes, also of what is declared of its columns and its outcome, by the names it has itself."""
    declared = {key: changes.pop(key) for key in _COLUMNS & changes.keys()}
    outcome = {_OUTCOME[key]: changes.pop(key) for key in _OUTCOME.keys() & changes.keys()}
    if declared:
        changes["columns"] = columns(**{key: getattr(data, key) for key in _COLUMNS} | declared)
    return replace(data, outcome=replace(data.outcome, **outcome), **changes)


def small(**changes):
    """Twelve records of one input; some outputs lie outside the bounds (-1, 3)."""
    rng = np.random.default_rng(5)
    x = np.sort(rng.uniform(0, 10, 12))
    public = {"name": "small", "y_bounds": (-1.0, 3.0), "x_box": ((0.0, 10.0),), "y_scale": 2.0}
    data = table(x[:, None], 1 + 2.5 * np.sin(x), **public, privacy_unit="one person's weight")
    return changed(data, **changes)


def of_groups(**changes):
    """Six records of age and sex."""
    given = {
        "name": "groups",
        "X": np.stack([np.linspace(5.0, 55.0, 6), np.array([0.0, 1.0] * 3)], axis=1),
        "y": np.linspace(100.0, 180.0, 6),
        "x_names": ("age", "sex"),
        "x_units": ("years", ""),
        "x_box": ((0.0, 60.0),),
        "x_levels": (None, ("women", "men")),
        "y_bounds": (40.0, 200.0),
    }
    return table(**{**given, **changes})


def read_again(mechanism, statistics, X_test):
    """Values (P,) of a released statistic at X_test (P, D), read with the mechanism's models."""
    models = mechanism.models_of_release(statistics)
    return LoadedRelease(statistics=statistics, guarantee=mechanism.guarantee, models=models).predict(X_test)
