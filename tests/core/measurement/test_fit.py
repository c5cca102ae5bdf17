import numpy as np
import pytest
from scipy.stats import chi2

from dpgp_core.measurement.fit import FALSE_ALARMS, fits_of


def test_the_ratio_is_the_square_over_the_numbers_averaged_over_the_models():
    [fit] = fits_of(np.array([[0.25, 0.75]]), np.array([[[4.0, 8.0], [2.0, 4.0]]]), [4, 8])
    assert fit.ratio == pytest.approx((0.25 * 12 + 0.75 * 6) / 12)
    assert fit.likeliest == pytest.approx(6 / 12)
    assert fit.threshold == pytest.approx(chi2.isf(FALSE_ALARMS / 3, 12) / 12)
    assert fit.fits
    assert fit.widened == 1.0
    assert str(fit).startswith("The released numbers fit the models (misfit 0.62, at most")


def test_one_stage_that_does_not_fit_widens_by_its_root_and_says_what_helps():
    [fit] = fits_of(np.ones((1, 1)), np.array([[[5.0, 180.0, 8.0]]]), [5, 20, 8])
    assert fit.widened == pytest.approx(3.0)
    assert not fit.fits
    assert "3 times as wide. Another release may do better" in str(fit)


def test_false_alarms_are_as_rare_as_is_said():
    """4,000 releases of six stages that fit: at 1e-3 each, more than 16 alarms come once in 10^6 times."""
    rng, numbers = np.random.default_rng(0), [1, 3, 5, 9, 20, 40]
    squares = np.stack([rng.chisquare(r, 4000) for r in numbers], axis=1)
    fits = fits_of(np.ones((4000, 1)), squares[:, None], numbers)
    assert sum(not fit.fits for fit in fits) <= 16
    assert np.mean([fit.ratio for fit in fits]) == pytest.approx(1.0, abs=0.02)
