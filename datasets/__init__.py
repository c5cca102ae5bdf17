"""Data sets by name: those that ship with the project, and those that are read from files of the user.

Tables of your own are read by ``dpgp_core.read_csv``.

A data set is a file in this folder and an entry in ``DATASETS``, or in ``FROM_FILES`` if it needs files of the user.
The file defines ``NAME``, ``TITLE``, ``FAMILY``, ``load(...) -> Dataset``, and ``EXHIBITS``, which say how pages show
it.
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
    """Interface of the module of a data set.

    ``FAMILY`` is the same for data sets about the same people, because they share one budget.
    """

    NAME: str
    TITLE: str
    FAMILY: str

    @property
    def EXHIBITS(self) -> Sequence[Exhibit | Study]:
        """Declarations of how pages show it: none, one, or several with different options."""

    @property
    def load(self) -> Callable[..., Dataset]:
        """Function that loads it. Its keyword-only parameters are the options of the data set."""


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
FROM_FILES: tuple[DatasetModule, ...] = (london_ppd,)  # not in any menu, because options name files of the user

_shown = [shown for module in DATASETS for shown in module.EXHIBITS]
EXHIBITS = {shown.name: shown for shown in _shown if isinstance(shown, Exhibit)}  # in display order
STUDIES = {shown.name: shown for shown in _shown if isinstance(shown, Study)}  # in display order


def exhibit(name: str) -> Exhibit:
    """Return the exhibit with this name.

    Raises:
        ValueError: there is no exhibit with this name.
    """
    if name not in EXHIBITS:
        raise ValueError(f"no page shows a dataset named {name!r}; the names are {', '.join(EXHIBITS)}")
    return EXHIBITS[name]


def family(name: str) -> str:
    """Return the family of a data set, ``FAMILY`` of its module. Data sets of a family share a ledger.

    Args:
        name: ``NAME`` of a module, or the name of one of its exhibits.

    Raises:
        ValueError: there is no data set with this name.
    """
    for module in (*DATASETS, *FROM_FILES):
        if name in (module.NAME, *(exhibit.name for exhibit in module.EXHIBITS)):
            return module.FAMILY
    raise ValueError(f"there is no dataset named {name!r}")


def load(name: str, **options: Any) -> Dataset:
    """Load a data set by name, for example ``load("kung", dims=2)``.

    Args:
        name: ``NAME`` of one of ``DATASETS`` or ``FROM_FILES``.
        options: keyword options of the ``load`` function of the data set.

    Raises:
        ValueError: there is no data set with this name, or an option is unknown, missing or invalid.
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
