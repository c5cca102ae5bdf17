"""A figure and the table of its page show the same numbers, and true data among them are marked wherever they go."""

import pytest

from pages._ui.look import pictures

MARK = "not private"
FULL = pytest.mark.full


@pytest.fixture
def told(monkeypatch, open_page):
    """Open a page at an address: the numbers of each of its figures by key, and those of its tables."""

    def tell(page, **address):
        found, caption = {}, pictures._caption

        def kept(key, alt, numbers, drawn):
            found[key] = numbers()
            caption(key, alt, numbers, drawn)

        with monkeypatch.context() as patch:
            patch.setattr(pictures, "_caption", kept)
            app = open_page(page, **address)
        assert not app.exception
        return found, [each.value for each in app.dataframe]

    return tell


START = {"decide_by": "laplace_bins", "family": "laplace", "compare_dataset": "toy_1d"}
MOVES = {"step": "moves", "everybody": "true"}
# address, figures whose numbers are a table of the page
WITH_TRUE_DATA = [
    ("kung_curves", {}, ["curves"]),
    pytest.param("kung_curves", {"mechanism": "refined", "draws": "3"}, ["curves"], marks=FULL),
    pytest.param("london_noise_map", {}, ["hexagons"], marks=FULL),
    ("excursion_sets", {}, ["path_curves"]),
    pytest.param("excursion_sets", {"excursion": "plumes"}, ["field"], marks=FULL),
    pytest.param("sparse_dp_gp", {}, ["sparse_fit"], marks=FULL),
    pytest.param("sparse_dp_gp", {"sparse_view": "errors"}, ["sparse_errors", "sparse_likelihood"], marks=FULL),
    ("start", START, ["errors", "deployments"]),
    pytest.param("lengthscale_choice", {}, ["tiles"], marks=FULL),
    pytest.param("attack", {}, ["roc", "roc_log"], marks=FULL),
    pytest.param("how_cloaking_works", MOVES, ["one_person", "move_noise"], marks=FULL),
]


@pytest.mark.parametrize(("page", "address", "keys"), WITH_TRUE_DATA)
def test_tables_equal_their_figures_and_mark_truth(told, page, address, keys):
    """Places alone may have more rows: those of people, whose values are marked."""
    shown, tables = told(page, overlay="true", **address)
    for key in keys:
        assert any(is_same(each, shown[key]) for each in tables), key
    without, _ = told(page, overlay="false", **address)
    assert any(MARK in name for frame in shown.values() for name in words_of(frame))
    assert not [name for frame in without.values() for name in words_of(frame) if MARK in name]
    for key, frame in shown.items():
        rows = frame[~frame["what"].str.contains(MARK)] if "what" in frame else frame
        unmarked = [name for name in rows if MARK not in name] if len(rows) else []
        others = [without[key]] if key in without else list(without.values())
        places = frame.columns[: min(2, len(frame.columns) - 1)]
        for name in unmarked:
            here, there = list(rows[name].dropna()), [list(each[name].dropna()) for each in others if name in each]
            more = name in places and (key not in without or {*there[0]} <= {*here})
            assert here in there or more, (key, name)


WITHOUT = [
    ("explore_release", {}, ["explored", "explored_lengthscales"]),
    ("how_cloaking_works", {"step": "measured"}, ["rows_of_B"]),
    pytest.param("how_cloaking_works", {"step": "covered", "everybody": "true"}, ["lambda"], marks=FULL),
]


@pytest.mark.parametrize(("page", "address", "keys"), WITHOUT)
def test_tables_equal_figures_without_true_data(told, page, address, keys):
    shown, tables = told(page, **address)
    for key in keys:
        assert any(is_same(each, shown[key]) for each in tables), key


def is_same(one, other):
    """Whether two tables show the same; what was sent to a browser comes back with other types."""
    if list(one) != list(other) or len(one) != len(other):
        return False
    pairs = ((one[name].reset_index(drop=True), other[name].reset_index(drop=True)) for name in one)
    return all(bool(((a == b) | (a.isna() & b.isna())).all()) for a, b in pairs)


def words_of(frame):
    """Names of columns, and of rows that have names."""
    return [*frame.columns, *(frame["what"].unique() if "what" in frame else ())]
