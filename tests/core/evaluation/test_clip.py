from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import lognorm, norm

from dpgp_core.evaluation.by_hand import clip_error, mean_of_clipped
from dpgp_core.gp.clipping import clipped


@pytest.mark.parametrize(("low", "high"), [(-1.0, 1.0), (0.5, 4.0), (-30.0, 30.0)])
def test_the_mean_of_a_clipped_normal_is_the_closed_form(low, high):
    exact = clipped(np.array(0.7), np.array(2.0), np.array(low), np.array(high)).mean
    assert mean_of_clipped(norm(0.7, 2.0**0.5).sf, low, high) == pytest.approx(float(exact), abs=1e-6)


def test_a_yes_or_no_within_the_interval_keeps_its_mean_and_is_pressed_by_a_narrow_one():
    def above(x):
        return np.where(x < 0, 1.0, np.where(x < 1, 0.3, 0.0))

    assert mean_of_clipped(above, -1.0, 2.0) == pytest.approx(0.3, abs=1e-4)
    assert mean_of_clipped(above, 0.2, 0.8) == pytest.approx(0.3 * 0.8 + 0.7 * 0.2, abs=1e-4)


def test_skewed_outcomes_are_pulled_down_and_noise_is_as_wide_as_the_interval():
    wages = lognorm(0.6, scale=30.0)
    narrow, wide = (clip_error(wages.sf, wages.mean(), 0.0, top, n=100, noise_multiplier=4.0) for top in (40.0, 1e3))
    assert narrow.bias < -5 < -0.01 < wide.bias <= 1e-3
    assert (narrow.noise, wide.noise) == pytest.approx((1.6, 40.0))
    assert narrow.error == pytest.approx(np.hypot(narrow.bias, narrow.noise))


def test_bad_input_is_a_sentence():
    with pytest.raises(ValueError, match="low must be below high, got low = 2 and high = 1"):
        mean_of_clipped(norm.sf, 2.0, 1.0)
    with pytest.raises(ValueError, match="noise_multiplier must be"):
        clip_error(norm.sf, 0.0, 0.0, 1.0, n=10, noise_multiplier=0.0)
    with pytest.raises(ValueError, match="n must be"):
        clip_error(norm.sf, 0.0, 0.0, 1.0, n=0, noise_multiplier=1.0)
