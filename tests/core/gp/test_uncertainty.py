import numpy as np
import pytest
from scipy.special import ndtr

from dpgp_core.gp.uncertainty import NoInterval, mixture_half_width


def test_no_interval_says_why():
    with pytest.raises(ValueError, match="there is no interval: no model was declared"):
        NoInterval(reason="no model was declared").interval(0.95, "outputs")


def test_the_half_width_of_a_mixture_holds_its_level():
    rng = np.random.default_rng(3)
    shifts, variances = rng.normal(size=(40, 6)), rng.uniform(0.01, 2, size=(40, 6))
    half, sd = mixture_half_width(shifts, variances, 0.95), np.sqrt(variances)
    held = (ndtr((half - shifts) / sd) - ndtr((-half - shifts) / sd)).mean(axis=0)
    np.testing.assert_allclose(held, 0.95, atol=1e-3)
