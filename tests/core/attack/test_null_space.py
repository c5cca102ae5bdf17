import numpy as np
import pytest

from dpgp_core.attack.linear import null_space_attack


def releases(rng, count, shift, rounding):
    """Noise in 2 of 5 directions, and a shift of the size of rounding errors in a third."""
    Q = np.linalg.qr(np.random.default_rng(0).normal(size=(5, 5)))[0]
    return (rng.normal(size=(count, 2)) @ Q[:2]) + shift * Q[2] + rounding * rng.normal(size=(count, 5))


def test_it_finds_a_shift_that_noise_does_not_cover_however_small():
    rng = np.random.default_rng(1)
    attack = null_space_attack(releases(rng, 1000, 1e-9, 1e-10), releases(rng, 1000, 0.0, 1e-10))
    inside, outside = (attack.score(releases(rng, 1000, shift, 1e-10)) for shift in (1e-9, 0.0))
    middle = (inside.mean() + outside.mean()) / 2
    assert ((inside > middle).mean() + (outside < middle).mean()) / 2 > 0.99


def test_it_finds_nothing_where_there_is_nothing():
    rng = np.random.default_rng(2)
    attack = null_space_attack(releases(rng, 1000, 0.0, 1e-10), releases(rng, 1000, 0.0, 1e-10))
    inside, outside = (attack.score(releases(rng, 1000, 0.0, 1e-10)) for _ in range(2))
    assert abs((inside[:, None] > outside).mean() - 0.5) < 0.1  # 7 standard errors


@pytest.mark.parametrize("shapes", [((1, 3), (5, 3)), ((5, 3), (5, 4))])
def test_too_few_or_other_points_are_refused(shapes):
    with pytest.raises(ValueError, match="need at least 2 releases"):
        null_space_attack(*(np.zeros(shape) for shape in shapes))
