"""What the tests of every mechanism run over: rows of the catalogue, and options that change what is released."""

from dataclasses import replace
from functools import cache

import numpy as np

from dpgp_core.kernels import EQ, Matern12, Matern52
from dpgp_core.mechanisms import CATALOGUE, PosteriorSampling
from dpgp_core.mechanisms.catalogue import Parameters

PARAMETERS = Parameters(
    kernel=EQ(lengthscale=2.0),
    noise_variance=0.3,
    epsilon=1.0,
    delta=0.01,
    x_box=((-2.0, 12.0),),
    n=12,
    cells=4,
    ridge=1.5,
)
PATHS = {"kernel": Matern12(lengthscale=2.0), "r": 2.0, "sigma": 0.8, "delta": 0.01, "n": 12, "x_box": ((-2.0, 12.0),)}
OTHERS = {  # no real release and no budget as a parameter: what can be asked of all is
    "paths": PosteriorSampling(**PATHS),
    "smooth paths with noise": PosteriorSampling(**{**PATHS, "kernel": EQ(lengthscale=2.0), "eta": 0.5}),
}
VARIANTS = {  # name: (row of the catalogue, further arguments), for options that change what is released
    "prior of variance 2.5": ("gp_prior", {"kernel": Matern52(variance=2.5)}),
    "logdet and hall": ("cloaking", {"objective": "logdet", "calibration": "hall"}),
    "low rank, loose gap": ("cloaking", {"rank_tolerance": 0.1, "gap": 1.0}),
    "weights": ("cloaking", {"weights": [1.0] * 5 + [0.01] * 4}),
    "shrinkage": ("cloaking", {"shrinkage": True, "rank_tolerance": 1e-3}),
    "rough kernel, little noise": ("cloaking", {"kernel": Matern52(variance=2.5), "noise_variance": 0.01}),
    "given inducing inputs": ("inducing", {"Z": [[0.0], [3.0], [9.0]]}),
    "placed inducing inputs": ("inducing", {"Z": None, "n_inducing": 4}),
    "clip wider than the bounds": ("refined", {"clip": 9.0, "weights": [1.0] * 5 + [0.01] * 4}),
    "low rank in both stages": ("refined", {"rank_tolerance": 0.1}),
    "low-rank inference": ("cloaking", {"inference": "lowrank"}),
    "coarse low-rank inference": ("cloaking", {"inference": "lowrank", "tolerance": 0.05, "objective": "logdet"}),
    "low-rank inference, shrinkage": ("cloaking", {"inference": "lowrank", "shrinkage": True, "rank_tolerance": 1e-3}),
    "low-rank inference, rough kernel": ("cloaking", {"inference": "lowrank", "kernel": Matern52(variance=2.5)}),
    "prior noise, low-rank inference": ("gp_prior", {"inference": "lowrank", "kernel": Matern52(variance=2.5)}),
    "prior noise, coarse low-rank inference": ("gp_prior", {"inference": "lowrank", "tolerance": 0.05}),
    "two stages, low-rank inference": ("refined", {"inference": "lowrank"}),
    "two stages, coarse low-rank inference": ("refined", {"inference": "lowrank", "tolerance": 0.05}),
    "declared kernel": ("bayes", {"kernels": [EQ(lengthscale=2.0)], "noise_variances": [0.3], "stages": 3}),
    "one bin": ("laplace_bins", {"bins": 1}),
    "paper's sparse GP": ("sparse", {"variant": "paper"}),
}
FEWER = {"bayes": {"stages": 3, "gap": 1e-2}, "bayes_cells": {"stages": 3}}  # a first, a middle and a last one
CASES = {name: (name, FEWER.get(name, {})) for name in CATALOGUE if name not in OTHERS} | VARIANTS
WHOLE = {f"{name}, all stages": (name, {}) for name in FEWER}
X_TEST = np.linspace(-2, 12, 9)[:, None]  # the data lie in 0 ... 10


@cache
def built(case, **changes):
    """Return the mechanism of a case, as its row of the catalogue builds it for these parameters; one for all tests."""
    if case in OTHERS:
        return OTHERS[case]
    name, options = (CASES | WHOLE)[case]
    return replace(CATALOGUE[name].build(replace(PARAMETERS, **changes)), **options)


def with_output(data, j, value):
    return replace(data, y=np.where(np.arange(data.n) == j, value, data.y))


def with_record(data, j, x, value):
    """The data with this input and output as record j, of one input."""
    return replace(with_output(data, j, value), X=np.where(np.arange(data.n)[:, None] == j, x, data.X))
