"""What the estimator refuses, and in which words."""

from datetime import date

import numpy as np
import pytest

from dpgp_core.estimator import DPGaussianProcessRegressor
from dpgp_core.estimator.declared import column_of, columns_of_X, matrix_of
from tests.refusals import told

AT = np.zeros((3, 1))
NOT_FITTED = DPGaussianProcessRegressor(1.0, 0.01, y_bounds=(0, 2), x_box=(0, 1))
DECLARED = [
    *told(
        matrix_of,
        [
            ([1.0, 2.0], "Reshape your data"),
            (np.zeros((0, 2)), r"0 sample\(s\)"),
            (np.zeros((2, 0)), r"0 feature\(s\)"),
            ([[np.nan]], "NaN"),
            ([[np.inf]], "inf"),
            ([[1j]], "Complex data not supported"),
            (
                np.array([["2024-03-01"]], dtype="datetime64[D]"),
                "X holds dates, .* takes numbers; give it days",
            ),
            ([[1.0, date(2024, 3, 1)]], "X holds dates, and the estimator takes numbers"),
        ],
    ),
    *told(
        column_of,
        [
            (None, 2, "requires y"),
            ([1.0], 2, r"got \(1,\)"),
            ([[1.0, 2.0]], 2, r"got \(1, 2\)"),
            ([1.0, np.inf], 2, r"holds infinity \(inf\) 1 times"),
        ],
    ),
    *told(
        columns_of_X,
        [
            (("x0", "x1"), [(0, 1)] * 3, None, "got shape"),
            (("x0", "x1"), (1, 0), None, "x_box of x0"),
            (("x0", "x1"), (0, np.inf), None, "finite"),
            (("x0", "x1"), [0], None, "got shape"),
            (("age", "sex"), (0, 9), [["a", "b"]], "x_levels must have 2 entries"),
        ],
    ),
    (lambda: NOT_FITTED.predict(AT), r"this DPGaussianProcessRegressor is not fitted; call fit\(X, y\) first"),
]
PREDICTING = [
    (lambda model: model.predict(AT, return_std=True, return_cov=True), "cannot both be True"),
    (lambda model: model.predict(np.zeros((3, 2))), "X has 2 features, but DPGaussianProcessRegressor is expecting 1"),
    *((lambda model, p=p: model.predict_quantiles(AT, [p]), "between 0 and 1") for p in (0.0, 1.0, -0.1)),
]


@pytest.mark.parametrize(("call", "words"), DECLARED)
def test_bad_input_is_refused_with_these_words(call, words):
    with pytest.raises(ValueError, match=words):
        call()


@pytest.mark.parametrize(("call", "words"), PREDICTING)
def test_invalid_predictions_are_refused_with_these_words(fitted, call, words):
    with pytest.raises(ValueError, match=words):
        call(fitted)
