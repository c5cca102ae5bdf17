import numpy as np
import pytest

from dpgp_core.measurement.noise import Apart, NumberedDraws


def test_each_row_comes_from_a_generator_of_its_own_whatever_is_drawn_beside_it():
    few, many, later = NumberedDraws(3, 1), NumberedDraws(1, 20), NumberedDraws(3, 4)
    for size in (5, 2, 9):  # stage after stage
        row = few.standard_normal((1, size))[0]
        np.testing.assert_array_equal(many.standard_normal((20, size))[2], row)
        np.testing.assert_array_equal(later.standard_normal((4, size))[0], row)
    assert not (NumberedDraws(1, 2).standard_normal((2, 5))[0] == NumberedDraws(1, 2).standard_normal((2, 5))[1]).any()


def test_a_draw_alone_is_what_its_number_always_gave():
    row = NumberedDraws(7, 1).standard_normal((1, 4))
    np.testing.assert_array_equal(row, np.random.default_rng(7).standard_normal((1, 4)))
    row = NumberedDraws(7, 1).laplace(size=(1, 4))
    np.testing.assert_array_equal(row, np.random.default_rng(7).laplace(size=(1, 4)))


def test_fewer_at_a_time_would_mix_the_draws_up_and_are_refused():
    with pytest.raises(Apart, match="20 at a time"):
        NumberedDraws(1, 20).standard_normal((3, 4))
    with pytest.raises(Apart, match="2 at a time"):
        NumberedDraws(1, 2).laplace(size=4)
    with pytest.raises(ValueError, match="count"):
        NumberedDraws(1, 0)
