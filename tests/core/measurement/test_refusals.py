"""What measurements refuse, and in which words."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from dpgp_core.measurement.discrete import (
    bernoulli_exp,
    discrete_gaussian,
    discrete_laplace,
    exponential_mechanism,
    permute_and_flip,
    uniform_below,
)
from dpgp_core.measurement.integers import GRID, check_intervals, output_integers, strategy_integers
from dpgp_core.measurement.measurement import CellCounts, KnownCounts, LaplaceMeasurement
from dpgp_core.measurement.noise import GaussianNoise, LaplaceNoise
from dpgp_core.measurement.statistics import Above, Stage
from dpgp_core.release.specification import EXAMPLE
from tests.core.measurement.sealing import (
    BOUNDS,
    N,
    cell_stage,
    clustered,
    known_cells,
    of_cells,
    of_records,
    records_of_groups,
    strategy,
)
from tests.core.measurement.test_cells import M, residuals
from tests.core.measurement.test_discrete import source
from tests.core.measurement.test_measurement import gaussian, outputs
from tests.core.measurement.test_noise import STEPS
from tests.core.measurement.test_people import counts
from tests.core.measurement.test_statistics import distances, made
from tests.refusals import each, told

ENDS, NUMBERS = clustered().clusters, clustered().counts.numbers
CHOICES = [exponential_mechanism, permute_and_flip]
REFUSALS = [
    # cells
    (lambda: residuals().measure(np.array([0.1, np.nan]), cells=np.array([0, 1])), "must not hold NaN"),
    (lambda: CellCounts(B=2 * strategy(3, M, 0), noise_multiplier=1.0), "norm"),
    (lambda: residuals(noise_multiplier=0.0), "noise_multiplier"),
    (lambda: residuals(high=np.full(M, -2.0)), "width above zero"),
    (lambda: residuals(bounds=(-1.0, 3.0)), "inside the declared bounds"),
    # discrete
    *each(lambda sampler: sampler(0, 1), "above 0", [discrete_gaussian, discrete_laplace]),
    *each(lambda sampler: sampler(1, -1), "size at least 0", [discrete_gaussian, discrete_laplace]),
    (lambda: bernoulli_exp(Fraction(-1, 2), source()), "gamma must be at least 0"),
    (lambda: uniform_below(0, source()), "bound must be at least 1"),
    *each(lambda choose: choose([], Fraction(1)), "at least one candidate", CHOICES),
    *each(lambda choose: choose([1], Fraction(-1)), "rate must be at least 0", CHOICES),
    # integers
    *each(
        strategy_integers,
        "finite matrix",
        [np.ones(3), np.ones((0, 3)), np.array([[np.nan]]), np.array([[np.inf]])],
    ),
    (lambda: output_integers(np.array([np.nan]), np.zeros(1), np.ones(1)), "NaN"),
    (lambda: output_integers(np.zeros(2), np.zeros(1), np.ones(1)), "shape"),
    *told(
        lambda low, high, bounds: check_intervals(np.array(low), np.array(high), bounds, 2),
        [
            ([0.0, 1.0], [1.0, 1.0], (0.0, 2.0), r"interval 1 \[1.0, 1.0\] must have a width above zero"),
            ([0.0, 1.5], [1.0, 1.0], (0.0, 2.0), "width above zero"),
            ([0.0, -0.1], [1.0, 1.0], (0.0, 2.0), r"interval 1 \[-0.1, 1.0\] must lie inside the declared bounds"),
            ([0.0, 0.5], [1.0, 2.1], (0.0, 2.0), "must lie inside"),
            ([0.0, np.nan], [1.0, 1.0], (0.0, 2.0), "must lie inside"),
            ([0.0], [1.0], (0.0, 2.0), r"shape \(2,\)"),
            ([0.0, 0.0], [1.0, 1.0], (1.0, 1.0), "low < high"),
            ([0.0, 0.0], [1.0, 1.0], (-np.inf, np.inf), "finite"),
            ([0.0, 0.0], [1.0, 1.0], (-1.7e308, 1.7e308), "a finite number apart"),
        ],
    ),
    # measurement
    (lambda: gaussian().teaching(outputs(), np.random.default_rng(0), 0), "draws must be at least 1"),
    (lambda: gaussian(B=2 * strategy(3, 12, 0)), "norm"),
    (
        lambda: LaplaceMeasurement(
            B=np.array([[0.8], [0.6]]), low=np.full(1, -1.0), high=np.full(1, 3.0), bounds=(-1.0, 3.0), epsilon=1.0
        ),
        r"column 0 of the strategy has L1 norm 1\.4",
    ),
    # noise
    *each(
        lambda value: GaussianNoise(sensitivity=STEPS, noise_multiplier=value),
        "noise_multiplier must be a number from",
        [0.0, -1.0, math.nan, math.inf],
    ),
    *each(
        lambda value: LaplaceNoise(sensitivity=STEPS, epsilon=value),
        "epsilon must be a number from",
        [0.0, -1.0, math.nan, math.inf],
    ),
    (lambda: GaussianNoise(sensitivity=0, noise_multiplier=1.0), "sensitivity must be a whole number"),
    (lambda: LaplaceNoise(sensitivity=0, epsilon=1.0), "sensitivity must be a whole number"),
    # people
    (lambda: counts(0).measure(np.array([0])), "weights"),
    (
        lambda: CellCounts(B=strategy(3, M, 0), noise_multiplier=1.0).measure(np.array([0]), weights=np.array([GRID])),
        "weights",
    ),
    # statistics
    *told(
        lambda changes: replace(of_records(), **changes),
        [
            ({"stages": ()}, "at least one stage"),
            ({"X": np.zeros((5, 2))}, r"X must be a finite matrix \(30, 2\)"),
            ({"X": np.zeros((N, 1))}, r"X must be a finite matrix \(30, 2\)"),
            ({"X": np.full((N, 2), np.inf)}, "X must be a finite matrix"),
            ({"y_scale": 0.0}, "y_scale must be a positive number"),
            ({"guarantee": {"epsilon": np.nan}}, "of texts, finite numbers"),
            ({"guarantee": {"loss": object()}}, "of texts, finite numbers"),
        ],
    ),
    *each(
        lambda other: replace(of_records(), stages=(*of_records().stages, Stage(measurement=other, z=np.zeros(2)))),
        "same number of columns and the same bounds",
        [gaussian(strategy(2, N, 0), 0.0, 3.0), gaussian(strategy(2, 5, 0), *BOUNDS)],
    ),
    (lambda: replace(records_of_groups(), X=records_of_groups().X + 0.5), "'weight' has 2 levels"),
    *told(
        lambda changes: of_cells(**changes),
        [
            ({"n": 0}, "n must be at least 1, got 0"),
            ({"z": np.zeros(2)}, r"z must be 3 finite numbers, got shape \(2,\)"),
            ({"per_side": 5}, "every strategy must have 25 columns, one per cell of the box"),
            ({"periods": (None, 7.0)}, "every strategy must have 63 columns"),
            ({"stages": (cell_stage(4, 9, 36),)}, "every g must have 81 values, one per node of the box"),
        ],
    ),
    (lambda: replace(known_cells(), z=np.ones(2)), "z must be 0 finite numbers"),
    *told(
        lambda changes: clustered(**changes),
        [
            ({"per_side": 2}, "give per_side or clusters, and not both"),
            ({"clusters": ENDS[0]}, r"clusters must have the shape \(2, M, 2\), got \(4, 2\)"),
            ({"clusters": ENDS[:1]}, r"clusters must have the shape \(2, M, 2\), got \(1, 4, 2\)"),
            ({"clusters": ENDS[:, :0]}, r"clusters must have the shape \(2, M, 2\), got \(2, 0, 2\)"),
            ({"clusters": ENDS[:, :, :1]}, r"clusters must have the shape \(2, M, 2\), got \(2, 4, 1\)"),
            ({"clusters": ENDS[:, :3]}, "every strategy must have 3 columns"),
            ({"stages": (cell_stage(3, 4, 20),)}, "every g must have 36 values, one per node"),
            ({"counts": KnownCounts(numbers=NUMBERS, node_sums=np.zeros(35))}, "places must be 36 finite numbers"),
        ],
    ),
    (
        lambda: replace(known_cells(), counts=KnownCounts(numbers=np.array([50.0]), node_sums=np.zeros(9))),
        "strategy must have 9 columns",
    ),
    *each(
        lambda numbers: KnownCounts(numbers=np.array(numbers), node_sums=np.zeros(6)),
        "numbers",
        [[1.5, 2.5], [-1.0, 3.0], [np.inf, 1.0]],
    ),
    (lambda: replace(cell_stage(4, 9, 12), z=np.zeros(3)), r"z must be 4 finite numbers, got shape \(3,\)"),
    (lambda: replace(cell_stage(4, 9, 12), g=np.full(12, np.inf)), "g must be 12 finite numbers"),
    *told(
        lambda changed: made(**changed),
        [
            ({"z": np.zeros(2)}, "1 finite numbers"),
            ({"g": np.array([0.0, np.nan, 0.0])}, "3 finite numbers"),
            ({"sd": 0.0}, "positive"),
            ({"sd": np.inf}, "positive"),
            ({"measurement": distances([0.5, 0.7, 0.7])}, "same threshold"),
            ({"measurement": distances(0.7, low=-0.1)}, "begin at 0"),
        ],
    ),
    (lambda: Above(measurement=distances(1.0, rows=2), z=np.zeros(1)), "must be one, got 2"),
    (lambda: replace(EXAMPLE, y_bounds=(0.0, 1e-31)), "y_bounds is too narrow"),
]


@pytest.mark.parametrize(("call", "words"), REFUSALS)
def test_bad_input_is_refused_with_these_words(call, words):
    with pytest.raises(ValueError, match=words):
        call()
