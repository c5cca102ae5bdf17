import numpy as np

from dpgp_core.linalg import column_norms


def test_column_norms_are_squared_lengths():
    rows = np.array([[3.0, 0.0, 1.0], [4.0, 0.0, -2.0]])
    np.testing.assert_array_equal(column_norms(rows), [25.0, 0.0, 5.0])


def test_no_rows_are_columns_of_length_zero():
    np.testing.assert_array_equal(column_norms(np.zeros((0, 2))), [0.0, 0.0])
