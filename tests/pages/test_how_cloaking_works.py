from __future__ import annotations

import numpy as np
import pytest

from pages._ui.cloaking import two_points
from pages._ui.cloaking.two_points import TwoPointSettings
from tests.pages.reading import traces


def test_certificate_on_screen_holds(open_page):
    app = open_page("how_cloaking_works")
    assert float(app.metric[0].value) == pytest.approx(1, abs=1e-5)
    assert float(app.metric[0].value) <= 1.0
    assert float(app.metric[1].value.split()[0]) <= 0.1


def test_lambda_is_public_and_few_records_carry_it(open_page):
    table = open_page("how_cloaking_works").dataframe[0].value
    share = table["λ, share of the total"]
    assert share.sum() == pytest.approx(1, abs=1e-3)
    assert (share > 0.01 * share.max()).sum() < 60
    assert table["age [years]"].iloc[0] == 85.6  # the oldest, far from everyone else


@pytest.mark.parametrize("lengthscale", [0.5, 1.5, 5.0])
@pytest.mark.parametrize("positions", [(1.0, 9.0), (2.5, 5.0), (4.0, 4.0)], ids=str)
def test_both_ellipses_enclose_what_one_record_can_do(positions, lengthscale):
    points = two_points.build(TwoPointSettings(*positions, lengthscale, 0.1, 2.0))
    for covariance in (points.prior, points.d**2 * points.design.covariance()):
        for j in range(2):
            move = points.d * points.C[:, j]
            # the ellipse z^T M^+ z = 1 encloses the move; M may be singular when the records coincide
            shift = np.linalg.lstsq(covariance, move, rcond=1e-12)[0]
            assert move @ shift <= 1 + 1e-6
    assert two_points.area_ratio(points) >= 1 - 1e-9


def test_ellipse_is_the_unit_level_set():
    covariance = np.array([[2.0, 0.7], [0.7, 1.0]])
    z = two_points.ellipse(covariance)
    assert np.einsum("ij,ik,kj->j", z, np.linalg.inv(covariance), z) == pytest.approx(1)


def test_sliders_change_the_picture_and_the_sentence(open_page):
    app = open_page("how_cloaking_works")
    before, sentence = traces(app, 1)["cloaking noise"], app.markdown[0].value
    app.slider(key="x1").set_value(1.0).run()
    assert traces(app, 1)["cloaking noise"] != before
    assert app.markdown[0].value != sentence
