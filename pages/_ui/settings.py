"""What can be chosen: grids and titles of every control. No streamlit here."""

from __future__ import annotations

from datasets import DATASETS
from dpgp_core.mechanisms import CATALOGUE
from pages._ui.excursion.figures import LAYERS as EXCURSION_LAYERS
from pages._ui.look.maps import LAYERS
from pages._ui.model import KERNELS

EPSILONS = (0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5, 7, 10, 20, 50, 100)
SPARSE_INDUCING = {
    "toy_1d": (5, 7, 9, 13, 17, 21),
    "kung": (4, 6, 8, 10, 13),
    "kung_2d": (3, 4, 5),
    "growth_2d": (3, 4, 5),
}
SPARSE_DEFAULTS = {"toy_1d": (13, 0.03), "kung": (6, 0.3), "kung_2d": (4, 0.1), "growth_2d": (4, 0.03)}
BINS = (3, 4, 6, 10, 20, 30)
INDUCING = (4, 6, 10, 20, 30, 50)
RIDGES = (0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5, 8, 12, 20, 30)
SIGMAS = (0.0005, 0.001, 0.002, 0.003, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5)
PATH_LENGTHS = (0.05, 0.08, 0.1, 0.15, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2)
ETAS = (0, 0.05, 0.1, 0.2, 0.5, 1)
DATA_NOISES = (0.1, 0.3, 0.5, 0.6)
LEVELS = (-0.4, -0.2, 0, 0.2, 0.4)
LN_PRICES = (12.6, 12.8, 13, 13.2, 13.4, 13.6)
SEARCH_BUDGETS = (1, 2, 3, 5, 10, 20)
PATHS = (1, 3, 10, 30, 100)
SHADOWS = (1000, 3000, 10000)
PATH_DELTAS = (0.001, 0.005, 0.01, 0.05, 0.1)
SELECTION_EPSILONS = (0.1, 0.2, 0.5, 1, 2, 5, 10)
DELTAS = (1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.05)
NOISES = (0.03, 0.1, 0.2, 0.3, 0.5, 1, 2)
LENGTHSCALES: dict[str, tuple[str, tuple[float, ...], float]] = {  # dataset -> (unit, grid, default)
    "kung": ("years", (1, 3, 5, 9, 15, 25, 40, 60, 81, 120), 25),
    "kung_2d": ("years", (1, 3, 5, 9, 15, 25, 40, 60, 81, 120), 25),
    "growth_2d": ("years", (1, 3, 5, 9, 15, 25), 5),
    "toy_1d": ("units", (0.25, 0.5, 1, 2, 4), 1),
    "london_hexes": ("km", (2, 3, 4, 6, 8, 10, 12, 15, 20, 30), 15),
    "london_sales": ("km", (6, 8, 10, 12, 15, 20, 30), 15),
}
SMOOTH_ONLY = ("london_sales",)  # rough kernels have no low rank: they would take minutes there, not seconds
_TITLES = {module.NAME: module.TITLE for module in DATASETS}
CHOICES: dict[str, dict[str, str]] = {  # drop-downs: key -> {value: title}
    "dataset": {name: _TITLES[name] for name in ("kung", "toy_1d")},
    "map_dataset": {name: _TITLES[name] for name in ("london_hexes", "london_sales")},
    "choice_dataset": {name: _TITLES[name] for name in ("kung", "toy_1d", "london_hexes")},
    "compare_dataset": {
        "kung": _TITLES["kung"],
        "kung_2d": "!Kung heights by age and weight",
        "london_hexes": _TITLES["london_hexes"],
        "toy_1d": _TITLES["toy_1d"],
    },
    "excursion": {"curve": "1-D", "plumes": "2-D plumes", "london": "London hexagons"},
    "excursion_layer": {kind: layer.title for kind, layer in EXCURSION_LAYERS.items()},
    "sparse_data": {
        "toy_1d": _TITLES["toy_1d"],
        "growth_2d": _TITLES["growth_2d"],
        "kung": _TITLES["kung"],
        "kung_2d": "!Kung heights by age and weight",
    },
    "sparse_view": {"fits": "Fits and calibration", "errors": "Errors against ε", "choice": "Choosing hyperparameters"},
    "family": {
        "gaussian": "Gaussian: cloaking, GP prior, sparse DP-GP",
        "laplace": "Laplace: binning (δ = 0)",
        "any": "Any: nothing known but (ε, δ)",
    },
    "attack_on": {
        "paths": "Posterior paths (LiRA)",
        "cloaking": "Cloaked !Kung curve",
        "gp_prior": "!Kung curve with GP-prior noise",
    },
    "inputs": {"halves": "Balanced around the target", "uniform": "Anywhere"},
    "choice_by": {"exponential": "Exponential mechanism", "permute_and_flip": "Permute-and-flip"},
    "kernel": {name: name for name in KERNELS},
    "mechanism": {name: entry.title for name, entry in CATALOGUE.items() if entry.drawn},
    "objective": {"trace": "Trace: least squared noise (ours)", "logdet": "Log-det (Smith et al. 2018)"},
    "calibration": {"analytic": "Analytic Gaussian (exact)", "hall": "Hall et al. 2013 (ε ≤ 1)"},
    "focus": {"records": "Where the records are", "everywhere": "Everywhere on the picture"},
    "map": {kind: layer.title for kind, layer in LAYERS.items()},
}
