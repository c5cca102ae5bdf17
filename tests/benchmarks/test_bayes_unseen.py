import numpy as np
import pytest

from benchmarks.bayes.unseen import TABLES, constant_error, held_out, load

pytest.importorskip("sklearn", reason="scikit-learn is not installed, and it ships the tables")


@pytest.mark.parametrize("name", TABLES)
def test_what_is_declared_fits_the_table(name):
    data = load(name)
    low, high = np.array(data.x_box).T
    assert ((low <= data.X) & (high >= data.X)).mean() > 0.99
    assert (data.y == data.clipped_y).mean() > 0.97
    assert data.n >= 150
    assert constant_error(data) > 0


def test_every_record_has_its_residuals_and_every_level_a_share():
    residuals, inside = held_out("bayes_cells", load("iris"), 1.0, 2)
    assert residuals.shape == (2, 150)
    assert inside.shape == (4,)
    assert (np.diff(inside) >= 0).all()
