import numpy as np

from dpgp_core.strategies.risk_model import nearest_of_spread, sums


def test_sums_by_group():
    values, groups = np.arange(10.0).reshape(5, 2), np.array([1, 0, 1, 2, 0])
    np.testing.assert_array_equal(sums(values, groups), [[10, 12], [4, 6], [6, 7]])
    np.testing.assert_array_equal(sums(values[:, 0], groups), [10, 4, 6])


def test_separate_clusters_are_the_groups():
    rng = np.random.default_rng(0)
    which = rng.integers(5, size=200)
    features = 100 * rng.standard_normal((5, 50))[which] + 0.01 * rng.standard_normal((200, 50))
    labels = nearest_of_spread(features, 5)
    assert len({*zip(which.tolist(), labels.tolist(), strict=True)}) == 5
    np.testing.assert_array_equal(np.unique(labels), range(5))


def test_equal_rows_share_a_group_and_no_label_is_missing():
    rows = np.repeat(np.eye(3), 4, axis=0)
    np.testing.assert_array_equal(np.unique(nearest_of_spread(rows, 10)), range(3))
    np.testing.assert_array_equal(
        nearest_of_spread(rows, 10).reshape(3, 4).T[0][:, None].repeat(4, 1).ravel(), nearest_of_spread(rows, 10)
    )
