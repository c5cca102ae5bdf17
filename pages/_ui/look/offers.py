"""Controls that several pages share: drop-downs, sliders and their values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from datasets import EXHIBITS, Exhibit, exhibit
from dpgp_core.accounting.gaussian import Method
from dpgp_core.mechanisms import CATALOGUE
from dpgp_core.strategies.noise_design import ObjectiveName
from pages._ui.look import text
from pages._ui.look.controls import TOP, Menu, Number, Slider, Switch, menu
from pages._ui.model import KERNELS, USUAL_NOISE, Design, Focus

EPSILONS = (0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5, 7, 10, 20, 50, 100)
DELTAS = (1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.05)
DELTA = 1e-5  # at most 1 / (10 n) for the n records of every data set that is released with it here
NOISES = (0.03, 0.1, 0.2, 0.3, 0.5, 1, 2)
RIDGES = (0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5, 8, 12, 20, 30)
SIGMAS = (0.0005, 0.001, 0.002, 0.003, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5)
PATHS = (1, 3, 10, 30, 100)
LAST_DRAW = 99999
PATH_DELTAS = (1e-5, 1e-4, 0.001, 0.005, 0.01, 0.05, 0.1)


def neighbours(grid: Sequence[float], value: float) -> list[float]:
    """Return the next value of a slider and the previous one; [] for a value that it does not offer."""
    if value not in grid:
        return []
    at = grid.index(value)
    return [*grid[at + 1 : at + 2], *grid[max(at - 1, 0) : at]]


def of_datasets(key: str, exhibits: Iterable[Exhibit]) -> Menu[str]:
    """Return a drop-down of data sets by title."""
    return menu("Dataset", key, {exhibit.name: exhibit.title for exhibit in exhibits})


def whole(grid: Sequence[float]) -> tuple[float, ...]:
    """Return the values with whole numbers as such, so that slider and address write 25 and not 25.0."""
    return tuple(int(value) if value == int(value) else value for value in grid)


def lengthscale_key(exhibit: Exhibit) -> str:
    """Return the parameter of the lengthscale. Data sets share it if their inputs have one unit and one default."""
    first = next(each for each in EXHIBITS.values() if each.unit == exhibit.unit)
    shared = exhibit.lengthscale == first.lengthscale and set(exhibit.lengthscales) <= set(first.lengthscales)
    return f"lengthscale_{exhibit.unit if shared else exhibit.name}"


def mechanisms(name: str) -> tuple[str, ...]:
    """Return the mechanisms with which pages draw a data set, the default first; with it, every control affects the
    noise.

    The default is refined cloaking if its plan takes at most two seconds, and cloaking for very many records. For
    these, only mechanisms that add noise once are offered, because measuring in stages takes seconds for each release.
    """
    if exhibit(name).smooth_only:
        return "cloaking", *(each for each in MECHANISM.titles if each != "cloaking" and not Design(each).in_stages)
    return "refined", *(each for each in MECHANISM.titles if each != "refined")


def lengthscale(name: str) -> Slider[float]:
    """Return the slider of the lengthscale along a data set's first input."""
    shipped = exhibit(name)
    return Slider(
        lengthscale_key(shipped),
        f"Lengthscale [{shipped.unit}]: more detail ⟷ less noise",
        whole([shipped.lengthscale])[0],
        whole(shipped.lengthscales),
        help="Distance over which the curve can change. Longer averages over more people, so it needs less noise.",
    )


def path_controls(r: float, sigma: float, prefix: str = "") -> tuple[Slider[float], Slider[float]]:
    """Return sliders for the root of the ridge and the scale of released paths; ``prefix`` distinguishes pages with
    other defaults.
    """
    ridge = Slider(
        f"{prefix}r",
        "r: more accurate ⟷ more private",
        r,
        RIDGES,
        help="Square root of the ridge. A larger value gives each record less influence.",
    )
    scale = "Scale of the paths' own randomness."
    return ridge, Slider(f"{prefix}sigma", "s: more accurate ⟷ more private", sigma, SIGMAS, help=scale)


CURVE = of_datasets("dataset", (exhibit for exhibit in EXHIBITS.values() if exhibit.scene == "curve"))
MAP = of_datasets("map_dataset", (exhibit for exhibit in EXHIBITS.values() if exhibit.scene == "map"))
KERNEL = menu("Kernel", "kernel", {name: name for name in KERNELS})
MECHANISM = menu("Method", "mechanism", {name: entry.title for name, entry in CATALOGUE.items() if entry.drawn})
OBJECTIVE: Menu[ObjectiveName] = menu(
    "Noise objective",
    "objective",
    {"trace": "Trace: least squared noise (ours)", "logdet": "Log-det (Smith et al. 2018)"},
    section="Expert",
)
CALIBRATION: Menu[Method] = menu(
    "Calibration",
    "calibration",
    {"analytic": "Analytic Gaussian (exact)", "hall": "Hall et al. 2013 (ε ≤ 1)"},
    section="Expert",
)
FOCUS: Menu[Focus] = menu(
    "Accuracy matters",
    "focus",
    {"records": "Where the records are", "everywhere": "Everywhere on the picture"},
    section="Expert",
)
EPSILON = Slider(
    "epsilon",
    "ε: more private ⟷ more accurate",
    1,
    EPSILONS,
    help=f"{text.GROWTH.capitalize()}. Smaller is more private.",
    section=TOP,
)
PROMISED = Slider("delta", "δ: more private ⟷ more accurate", DELTA, DELTAS, help=text.DELTA_HELP, section="Promise")
OVERLAY = Switch(
    "overlay",
    "True data shown",
    True,
    help="Shows the true data, the curve without privacy, and errors. None of that is private.",
    display_only=True,
)
NOISE = Slider(
    "noise",
    "Spread of people (share of signal variance)",
    USUAL_NOISE,
    NOISES,
    help="How much of one person's value is taken to be chance. More makes each person matter less.",
    section="Model",
)
DRAW = Number("draw", "Number of the release", 1, 1, LAST_DRAW, section="Simulated release")
PATHS_RELEASED = Slider(
    "paths", "Paths released", 1, PATHS, help="Each path is a release; they add up.", section="Paths"
)
