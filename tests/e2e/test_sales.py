"""Sales with places, some of one house, from file to zip in a browser: a house is hidden, and prices are found."""

from __future__ import annotations

import numpy as np
import pytest

from tests.e2e.own_table import Counted, answer, choose, fill, handed_out, release, upload

pytestmark = pytest.mark.full

MOST_ACTIONS = 16
HOUSES = 2_000
CENTRE = np.array([-0.13, 51.51])


def price(places: np.ndarray) -> np.ndarray:
    """In thousands of pounds: dear in the middle, 20 km wide."""
    kilometres = (places - CENTRE) * [69.0, 111.0]
    return 300 + 700 * np.exp(-((kilometres**2).sum(axis=1)) / (2 * 8.0**2))


def sales() -> bytes:
    """2,000 invented houses, each sold once or twice: 3,000 rows."""
    rng = np.random.default_rng(11)
    house = np.repeat(np.arange(HOUSES), rng.permutation(np.repeat([1, 2], HOUSES // 2)))
    places = rng.uniform([-0.4, 51.35], [0.15, 51.65], size=(HOUSES, 2)).round(4)[house]
    paid = price(places) * rng.gamma(20.0, 1 / 20.0, len(house))
    rows = (f"H{h:04d},{x:.4f},{y:.4f},{p:.0f}\n" for h, (x, y), p in zip(house, places, paid, strict=True))
    return ("house,longitude,latitude,price\n" + "".join(rows)).encode()


def test_sales_with_places_from_file_to_zip(visit, tmp_path):
    user = Counted(visit.open("your_data"))
    user.do(upload, "sales.csv", sales())
    user.page.get_by_text("3,000 rows").wait_for()
    user.do(choose, "y", "price")
    user.do(choose, "x", "longitude")
    user.do(choose, "x", "latitude")
    user.do(answer, "Yes, a column says whose row it is")
    user.do(choose, "person", "house")
    for key, value in (
        ("low", "0"),
        ("high", "1500"),
        ("box_low_longitude", "-0.4"),
        ("box_high_longitude", "0.15"),
        ("box_low_latitude", "51.35"),
        ("box_high_latitude", "51.65"),
        ("total", "1"),
    ):
        user.do(fill, key, value)
    user.do(choose, "degrees", "longitude is east, latitude is north")
    user.do(release, 1)
    card, rows, files = handed_out(visit, user, MOST_ACTIONS, tmp_path)
    assert card["config"]["coordinates"] == ["longitude", "latitude"]
    assert card["public"]["n"] == HOUSES
    assert "all rows of one person, inputs and outputs" in card["guarantee"]["neighbours"]
    assert len(rows) == 400
    places = np.array([[float(row[name]) for name in ("longitude", "latitude")] for row in rows])
    off = np.array([float(row["value"]) for row in rows]) - price(places)
    assert np.sqrt(np.mean(off**2)) < 0.6 * price(places).std()
    assert not any(b"H0001" in content for content in files.values())
