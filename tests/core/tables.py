"""Data sets made for the tests, and releases of them read again."""

from dataclasses import replace

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


def read_again(mechanism, statistics, X_test):
    """Values (P,) of a released statistic at X_test (P, D), read with the mechanism's models."""
    models = mechanism.models_of_release(statistics)
    return LoadedRelease(statistics=statistics, guarantee=mechanism.guarantee, models=models).predict(X_test)
