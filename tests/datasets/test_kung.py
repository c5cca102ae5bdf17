import numpy as np
import pytest

from datasets import kung


def test_one_dimension_is_age_of_the_287_women_and_girls():
    data = kung.load()
    assert data.X.shape == (287, 1)
    assert data.x_names == ("age",)
    assert data.x_units == ("years",)
    assert data.X.max() == 85.6  # targets: ages 0 to 85.6


def test_two_dimensions_add_weight_and_keep_age():
    data = kung.load(dims=2)
    assert data.X.shape == (287, 2)
    assert data.x_names == ("age", "weight")
    assert data.x_units == ("years", "kg")
    np.testing.assert_array_equal(data.X[:, :1], kung.load().X)
    np.testing.assert_array_equal(data.y, kung.load().y)


def test_published_constants():
    data = kung.load()
    assert data.y_bounds == (58.27, 158.27)
    assert data.y_scale == 25.742
    assert data.output_range == pytest.approx(100)
    assert data.clipped_count == 10  # targets: 10 records clipped


def test_first_female_of_the_census_file():
    data = kung.load(dims=2)
    np.testing.assert_array_equal(data.X[0], [63.0, 36.4858065])
    assert data.y[0] == 139.7


@pytest.mark.parametrize("dims", [0, 3, "2", None], ids=repr)
def test_other_dims_are_refused(dims):
    with pytest.raises(ValueError, match=r"dims must be 1 \(age\) or 2 \(age and weight\)"):
        kung.load(dims=dims)


def test_the_whole_census_by_sex():
    data = kung.load(groups=True)
    assert data.X.shape == (544, 2)
    assert data.x_levels == (None, ("women and girls", "men and boys"))
    np.testing.assert_array_equal(data.X[data.X[:, 1] == 0][:, :1], kung.load().X)
    assert data.clipped_count == 0
    assert data.person is None
    with pytest.raises(ValueError, match="dims must be 1"):
        kung.load(dims=2, groups=True)
