"""What outside code may rely on: names importable from ``dpgp_core`` itself, their signatures, what importing loads."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import dpgp_core
from dpgp_core.gp.regression import InferenceChoice
from dpgp_core.gp.regression import cloaking_matrix as exact_cloaking_matrix

ROOT = Path(__file__).parents[1]
NAMES = dict(vars(dpgp_core)["_HOMES"])
KERNELS = ["EQ", "RBF", "Matern12", "Matern32", "Matern52", "RationalQuadratic"]
RELIED_ON = [*KERNELS, "cloaking_matrix", "posterior", "noise_multiplier", "epsilon_of", "design_noise", "NoiseDesign"]
RELIED_ON += ["MECHANISMS", "BayesCloaking", "GPPrior", "Cloaking", "CloakingInducing", "RefinedCloaking"]
RELIED_ON += ["LaplaceBinning", "IntegralBinning", "PosteriorSampling", "SparseVariational", "refit"]
RELIED_ON += ["DPGaussianProcessRegressor", "posterior_sampling_epsilon", "selection_probabilities"]
RELIED_ON += ["excursion_probability", "iou", "Budget", "Guarantee", "Ledger", "Dataset", "read_csv"]
NEEDED = inspect.Parameter.empty


def stub() -> set[str]:
    """The lines of ``dpgp_core/__init__.pyi`` that the table of names asks for."""
    return {f"from .{home} import {name} as {name}" for name, home in NAMES.items()} | {"", "__version__: str"}


def signature(name):
    return {key: p.default for key, p in inspect.signature(getattr(dpgp_core, name)).parameters.items()}


def python(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    return done.stdout.strip()


def test_what_others_rely_on_is_public():
    assert [name for name in RELIED_ON if name not in dpgp_core.__all__] == []


@pytest.mark.parametrize("name", NAMES)
def test_name_is_what_its_module_defines(name):
    scope = {}
    exec(f"from dpgp_core import {name}\nfrom dpgp_core.{NAMES[name]} import {name} as defined", scope)
    assert scope[name] is scope["defined"] is not None
    assert name in dir(dpgp_core)


def test_all_is_complete_and_without_repetition():
    assert sorted(dpgp_core.__all__) == sorted({"__version__", *NAMES})


def test_type_checkers_see_the_same_names():
    # a new name is one row of the table and one line here
    assert set((ROOT / "dpgp_core/__init__.pyi").read_text().splitlines()) == stub()


def test_every_mechanism_is_public():
    assert [m.__name__ for m in dpgp_core.MECHANISMS if m.__name__ not in dpgp_core.__all__] == []


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'cloak'"):
        _ = dpgp_core.cloak
    with pytest.raises(ImportError, match="cannot import name 'cloak'"):
        exec("from dpgp_core import cloak")


@pytest.mark.full
def test_importing_the_package_loads_nothing_else():
    loaded = "[name for name in sys.modules if name.startswith(('numpy', 'scipy', 'dpgp_core.'))]"
    assert python(f"import dpgp_core, sys; print({loaded})") == "[]"
    found = python(f"import sys; from dpgp_core import EQ; print({loaded})")
    assert "'dpgp_core.kernels'" in found
    assert "'dpgp_core.mechanisms'" not in found


@pytest.mark.parametrize("name", KERNELS)
def test_signature_of_kernels(name):
    found = signature(name)
    assert found.pop("alpha", 1.0) == 1.0
    assert found == {"variance": 1.0, "lengthscale": 1.0}
    kernel = getattr(dpgp_core, name)(variance=2.0, lengthscale=[1.0, 3.0])
    assert kernel(np.zeros((1, 2)), np.zeros((1, 2))) == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("cloaking_matrix", "kernel, X, X_test, noise_variance, method='exact'"),
        ("posterior", "kernel, X, y, X_test, noise_variance"),
        ("noise_multiplier", "epsilon, delta, method='analytic'"),
        ("epsilon_of", "noise_multiplier, delta"),
        ("design_noise", "C, objective='trace', weights=None, gap=0.001, rank_tolerance=1e-07"),
        (
            "posterior_sampling_epsilon",
            "n, r, sigma, kappa, delta, M=1.0, L=1, eta=0.0, sensitivity='generic', bound='proven'",
        ),
        ("selection_probabilities", "scores, sensitivity, epsilon"),
        ("excursion_probability", "mean, variance, threshold"),
        ("refit", "statistics, kernels, noise_variances, X_test"),
        ("iou", "a, b"),
        ("read_csv", "path, x, y, y_bounds, x_box"),
    ],
)
def test_signatures_begin_as_documented(name, expected):
    told = [key if default is NEEDED else f"{key}={default!r}" for key, default in signature(name).items()]
    promised = expected.split(", ")
    assert told[: len(promised)] == promised
    assert all("=" in each for each in told[len(promised) :])


@pytest.mark.parametrize("mechanism", dpgp_core.MECHANISMS, ids=lambda m: m.__name__)
def test_signature_of_release(mechanism):
    parameters = inspect.signature(mechanism.release).parameters
    assert list(parameters) == ["self", "dataset", "X_test", "rng", "draws"]
    assert (parameters["rng"].default, parameters["draws"].default) == (None, 1)


def test_cloaking_matrix_by_each_method():
    X, X_test, kernel = np.linspace(0, 9, 60)[:, None], np.array([[2.5], [7.0]]), dpgp_core.EQ(lengthscale=2.0)
    exact = exact_cloaking_matrix(kernel, X, X_test, 0.3)
    np.testing.assert_array_equal(dpgp_core.cloaking_matrix(kernel, X, X_test, 0.3), exact)
    for method in InferenceChoice.methods:
        found = dpgp_core.cloaking_matrix(kernel, X, X_test, 0.3, method=method, tolerance=1e-12)
        np.testing.assert_allclose(found, exact, atol=1e-6)
    with pytest.raises(ValueError, match="method must be one of 'auto', 'exact', 'lowrank', got 'fast'"):
        dpgp_core.cloaking_matrix(kernel, X, X_test, 0.3, method="fast")
    with pytest.raises(ValueError, match="tolerance"):
        dpgp_core.cloaking_matrix(kernel, X, X_test, 0.3, method="lowrank", tolerance=2.0)
