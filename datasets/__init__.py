"""Datasets that ship with the project, by name, and the reader of your own CSV file.

A new dataset is one file in this folder (``NAME``, ``TITLE``, ``load(...) -> Dataset``) and one
line in ``DATASETS``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, Protocol

from datasets import (
    citibike,
    excursion_1d,
    growth_2d,
    kung,
    london_excursion,
    london_hexes,
    london_sales,
    plumes_2d,
    toy_1d,
)
from datasets.csv_file import from_csv
from dpgp_core.data import Dataset

__all__ = ["DATASETS", "DatasetModule", "from_csv", "load"]


class DatasetModule(Protocol):
    """What a dataset's file provides: its short name, its display title, and how to load it."""

    NAME: str
    TITLE: str

    @property
    def load(self) -> Callable[..., Dataset]:
        """Return the loader; its keyword-only parameters are the dataset's options, all with defaults."""


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
)


def load(name: str, **options: Any) -> Dataset:
    """Load a dataset by name, for example ``load("kung", dims=2)``.

    Args:
        name: ``NAME`` of one of ``DATASETS``.
        options: keyword options of that dataset's own ``load``.

    Raises:
        ValueError: no dataset has the name, the dataset lacks an option, or an option's value is refused.
    """
    modules = {module.NAME: module for module in DATASETS}
    if name not in modules:
        raise ValueError(f"there is no dataset named {name!r}; the names are {', '.join(modules)}")
    loader = modules[name].load
    known = list(inspect.signature(loader).parameters)
    unknown = [option for option in options if option not in known]
    if unknown:
        takes = f"its options are {', '.join(known)}" if known else "it takes none"
        raise ValueError(f"dataset {name!r} has no option {', '.join(map(repr, unknown))}; {takes}")
    return loader(**options)
