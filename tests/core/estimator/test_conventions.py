import warnings

import numpy as np
import pytest

from dpgp_core.estimator import DPGaussianProcessRegressor, SpentAgain
from dpgp_core.estimator.declared import column_of, names_of
from tests.core.estimator.worlds import RECORDS, make

NEEDS = "scikit-learn is not installed: its own checks of the estimator do not run (pip install scikit-learn)"
# they ask for what the estimator refuses on purpose: the reason for each
REFUSED = {"check_supervised_y_2d": "outputs of shape (n, 1), a column of a table, are taken without a warning"}


class Table:
    """Has columns, like a data frame."""

    def __init__(self, values, columns):
        self.values, self.columns = np.asarray(values, dtype=float), columns

    def __array__(self, dtype=None, copy=None):
        return self.values


def test_parameters_go_in_and_out_by_name():
    model = make(random_state=7)
    assert DPGaussianProcessRegressor(**model.get_params()).get_params() == model.get_params()
    assert model.set_params(epsilon=2.0, stages=3) is model
    assert (model.epsilon, model.stages) == (2.0, 3)
    with pytest.raises(ValueError, match="has no parameter 'eps'; it has epsilon, delta, "):
        model.set_params(stages=1, eps=1.0)
    assert model.stages == 3
    given = DPGaussianProcessRegressor(1.0, 0.01, y_bounds=(0, 2))
    assert repr(given) == "DPGaussianProcessRegressor(epsilon=1.0, delta=0.01, y_bounds=(0, 2))"


def test_outputs_may_be_a_column():
    np.testing.assert_array_equal(column_of([[1.0], [2.0]], 2), [1, 2])
    with pytest.raises(ValueError, match="NaN") as refusal:
        column_of([123.25, np.nan], 2)
    assert "123" not in str(refusal.value)
    assert "inf" not in str(refusal.value)


@pytest.mark.parametrize("protects", ["outputs", "inputs and outputs"])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_records_are_finite_numbers_wherever_inputs_are_private(protects, value):
    other = np.where(np.arange(30) == 4, value, 0.0)
    for X, y in ((RECORDS[0] + other[:, None], RECORDS[1]), (RECORDS[0], RECORDS[1] + other)):
        model = make(protects=protects)
        with pytest.raises(ValueError, match=r"must be finite, and holds (NaN|infinity \(inf\))"):
            model.fit(X, y)
        assert not hasattr(model, "guarantee_")  # nothing was spent


def test_a_table_is_known_by_its_column_names():
    rng = np.random.default_rng(0)
    table = Table(rng.uniform(0, 10, (12, 2)), ["age", "weight"])
    assert names_of(table) == ("age", "weight")
    assert names_of(Table(np.zeros((1, 1)), [0])) is None
    model = make(random_state=0).fit(table, np.zeros(12))
    assert list(model.feature_names_in_) == ["age", "weight"]
    assert model.predict(table).shape == model.predict(table.values).shape == (12,)
    with pytest.raises(ValueError, match=r"must be \('age', 'weight'\), in this order"):
        model.predict(Table(table.values, ["weight", "age"]))
    with pytest.warns(SpentAgain):
        model.fit(table.values, np.zeros(12))
    assert not hasattr(model, "feature_names_in_")


@pytest.mark.full
def test_the_checks_of_scikit_learn_pass():
    checks = pytest.importorskip("sklearn.utils.estimator_checks", reason=NEEDS)
    model = DPGaussianProcessRegressor(3.0, 0.01, (-10, 10), (-1000, 1000), stages=1, gap=1.0, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fits are repeated, and checks are skipped, with warnings
        found = checks.check_estimator(model, on_fail=None, expected_failed_checks=REFUSED)
    assert len(found) > 40
    assert [f"{each['check_name']}: {each['exception']}" for each in found if each["status"] == "failed"] == []


def test_it_works_in_a_pipeline():
    pytest.importorskip("sklearn", reason=NEEDS)
    from sklearn.base import clone, is_regressor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer

    X, y = RECORDS
    inner = make(x_box=(0, 1), random_state=2)
    tenths = FunctionTransformer(lambda X: X / 10)
    pipeline = make_pipeline(tenths, inner).fit(X, y)
    np.testing.assert_allclose(pipeline.predict(X), clone(inner).fit(X / 10, y).predict(X / 10), rtol=1e-6)
    assert is_regressor(pipeline)
    assert clone(pipeline).set_params(dpgaussianprocessregressor__epsilon=2.0)[-1].epsilon == 2.0
