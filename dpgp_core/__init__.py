"""Differential privacy for Gaussian processes: kernels, exact and private regression, accounting.

Every public name can be imported from here, ``from dpgp_core import EQ, Cloaking``, wherever its module lives.
A name is loaded when it is first used (PEP 562), so that ``import dpgp_core`` itself costs nothing.
"""

from importlib import import_module

__version__ = "0.3.0"

_HOMES = {  # public name: the module that defines it; ``__init__.pyi`` says the same to type checkers
    # covariance functions and exact regression
    "EQ": "kernels",
    "RBF": "kernels",
    "Matern12": "kernels",
    "Matern32": "kernels",
    "Matern52": "kernels",
    "RationalQuadratic": "kernels",
    "cloaking_matrix": "gp.regression",
    "posterior": "gp.regression",
    # data
    "Column": "table",
    "Outcome": "table",
    "Dataset": "table",
    "read_csv": "reading.csv_file",
    # bounds that nobody knows
    "buy_bounds": "bounds.buying",
    "BoughtBounds": "bounds.buying",
    # accounting
    "Budget": "accounting.guarantee",
    "Guarantee": "accounting.guarantee",
    "Ledger": "accounting.ledger",
    "noise_multiplier": "accounting.gaussian",
    "epsilon_of": "accounting.gaussian",
    "posterior_sampling_epsilon": "accounting.posterior_paths",
    # noise
    "NoiseDesign": "strategies.noise_design",
    "design_noise": "strategies.noise_design",
    # mechanisms
    "MECHANISMS": "mechanisms",
    "BayesCloaking": "mechanisms.bayes_cloaking",
    "GPPrior": "mechanisms",
    "Cloaking": "mechanisms",
    "CloakingInducing": "mechanisms",
    "RefinedCloaking": "mechanisms",
    "LaplaceBinning": "mechanisms",
    "IntegralBinning": "mechanisms",
    "PosteriorSampling": "mechanisms",
    "HallPosterior": "mechanisms",
    "SparseVariational": "mechanisms",
    "Release": "mechanisms",
    # released numbers, read again
    "refit": "bayes.refit",
    "difference": "bayes.refit",
    "load": "release.check",
    # with the methods of scikit-learn
    "DPGaussianProcessRegressor": "estimator",
    # choices and excursion sets
    "selection_probabilities": "selection.exponential",
    "excursion_probability": "excursion.sets",
    "iou": "excursion.sets",
}

__all__ = ["__version__", *_HOMES]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(f".{_HOMES[name]}", __name__), name)
    globals()[name] = value  # looked up directly from now on
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
