from dataclasses import FrozenInstanceError

import numpy as np
import pytest


def test_public_constants_come_from_the_declared_bounds(make_dataset):
    data = make_dataset(y_bounds=(10.0, 30.0), y=np.full(12, 11.0))
    assert (data.n, data.dim, data.midpoint, data.output_range) == (12, 1, 20.0, 20.0)


def test_outputs_are_clipped_centred_then_scaled(make_dataset):
    data = make_dataset(y=np.array([-5.0, -1.0, 0.0, 1.0, 3.0, 9.0] * 2))  # bounds (-1, 3), scale 2
    np.testing.assert_array_equal(data.clipped_y[:6], [-1, -1, 0, 1, 3, 3])
    np.testing.assert_array_equal(data.standardised()[:6], [-1, -1, -0.5, 0, 1, 1])
    assert data.clipped_count == 4


def test_raw_outputs_are_kept(make_dataset):
    y = np.linspace(-9, 9, 12)
    np.testing.assert_array_equal(make_dataset(y=y).y, y)


def test_in_data_units_undoes_standardised(make_dataset):
    data = make_dataset()
    np.testing.assert_allclose(data.in_data_units(data.standardised()), data.clipped_y, rtol=1e-15)


def test_one_record_moves_only_itself(make_dataset):
    before = make_dataset()
    y = before.y.copy()
    y[3] = 100.0
    after = make_dataset(y=y)
    assert np.flatnonzero(after.standardised() != before.standardised()).tolist() in ([], [3])
    assert after.midpoint == before.midpoint


def test_dataset_is_frozen(make_dataset):
    with pytest.raises(FrozenInstanceError):
        make_dataset().y_scale = 3.0


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"y": np.zeros(11)}, r"y must have shape \(12,\) to match X, got \(11,\)"),
        ({"X": np.zeros(12)}, r"X must have shape \(n, D\) with n >= 1 and D >= 1, got \(12,\)"),
        ({"X": np.zeros((0, 1))}, r"X must have shape .* got \(0, 1\)"),
        ({"X": np.zeros((12, 0))}, r"X must have shape .* got \(12, 0\)"),
        ({"columns": ()}, "columns must have 1 entries, one per column of X, got 0"),
        ({"x_units": ()}, "x_units must have 1 entries, one per column of x, got 0"),
        ({"x_box": ()}, "x_box must have 1 entries, one per column of x, got 0"),
        ({"y": np.full(12, np.nan)}, "X and y must be finite; remove or fill missing values"),
        ({"X": np.full((12, 1), np.inf)}, "X and y must be finite; remove or fill missing values"),
        ({"y_bounds": (3.0, -1.0)}, r"y_bounds must be \(low, high\) .* swap or widen them"),
        ({"y_bounds": (1.0, 1.0)}, r"y_bounds must be \(low, high\) .* swap or widen them"),
        ({"y_bounds": (0.0, np.inf)}, r"y_bounds must be two finite numbers, got \(0.0, inf\)"),
        ({"x_box": ((5.0, 2.0),)}, r"x_box of x must be \(low, high\)"),
        ({"y_scale": 0.0}, "y_scale must be a positive number, got 0.0"),
        ({"y_scale": -1.0}, "y_scale must be a positive number, got -1.0"),
        ({"y_scale": np.nan}, "y_scale must be a positive number, got nan"),
    ],
)
def test_bad_values_are_named(make_dataset, changes, sentence):
    with pytest.raises(ValueError, match=sentence):
        make_dataset(**changes)
