"""The released statistic: what it holds, whether it is plausible, and whether it fits the models."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import chi2

from dpgp_core.measurement.fit import OF_SQUARES, fits_of
from dpgp_core.measurement.measurement import Measurement
from dpgp_core.measurement.statistics import Above, MeasuredDistances, Stage, Statistics
from dpgp_core.measurement.statistics_file import check_read, statistics_from_files, statistics_to_files
from dpgp_core.table import Column
from tests.core.measurement.sealing import of_cells


def distances(high, n=3, rows=1, low=0.0):
    high = np.broadcast_to(np.asarray(high, dtype=float), (n,)).copy()
    return Measurement(
        B=np.full((rows, n), 0.5), low=np.full(n, low), high=high, bounds=(low, float(high.max())), noise_multiplier=2.0
    )


def made(**changed):
    given = {"measurement": distances(0.7), "g": np.zeros(3), "sd": 0.3, "z": np.zeros(1)} | changed
    return MeasuredDistances(**given)


def test_units_follow_from_the_declared_bounds():
    statistics = of_cells()
    assert (statistics.midpoint, statistics.half_range) == (110.0, 70.0 / 25.742)


def test_the_threshold_is_common_and_spending_listed():
    assert made().threshold == 0.7
    cells = {"measurement": distances(0.7, n=9), "g": np.zeros(81)}
    assert len(of_cells(distances=made(**cells)).measured) == 3
    count = Above(measurement=distances(1.0, n=9), z=np.zeros(1))
    assert len(of_cells(distances=made(above=count, **cells)).measured) == 4


def test_the_ratio_averages_squares_over_models():
    [fit] = fits_of(np.array([[0.25, 0.75]]), np.array([[[4.0, 8.0], [2.0, 4.0]]]), [4, 8])
    assert fit.ratio == pytest.approx((0.25 * 12 + 0.75 * 6) / 12)
    assert fit.likeliest == pytest.approx(6 / 12)
    assert fit.threshold == pytest.approx(chi2.isf(OF_SQUARES / 3, 12) / 12)
    assert fit.fits
    assert fit.widened == 1.0
    assert str(fit).startswith("The released numbers fit the models (misfit 0.62, at most")


def test_one_misfitting_stage_widens_intervals():
    [fit] = fits_of(np.ones((1, 1)), np.array([[[5.0, 180.0, 8.0]]]), [5, 20, 8])
    assert fit.widened == pytest.approx(3.0)
    assert not fit.fits
    assert "3 times as wide. Another release may do better" in str(fit)


def test_false_alarms_are_as_rare_as_is_said():
    """4,000 releases of six stages that fit: at 2e-4 each, more than 8 alarms come once in 10^6 times."""
    rng, numbers = np.random.default_rng(0), [1, 3, 5, 9, 20, 40]
    squares = np.stack([rng.chisquare(r, 4000) for r in numbers], axis=1)
    fits = fits_of(np.ones((4000, 1)), squares[:, None], numbers)
    assert sum(not fit.fits for fit in fits) <= 8
    assert np.mean([fit.ratio for fit in fits]) == pytest.approx(1.0, abs=0.02)


INPUT = (Column(name="age", unit="years", box=(0.0, 1.0)),)


def of(bounds=(50.0, 200.0), columns=INPUT, scale=20.0, z=0.5, width=1.0, place=0.5, **names) -> Statistics:
    """One number measured of three records."""
    low = np.full(3, bounds[0])
    measurement = Measurement(
        B=np.full((1, 3), 0.5), low=low, high=low + width * (bounds[1] - bounds[0]), bounds=bounds, noise_multiplier=2.0
    )
    plain = {"y_name": "height", "y_unit": "cm"} | names
    return Statistics(
        stages=(Stage(measurement=measurement, z=np.array([z])),),
        X=np.full((3, 1), place),
        columns=columns,
        y_scale=scale,
        guarantee={},
        **plain,
    )


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"bounds": (0.0, 1e15), "scale": 1.0},
        {"bounds": (0.0, 1e-29), "scale": 1e-29},
        {"columns": (replace(INPUT[0], box=(-1e15, 1e15)),), "place": 1e15},
        {"z": 2000.0},
        {"width": 1e-9},
        {"columns": (replace(INPUT[0], unit=""),), "y_unit": "", "y_name": " height "},
    ],
)
def test_possible_statistics_are_read(changes):
    check_read(of(**changes))
    statistics_from_files(*statistics_to_files(of(**changes)))


REFUSED = {
    "wide bounds": ({"bounds": (-1e16, 1e16), "scale": 1e16}, "the bounds of the output must lie in"),
    "narrow bounds": ({"bounds": (1e6, 1e6 + 1e-6)}, "the bounds of the output is too narrow"),
    "tiny bounds": ({"bounds": (0.0, 1e-31), "scale": 1e-31}, "the bounds of the output is too narrow"),
    "a vanishing scale": ({"scale": 1e-320}, "the scale of the output must lie in"),
    "a vast scale": ({"scale": 1e18}, "the scale of the output must lie in"),
    "a far place": ({"place": 1e16}, "a place must lie within"),
    "a far number": ({"z": 2010.0}, r"a noisy number must lie within \+- 2003, and one has the size 2010"),
    "a thin interval": ({"width": 1e-13}, "an interval is too narrow"),
    "a long name": ({"y_name": "y" * 201}, "the name of the output has 201 letters"),
    "two lines": ({"y_unit": "a\nb"}, "the unit of the output must be one line"),
}


@pytest.mark.parametrize(("changes", "problem"), REFUSED.values(), ids=REFUSED)
def test_impossible_statistics_are_refused_with_remedy(changes, problem):
    with pytest.raises(ValueError, match=f"^no release can hold what the statistics say: {problem}") as refusal:
        statistics_from_files(*statistics_to_files(of(**changes)))
    assert str(refusal.value).endswith("; fetch both files again from whoever released them")
    assert str(refusal.value).count(";") == 1  # whoever reads it cannot widen anything
