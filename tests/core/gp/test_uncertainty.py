import numpy as np
import pytest
from scipy.special import ndtr

from dpgp_core.gp.uncertainty import NoInterval, NormalInterval, mixture_half_width


def test_no_interval_says_why():
    with pytest.raises(ValueError, match="there is no interval: no model was declared"):
        NoInterval(reason="no model was declared").interval(0.95, "outputs")


def test_a_normal_interval_holds_its_level_of_f_and_of_an_output():
    centre, sd, output = np.array([[1.0, -2.0]]), np.array([[0.5, 2.0]]), np.array([[1.5]])
    about = NormalInterval(centre=centre, sd=sd, output_sd=output)
    for of, spread in (("function", sd), ("outputs", np.hypot(sd, output))):
        low, high = about.interval(0.9, of)
        np.testing.assert_allclose(ndtr((high - centre) / spread) - ndtr((low - centre) / spread), 0.9, rtol=1e-12)
        np.testing.assert_allclose((low + high) / 2, centre)


def test_the_half_width_of_a_mixture_holds_its_level():
    rng = np.random.default_rng(3)
    shifts, variances = rng.normal(size=(40, 6)), rng.uniform(0.01, 2, size=(40, 6))
    half, sd = mixture_half_width(shifts, variances, 0.95), np.sqrt(variances)
    held = (ndtr((half - shifts) / sd) - ndtr((-half - shifts) / sd)).mean(axis=0)
    np.testing.assert_allclose(held, 0.95, atol=1e-3)
