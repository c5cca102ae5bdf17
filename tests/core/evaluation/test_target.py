from __future__ import annotations

import numpy as np
import pytest

from dpgp_core.evaluation.errors import epsilon_for_error, epsilon_on_curve


def test_epsilon_for_error_inverts_a_known_error():
    def error(epsilon: float) -> float:
        return 2 + 3 / epsilon

    assert epsilon_for_error(error, 2.5) == pytest.approx(6.0, rel=2e-3)
    assert error(epsilon_for_error(error, 5.0)) == pytest.approx(5.0, rel=2e-3)
    assert epsilon_for_error(error, 1.9) is None
    assert epsilon_for_error(error, 1e6) == 0.05


def test_an_epsilon_is_read_off_a_curve():
    """3 / epsilon is straight on logarithmic axes."""
    epsilons = [0.1, 0.5, 2.0, 10.0]
    errors = 3 / np.array(epsilons)
    assert epsilon_on_curve(epsilons, errors, 2.0) == pytest.approx(1.5)
    assert epsilon_on_curve(epsilons, errors, 6.0) == pytest.approx(0.5)
    assert epsilon_on_curve(epsilons, errors, 100.0) == 0.1
    assert epsilon_on_curve(epsilons, errors, 0.2) is None
