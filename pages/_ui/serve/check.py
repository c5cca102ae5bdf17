"""A release with a known answer, which processes compute to show that they work. They need nothing of the server."""

from __future__ import annotations

import math

import numpy as np

from dpgp_core.kernels import EQ
from dpgp_core.mechanisms import Cloaking
from dpgp_core.table import Column, Dataset, Outcome


def release_is_right() -> None:
    """Check a release whose noise is known in closed form.

    Raises:
        ArithmeticError: the noise is wrong.
    """
    one = Dataset(
        name="one_record",
        X=np.zeros((1, 1)),
        y=np.zeros(1),
        columns=(Column(name="x", box=(-1.0, 1.0)),),
        outcome=Outcome(name="y", bounds=(-1.0, 1.0)),
        privacy_unit="nobody",
    )
    kernel = EQ(variance=1.0, lengthscale=1.0)
    cloaking = Cloaking(kernel=kernel, noise_variance=0.3, epsilon=1.0, delta=0.01, calibration="hall")
    noise = cloaking.release(one, one.X, np.random.default_rng(1)).noise_sd[0]
    # one record, tested at its own input: c = k / (k + s^2), M = c^2, noise sd = d s c
    expected = 2.0 * math.sqrt(2 * math.log(2 / 0.01)) / (1 + 0.3)
    if not math.isclose(noise, expected, rel_tol=1e-6):
        raise ArithmeticError("the noise of a release is wrong")
