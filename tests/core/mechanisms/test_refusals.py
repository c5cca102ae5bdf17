"""What mechanisms refuse at construction and of data sets, and in which words; the contract has what all refuse."""

import math
from dataclasses import replace

import numpy as np
import pytest

from dpgp_core.kernels import EQ
from dpgp_core.mechanisms import (
    BayesCloaking,
    Cloaking,
    CloakingInducing,
    HallPosterior,
    IntegralBinning,
    LaplaceBinning,
    PosteriorSampling,
    RefinedCloaking,
    SparseVariational,
)
from tests.core.mechanisms.cases import PATHS, X_TEST, built
from tests.core.tables import changed, table
from tests.refusals import each, told

BUDGET = {"epsilon": 1.0, "delta": 0.01}
MODEL = BUDGET | {"kernel": EQ(lengthscale=2.0), "noise_variance": 0.3}
SETTINGS = {
    CloakingInducing: MODEL,
    RefinedCloaking: MODEL,
    SparseVariational: MODEL | {"n_inducing": 6},
    IntegralBinning: {"epsilon": 1.0, "bins": 5, "kernel_variance": 1.3, "lengthscale": 2.0},
    LaplaceBinning: {"epsilon": 1.0, "bins": 5},
    PosteriorSampling: PATHS,
    HallPosterior: BUDGET | {"kernel": EQ(lengthscale=2.0), "r": 1.5},
}
INDUCING = "give either Z, the inducing inputs, or n_inducing"
ROWS_OF_Z = "Z must be one or more rows of equally many finite numbers"
AT_CONSTRUCTION = [
    (CloakingInducing, {}, f"{INDUCING}, their number"),
    (CloakingInducing, {"Z": [[1.0]], "n_inducing": 1}, f"{INDUCING}, their number"),
    (CloakingInducing, {"n_inducing": 0}, "n_inducing must be at least 1, got 0"),
    (CloakingInducing, {"Z": []}, rf"{ROWS_OF_Z}, got \[\]"),
    (CloakingInducing, {"Z": [[1.0], [2.0, 3.0]]}, ROWS_OF_Z),
    (CloakingInducing, {"Z": [[np.inf]]}, ROWS_OF_Z),
    (RefinedCloaking, {"calibration": "hall"}, "refined cloaking needs calibration='analytic', got 'hall'"),
    (RefinedCloaking, {"clip": 0.0}, r"clip must be a finite number above 0, got 0\.0"),
    (RefinedCloaking, {"clip": math.inf}, "clip must be a finite number above 0, got inf"),
    (SparseVariational, {"variant": "other"}, "variant must be 'whitened' or 'paper' for variant='other', got 'other'"),
    (SparseVariational, {"covariance": "naive"}, "covariance must be 'full' for variant='whitened', got 'naive'"),
    (
        SparseVariational,
        {"variant": "paper", "covariance": "none"},
        "covariance must be 'full' or 'paper' or 'naive'",
    ),
    (SparseVariational, {"Z": [[1.0]]}, INDUCING),
    (SparseVariational, {"n_inducing": None}, INDUCING),
    (SparseVariational, {"n_inducing": 0}, "bins must be a whole number of at least 1"),
    (SparseVariational, {"n_inducing": None, "Z": [[1.0], [1.0]]}, "Z must be one or more different rows"),
    (SparseVariational, {"n_inducing": None, "Z": [[1.0], [math.nan]]}, "equally many finite numbers"),
    (IntegralBinning, {"bins": 0}, "bins must be a whole number of at least 1"),
    (IntegralBinning, {"kernel_variance": 0.0}, "variance must be a finite number above 0, got 0.0"),
    (IntegralBinning, {"lengthscale": -1.0}, "lengthscale must be a finite number above 0, got -1.0"),
    (IntegralBinning, {"white_noise": -0.1}, "white_noise must be a finite number of at least 0, got -0.1"),
    (IntegralBinning, {"white_noise": math.nan}, "white_noise must be a finite number of at least 0, got nan"),
    (
        IntegralBinning,
        {"white_noise": 0.1, "fit_noise": True},
        "white_noise is fitted, but 0.1 is given too; leave one",
    ),
    (LaplaceBinning, {"epsilon": math.inf}, "epsilon must be a finite number above 0, got inf"),
    (LaplaceBinning, {"bins": 0}, "bins must be a whole number of at least 1"),
    (LaplaceBinning, {"bins": 2.5}, "bins must be a whole number of at least 1"),
    (
        PosteriorSampling,
        {"kernel": EQ(variance=2.0)},
        r"needs k\(x, x\) <= 1, got kernel variance 2. Use variance=1 and multiply sigma",
    ),
    (PosteriorSampling, {"r": 0.0}, "r must be a finite number above 0; larger is more private; got 0"),
    (PosteriorSampling, {"sigma": 0.0}, "sigma must be a finite number above 0, got 0.0"),
    (PosteriorSampling, {"sigma": math.inf}, "sigma must be a finite number above 0, got inf"),
    (PosteriorSampling, {"delta": 0.0}, "delta must be in"),
    (PosteriorSampling, {"n": 0}, "n must be a number of records, at least 1; got 0"),
    (PosteriorSampling, {"eta": -1.0}, "eta must be a finite number, at least 0; got -1"),
    (PosteriorSampling, {"x_box": ((3.0, 1.0),)}, r"x_box of column 0 must be \(low, high\) with low < high"),
    (PosteriorSampling, {"x_box": ()}, "x_box must have one"),
    (HallPosterior, {"r": 0.0}, "r must be a finite number above 0, got 0.0"),
    (
        HallPosterior,
        {"kernel": EQ(variance=2.0)},
        r"the kernel sum needs k\(x, x\) <= 1, got kernel variance 2; use variance=1",
    ),
]

