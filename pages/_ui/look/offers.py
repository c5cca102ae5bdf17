"""What controls offer that several rooms share: drop-downs and grids of sliders. No streamlit here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from datasets import EXHIBITS, Exhibit, exhibit
from dpgp_core.accounting.gaussian import Method
from dpgp_core.mechanisms import CATALOGUE
from dpgp_core.strategies.noise_design import ObjectiveName
from pages._ui.model import KERNELS, Design, Focus

EPSILON = "ε: more private ⟷ more accurate"
DELTA_TITLE = "δ: more private ⟷ more accurate"
SCALE = "s: more accurate ⟷ more private"  # of posterior paths
EPSILONS = (0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5, 7, 10, 20, 50, 100)
DELTAS = (1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.05)
DELTA = 1e-5  # at most 1 / (10 n) for the n records of every data set that is released with it here
NOISES = (0.03, 0.1, 0.2, 0.3, 0.5, 1, 2)
RIDGES = (0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5, 8, 12, 20, 30)
SIGMAS = (0.0005, 0.001, 0.002, 0.003, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5)
PATHS = (1, 3, 10, 30, 100)
LAST_DRAW = 99999
PATH_DELTAS = (1e-5, 1e-4, 0.001, 0.005, 0.01, 0.05, 0.1)

T = TypeVar("T", bound=str)


@dataclass(frozen=True)
class DropDown(Generic[T]):
    """Values to choose from, the first of them by default. An address may give a value or its title.

    Attributes:
        key: in the address.
        titles: value -> title on the screen, in order.
    """

    key: str
    titles: Mapping[T, str]

    def value(self, title: str) -> T:
        """The value that is shown under a title. Raises ValueError if none is."""
        for value, shown in self.titles.items():
            if shown == title:
                return value
        raise ValueError(f"{self.key} offers no {title!r}; it offers {', '.join(self.titles.values())}")


def neighbours(grid: Sequence[float], value: float) -> list[float]:
    """The next value of a slider and the one before; none beside a value that it does not offer."""
    if value not in grid:
        return []
    at = grid.index(value)
    return [*grid[at + 1 : at + 2], *grid[max(at - 1, 0) : at]]


def of_datasets(key: str, exhibits: Iterable[Exhibit]) -> DropDown[str]:
    """A drop-down of datasets, by their titles."""
    return DropDown(key, {exhibit.name: exhibit.title for exhibit in exhibits})


def whole(grid: Sequence[float]) -> tuple[float, ...]:
    """The grid with whole numbers as such: a slider, and so an address, then writes 25 and not 25.0."""
    return tuple(int(value) if value == int(value) else value for value in grid)


def lengthscale_key(exhibit: Exhibit) -> str:
    """Parameter of the lengthscale: datasets with inputs in one unit share it, if they open with the same."""
    first = next(each for each in EXHIBITS.values() if each.unit == exhibit.unit)
    shared = exhibit.lengthscale == first.lengthscale and set(exhibit.lengthscales) <= set(first.lengthscales)
    return f"lengthscale_{exhibit.unit if shared else exhibit.name}"


def mechanisms(name: str) -> tuple[str, ...]:
    """Those that pages draw a dataset with, the default first.

    The same default on every page, so that every page says the same error; but where there are very many records,
    measuring in stages takes seconds a draw.
    """
    return NOISE_ONCE if exhibit(name).smooth_only else (*_IN_STAGES, *NOISE_ONCE)


CURVE = of_datasets("dataset", (exhibit for exhibit in EXHIBITS.values() if exhibit.scene == "curve"))
MAP = of_datasets("map_dataset", (exhibit for exhibit in EXHIBITS.values() if exhibit.scene == "map"))
KERNEL: DropDown[str] = DropDown("kernel", {name: name for name in KERNELS})
MECHANISM: DropDown[str] = DropDown(
    "mechanism", {name: entry.title for name, entry in CATALOGUE.items() if entry.drawn}
)
NOISE_ONCE = tuple(name for name in MECHANISM.titles if not Design(name).in_stages)
"""Mechanisms that add noise once."""
_IN_STAGES = tuple(name for name in MECHANISM.titles if Design(name).in_stages)
OBJECTIVE: DropDown[ObjectiveName] = DropDown(
    "objective", {"trace": "Trace: least squared noise (ours)", "logdet": "Log-det (Smith et al. 2018)"}
)
CALIBRATION: DropDown[Method] = DropDown(
    "calibration", {"analytic": "Analytic Gaussian (exact)", "hall": "Hall et al. 2013 (ε ≤ 1)"}
)
FOCUS: DropDown[Focus] = DropDown(
    "focus", {"records": "Where the records are", "everywhere": "Everywhere on the picture"}
)
RELEASE = (KERNEL, MECHANISM, OBJECTIVE, CALIBRATION, FOCUS)  # of every page that releases
