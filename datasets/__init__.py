"""Datasets by name: those that ship with the project, and those read from files you have.

Your own table is read by ``dpgp_core.read_csv``.

A new dataset is one file in this folder (``NAME``, ``TITLE``, ``FAMILY``, ``load(...) -> Dataset`` and ``EXHIBITS``,
which say how pages show it) and one row in ``DATASETS``, or in ``FROM_FILES`` if it cannot be loaded without files of
the user's.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from datasets import (
    citibike,
    excursion_1d,
    growth_2d,
    growth_visits,
    kung,
    london_excursion,
    london_hexes,
    london_ppd,
    london_sales,
    plumes_2d,
    toy_1d,
)
from datasets.exhibits import Exhibit, Study
from dpgp_core.table import Dataset

__all__ = [
    "DATASETS",
    "EXHIBITS",
    "FROM_FILES",
    "STUDIES",
    "DatasetModule",
    "Exhibit",
    "Study",
    "exhibit",
    "family",
    "load",
]


class DatasetModule(Protocol):
    """What a dataset's file provides: its short name, title, whom it is about, how to load it and how pages show it.

    ``FAMILY`` is the same for data sets about the same people: what is released of one is spent on all.
    """

    NAME: str
    TITLE: str
    FAMILY: str

    @property
    def EXHIBITS(self) -> Sequence[Exhibit | Study]:
        """Return how pages show it: once, several times with other options, or not at all."""

    @property
    def load(self) -> Callable[..., Dataset]:
        """Return the loader; its keyword-only parameters are the dataset's options."""


DATASETS: tuple[DatasetModule, ...] = (  # in display order
    kung,
    london_hexes,
    london_sales,
    toy_1d,
    citibike,
    excursion_1d,
    plumes_2d,
    london_excursion,
    growth_2d,
    growth_visits,
)
FROM_FILES: tuple[DatasetModule, ...] = (london_ppd,)  # not in any menu: options without a default name files

_shown = [shown for module in DATASETS for shown in module.EXHIBITS]
EXHIBITS = {shown.name: shown for shown in _shown if isinstance(shown, Exhibit)}  # in display order
STUDIES = {shown.name: shown for shown in _shown if isinstance(shown, Study)}  # of excursion sets, in display order


def exhibit(name: str) -> Exhibit:
    """How pages show a dataset, by its name there.

    Raises:
        ValueError: no page shows a dataset of this name.
    """
    if name not in EXHIBITS:
        raise ValueError(f"no page shows a dataset named {name!r}; the names are {', '.join(EXHIBITS)}")
    return EXHIBITS[name]


def family(name: str) -> str:
    """The family of a dataset, ``FAMILY`` of its module: one person, one ledger.

    Args:
        name: ``NAME`` of a module, or the name of an exhibit of it.

    Raises:
        ValueError: no dataset has the name.
    """
    for module in (*DATASETS, *FROM_FILES):
        if name in (module.NAME, *(exhibit.name for exhibit in module.EXHIBITS)):
            return module.FAMILY
    raise ValueError(f"there is no dataset named {name!r}")


def load(name: str, **options: Any) -> Dataset:
    """Load a dataset by name, for example ``load("kung", dims=2)``.

    Args:
        name: ``NAME`` of one of ``DATASETS`` or ``FROM_FILES``.
        options: keyword options of that dataset's own ``load``.

    Raises:
        ValueError: no dataset has the name, the dataset lacks an option, needs one that is not given, or
            refuses the value of one.
    """
    modules = {module.NAME: module for module in (*DATASETS, *FROM_FILES)}
    if name not in modules:
        raise ValueError(f"there is no dataset named {name!r}; the names are {', '.join(modules)}")
    loader = modules[name].load
    parameters = inspect.signature(loader).parameters
    known = list(parameters)
    unknown = [option for option in options if option not in known]
    if unknown:
        takes = f"its options are {', '.join(known)}" if known else "it takes none"
        raise ValueError(f"dataset {name!r} has no option {', '.join(map(repr, unknown))}; {takes}")
    needed = [option for option, parameter in parameters.items() if parameter.default is inspect.Parameter.empty]
    absent = [option for option in needed if option not in options]
    if absent:
        raise ValueError(f"dataset {name!r} needs {', '.join(absent)}: paths of files that you have downloaded")
    return loader(**options)