DATA = table(np.linspace(0, 10, 12)[:, None], np.linspace(-1, 3, 12), x_box=((-2.0, 12.0),), y_bounds=(-1.0, 3.0))
NARROW = changed(DATA, x_box=((0.0, 5.0),))
OTHER_NUMBERS = r"the guarantee was computed for n = .* Use PosteriorSampling.for_dataset"
RELEASES = [
    (Cloaking(**MODEL, weights=[1.0, 2.0]), DATA, X_TEST, "weights must be 9 non-negative numbers"),
    (
        CloakingInducing(**MODEL, Z=[[1.0, 2.0]]),
        DATA,
        X_TEST,
        r"Z must be one or more rows of 1 columns, like X, got shape \(1, 2\)",
    ),
    *(
        (built("laplace_bins"), DATA, np.array(at), r"1 of 2 points lie outside the box \(\(-2.0, 12.0\),\), where")
        for at in ([[5.0], [12.5]], [[-2.1], [3.0]])
    ),
    (built("laplace_bins"), NARROW, X_TEST[2:4], "of 12 points lie outside the box"),
    (built("integral_bins"), NARROW, X_TEST, "of 12 points lie outside the box"),
    (LaplaceBinning(epsilon=1.0, bins=(5, 5)), DATA, X_TEST, "2 numbers of bins for 1 input columns"),
    (PosteriorSampling(**PATHS | {"n": 11}), DATA, X_TEST, OTHER_NUMBERS),
    (PosteriorSampling(**PATHS | {"x_box": ((-2.0, 11.0),)}), DATA, X_TEST, OTHER_NUMBERS),
]


def interval(level, of="outputs"):
    return built("cloaking").release(DATA, X_TEST).interval(level, of)


def measured(planned, data=DATA, by=None, of=DATA):
    """Measure the data by a plan for others."""
    return (by or planned).measure(planned.plan_for(of, X_TEST), data, X_TEST)


SINGLE = BayesCloaking(**BUDGET, stages=1, gap=0.1)
HIDDEN = replace(SINGLE, protects="inputs and outputs")
UPWARDS = changed(DATA, y_bounds=(0.0, 3.0))
PEOPLE = replace(DATA, person=np.arange(12))
MANY = table(np.linspace(-1, 11, 200)[:, None], np.zeros(200), x_box=((-2.0, 12.0),), y_bounds=(-1.0, 3.0))
MOVED = replace(MANY, X=MANY.X + 1e-6 * (np.arange(200) == 50)[:, None])  # within its cluster
REFUSALS = [
    *told(lambda kind, changes: kind(**SETTINGS[kind] | changes), AT_CONSTRUCTION),
    *told(lambda of, data, X_test: of.release(data, X_test, np.random.default_rng(1)), RELEASES),
    # intervals
    *each(interval, "level must lie strictly between 0 and 1, got {}", [0.0, 1.0, math.nan]),
    (lambda: interval(0.5, "noise"), "of must be 'outputs' or 'function', got 'noise'"),
    # plans of others
    (
        lambda: measured(Cloaking(**MODEL), by=RefinedCloaking(**MODEL)),
        "the plan must have 2 stages; make it with this mechanism",
    ),
    (lambda: measured(SINGLE, by=HIDDEN), r"protects='inputs and outputs'; make it by plan_for\(\)"),
    (lambda: measured(HIDDEN, by=SINGLE), r"protects='outputs'; make it by plan_for\(\)"),
    (lambda: measured(SINGLE, replace(DATA, X=DATA.X[::-1] * 0.5)), "the plan is for other records"),
    (lambda: measured(SINGLE, MOVED, of=MANY), "the plan is for other records"),
    (lambda: measured(SINGLE, changed(UPWARDS, y_kind="count"), of=UPWARDS), "outcomes declared number, not count"),
    (lambda: measured(HIDDEN, DATA.subset(np.arange(5))), "another number of records"),
    (lambda: measured(HIDDEN, changed(DATA, y_scale=3.0)), "other bounds, or another scale"),
    (lambda: measured(HIDDEN, PEOPLE), "several rows"),
    (lambda: measured(SINGLE, PEOPLE), "several rows"),
]


@pytest.mark.parametrize(("call", "words"), REFUSALS)
def test_bad_input_is_refused_with_these_words(call, words):
    with pytest.raises(ValueError, match=words):
        call()
