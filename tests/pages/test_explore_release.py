from __future__ import annotations

import dataclasses
import io
import json
import re
import zipfile

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dpgp_core.bayes.refit import difference
from dpgp_core.release import bundle, plan_release, publish, read_table
from dpgp_core.release.publishing import known_part
from pages._ui.cloaking.results import Scene
from pages._ui.cloaking.staged import measure
from pages._ui.explore import controls, figures, statistic
from pages._ui.explore import posterior as reading
from pages._ui.explore import view as explore_view
from pages._ui.explore.statistic import CARD, FILE, ExampleDraw, Explored, Refit
from pages._ui.look import tables as tables_of_pages
from pages._ui.model import load_dataset
from pages._ui.own import figures as own_figures
from pages._ui.work import cached
from pages._ui.work.jobs import Jobs
from tests.core import tables
from tests.core.release.test_groups import LEVELS, spec_of, table
from tests.pages.addresses import published
from tests.pages.own import captions
from tests.pages.reading import numbers, page_text, traces
from tests.pages.test_in_python import computed, lines_of, of_exploration

EXAMPLE = ExampleDraw("toy_1d", 1.0, 0.01)
WHOLE = controls.View(level=0.95, of="function", threshold=None)


@pytest.fixture(scope="module")
def found() -> Explored:
    return simulated(load_dataset(EXAMPLE.dataset), EXAMPLE)


def simulated(data, example):
    return statistic.explored(measure(data, Scene(data.X, data.clipped_y), example.budget, example.draw), example)


@pytest.fixture(scope="module")
def files(found) -> dict[str, bytes]:
    """The release as it would be published."""
    return published(found.statistics, found.guarantee)


def altered(files: dict[str, bytes], **changes) -> dict[str, bytes]:
    """The same with other parts of its card."""
    return files | {CARD: json.dumps(json.loads(files[CARD]) | changes).encode()}


def zipped(files: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return stream.getvalue()


def uploaded(open_page, content: bytes, name: str = "release.zip", **address: str) -> AppTest:
    return open_page("explore_release", **address).file_uploader[0].upload(name, content, "application/zip").run()


def spent(app: AppTest) -> list[str]:
    return [each.value for each in app.metric[:2]]


def y_of(app: AppTest, name: str) -> object:
    return traces(app)[name]["y"]


@pytest.mark.full
def test_free_refits_change_the_curve_and_not_epsilon(seen):
    app = seen("explore_release")
    assert not app.exception
    assert spent(app) == ["ε = 1", "ε = 0"]
    assert "post-processing" in app.metric[1].proto.help
    assert app.title[0].value == "What else can you ask of a release?"
    assert "costs **no more privacy**" in page_text(app)
    first = y_of(app, "released curve")
    assert "with the chosen model" not in traces(app)
    app = seen("explore_release", explore_model="one", explore_share="3")
    assert spent(app) == ["ε = 1", "ε = 0"]
    assert y_of(app, "released curve") == first
    assert y_of(app, "with the chosen model") != first
    app = seen("explore_release", kernel="Matern12")
    assert spent(app) == ["ε = 1", "ε = 0"]
    assert y_of(app, "released curve") == first  # the release is read with the models it carries


def test_the_meter_counts_settings_without_spending(open_page):
    app = open_page("explore_release")
    app.select_slider(key="explore_level").set_value(50).run()
    assert spent(app) == ["ε = 1", "ε = 0"]
    assert app.metric[1].delta == "2 settings looked at"
    assert "On screen: **ε = 1** at δ = 1e-5" in "\n".join(each.value for each in app.sidebar.markdown)


def test_a_threshold_is_answered_with_probabilities(seen):
    app = seen("explore_release", explore_shown="threshold", explore_level_kung="130")
    told = r"above 130 cm.*probability above: [\d.]+ at 0, [\d.]+ at [\d.]+, [\d.]+ at 100"
    described = app.get("plotly_chart")[0].proto.alt
    assert re.search(told, described), described
    assert "probability above" in traces(app)
    shares = app.dataframe[0].value["probability above [%]"]
    assert shares.between(0, 100).all()
    assert shares.min() < 5  # infants are not as tall
    assert not app.exception


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("curve", {"explore_model", "explore_share", "explore_points", "explore_level"}),
        ("centiles", {"explore_points"}),
        ("difference", {"explore_level"}),
    ],
)
def test_a_question_has_the_controls_that_change_its_answer(seen, question, expected):
    address = {"explore_example": "kung_sexes", "explore_model": "one", "explore_share": "3"}
    app = seen("explore_release", explore_shown=question, **address)
    assert not app.exception
    offered = {each.key for kind in ("selectbox", "select_slider") for each in app.get(kind) if not each.disabled}
    assert offered & {"explore_model", "explore_share", "explore_points", "explore_level"} == expected


@pytest.mark.full
def test_an_uploaded_release_stays_in_its_session(open_page, files, monkeypatch):
    app = uploaded(open_page, zipped(files))
    assert not app.exception
    assert not app.error
    assert "release.zip" in captions(app.sidebar)
    assert spent(app) == ["ε = 1", "ε = 0"]
    assert "epsilon" not in {each.key for each in app.select_slider}  # its budget is what it is
    assert "As the file states" in page_text(app)
    monkeypatch.setattr(cached, "jobs", Jobs(cached.ROOM))  # others go on with what they share
    app.select_slider(key="explore_level").set_value(50).run()
    assert not cached.jobs._kept
    assert "release.zip" not in str(dict(app.query_params))
    assert "release.zip" not in page_text(open_page("explore_release"))
    [back] = [each for each in app.button if each.label.startswith("Back")]
    app = back.click().run()
    assert "epsilon" in {each.key for each in app.select_slider}
    assert "own_explored" not in app.session_state
    assert "own_explored_refit" not in app.session_state


def test_servers_without_uploads_show_their_own(open_page, monkeypatch):
    monkeypatch.setenv("DPGP_UPLOADS", "0")
    app = open_page("explore_release")
    assert not app.file_uploader
    assert not app.exception


def test_two_files_are_as_good_as_their_zip(files, found):
    one, two = statistic.opened({"r.zip": zipped(files)}), statistic.opened(files)
    for opened in (one, two):
        assert opened.numbers == found.numbers
        assert opened.guarantee == found.guarantee
        assert np.array_equal(opened.statistics.stages[-1].z, found.statistics.stages[-1].z)


def of_people_in_a_corner() -> tuple[Explored, reading.Filtered, np.ndarray]:
    """Two inputs in [0, 1]; all records lie below 0.4 in both, with values about 22; planned as users' are."""
    rng = np.random.default_rng(8)
    X = rng.uniform(0, 0.4, (60, 2))
    data = tables.table(
        X,
        22.0 + rng.normal(0, 1, 60),
        x_names=("east", "north"),
        x_box=((0.0, 1.0), (0.0, 1.0)),
        y_name="wage",
        y_unit="GBP",
        y_bounds=(5.0, 60.0),
        y_scale=55.0,
    )
    example = ExampleDraw("corner", 10.0, 1e-3)
    found = simulated(data, example)
    return found, statistic.refit_over_box(found, Refit("EQ", 50)), X


def test_candidates_predict_nothing_that_is_not_drawn(found, monkeypatch):
    """Only the weights of the candidates are shown if the release has models of its own."""
    read, refit, points = statistic.refit_over_box(found, Refit("EQ", 50)), reading.refit, []
    monkeypatch.setattr(reading, "refit", lambda *of, **more: points.append(len(more["X_test"])) or refit(*of, **more))
    alone = statistic.refit_over_box(dataclasses.replace(found, models=()), Refit("EQ", 50))
    again = statistic.refit_over_box(found, Refit("EQ", 50))
    assert points == [len(read.X_test), 1]
    np.testing.assert_allclose(again.lengthscale_probabilities, alone.lengthscale_probabilities, rtol=1e-12)


@pytest.mark.full
def test_the_axis_fits_what_is_drawn(found):
    read = statistic.refit_over_box(found, Refit("EQ", 50))
    for view in (WHOLE, dataclasses.replace(WHOLE, level=0.5), dataclasses.replace(WHOLE, of="outputs")):
        figure = figures.picture(found.statistics, read, view)
        low, high = figure.layout.yaxis.range
        drawn = np.hstack([np.asarray(trace.y, float) for trace in figure.data])
        assert low < drawn.min() < drawn.max() < high
        assert np.ptp(drawn) > 0.9 * (high - low)
        lines = [shape.y0 for shape in figure.layout.shapes]
        assert lines == [bound for bound in read.bounds if low <= bound <= high]


@pytest.mark.full
def test_maps_fade_where_little_is_known():
    found, read, X = of_people_in_a_corner()
    figure = figures.picture(found.statistics, read, WHOLE)
    cells, faded = (np.asarray(each.z, float).T.ravel() for each in figure.data)
    distance = np.abs(read.X_test[:, None] - X[None]).max(axis=2).min(axis=1)
    assert np.isfinite(cells).all()
    assert faded[distance < 0.05].max() < faded[distance > 0.5].min()
    low, high = read.interval(0.95, "function")
    np.testing.assert_allclose(faded, 1 - known_part(high - low, float(np.ptp(read.bounds))))
    above = figures.picture(found.statistics, read, dataclasses.replace(WHOLE, threshold=0.5))
    assert len(above.data) == 1  # a probability says how sure it is
    assert "Colours fade" in explore_view.description(controls.Chosen(found, read, WHOLE, None, Refit("EQ", 50), 1))
    assert re.fullmatch(r"[\d.]+ at [\d.]+ and [\d.]+, [\d.]+ at [\d.]+ and [\d.]+\.", tables_of_pages.in_words(figure))
    assert list(tables_of_pages.of_figure(figure)) == ["east [m]", "north [m]", "wage [GBP]"]


def with_promise(files, **changes):
    return zipped(altered(files, guarantee=json.loads(files[CARD])["guarantee"] | changes))


def with_less_noise(files):
    guarantee = json.loads(files[CARD])["guarantee"]
    return with_promise(files, loss=guarantee["loss"] | {"mu": 0.99 * guarantee["loss"]["mu"]})


BAD = {
    "empty": (lambda files: b"", "that is no release"),
    "not a zip": (lambda files: b"age,height\n", "that is no release"),
    "no card": (lambda files: zipped({FILE: files[FILE]}), "holds no release.json"),
    "no numbers": (lambda files: zipped({CARD: files[CARD]}), "cannot be explored"),
    "cut": (lambda files: zipped(files)[:-30], "that is no release"),
    "other kind": (lambda files: zipped(altered(files, statistics={"file": None})), "cannot be explored"),
    "no JSON": (lambda files: zipped(files | {CARD: b"{"}), "is not valid JSON"),
    "changed": (lambda files: zipped(files | {FILE: files[FILE][:-40]}), "is not a readable .npz file"),
    "no promise": (lambda files: zipped(altered(files, guarantee=None)), "a guarantee must be a JSON object"),
    "another epsilon than was measured": (lambda files: with_promise(files, epsilon=2.0), "different budgets"),
    "another delta than was measured": (lambda files: with_promise(files, delta=0.02), "different budgets"),
    "less noise than was promised": (with_less_noise, "the release is less private than it claims"),
    "large": (lambda files: b"x" * (statistic.MAX_BYTES + 1), "more than 5 MB, the limit"),
    "a bomb": (lambda files: zipped(files | {FILE: b"0" * 2**21}), "the file unpacks to more than 1 MB, the limit"),
}


@pytest.mark.parametrize("kind", BAD)
def test_a_bad_file_is_a_sentence(files, monkeypatch, kind):
    monkeypatch.setattr(statistic, "MAX_UNPACKED", 2**20)
    make, sentence = BAD[kind]
    with pytest.raises(ValueError, match=sentence):
        statistic.opened({"release.zip": make(files)})


def test_bad_files_are_explained_on_the_page(open_page):
    app = uploaded(open_page, b"PK\x03\x04 <b>no</b>")
    assert not app.exception
    assert "that is no release" in app.error[0].value
    assert spent(app) == ["ε = 1", "ε = 0"]


def test_too_many_records_are_a_sentence(files, monkeypatch):
    monkeypatch.setattr(statistic, "MAX_RECORDS", 3)
    with pytest.raises(ValueError, match=r"more than 3 or 3, the limits here\. Refit it with the library"):
        statistic.opened(files)


def test_probabilities_and_ranges_belong_together(found):
    read = statistic.refit_over_box(found, Refit("EQ", 50))
    assert read.lengthscale_probabilities.sum() == pytest.approx(1)
    low, high = read.interval(0.9, "function")
    wide_low, wide_high = read.interval(0.9, "outputs")
    assert (wide_high - wide_low > 0.9 * (high - low)).all()
    middle = (read.bounds[0] + read.bounds[1]) / 2
    assert ((read.percent_above(middle) > 50) == (read.interval(1e-9, "function")[0] > middle)).all()


def test_two_inputs_are_drawn_as_a_grid():
    box = ((0.0, 1.0), (0.0, 10.0), (4.0, 6.0))
    assert reading.grid_over(box[:1], 50).shape == (50, 1)
    assert reading.grid_over(box[:2], 50).shape == (14 * 14, 2)
    grid = reading.grid_over(box, 50)
    assert np.ptp(grid, axis=0) == pytest.approx([1, 10, 0])
    assert (grid[:, 2] == 5).all()


AGES = {"x": ["age"], "x_units": ["years"], "x_box": [[0, 90]], "x_levels": [None], "lengthscale": [25]}
DAYS = AGES | {
    "x": ["day"],
    "x_units": [""],
    "x_box": [["2019-01-01", "2021-12-31"]],
    "dates": {"day": {"period": "year"}},
}


def rows_over(spec, n=300) -> bytes:
    """A table of one input, whose outcome has a kink at a third of the box."""
    rng = np.random.default_rng(4)
    share = rng.uniform(0, 1, n)
    height = 60 + 120 * np.minimum(share * 3, 1) + rng.normal(0, 6, n)
    low, high = spec.columns[0].box
    inputs = [spec.columns[0].text(float(at)) for at in np.floor(low + share * (high - low))]
    return "\n".join([f"{spec.x[0]},height", *(f"{a},{h:.2f}" for a, h in zip(inputs, height, strict=True))]).encode()


@pytest.mark.full_for("numbers-bayes", "dates-bayes_cells")  # each mechanism and each kind of inputs has one
@pytest.mark.parametrize("mechanism", ["bayes_cells", "bayes"])
@pytest.mark.parametrize("inputs", [AGES, DAYS], ids=["numbers", "dates"])
def test_one_release_has_one_curve_and_one_band(open_page, inputs, mechanism):
    """The published file, its figure on the page that releases, and the page that explores it agree."""
    spec = spec_of(**inputs, grid=[50], mechanism=mechanism)
    data, ledger = read_table(io.BytesIO(rows_over(spec)), spec), spec.new_ledger()
    ledger.spend([("heights", spec.guarantee)])
    made = publish(plan_release(spec, data.X, data.person), data)
    app = uploaded(open_page, bundle(made, ledger), explore_points="50")
    assert not app.exception
    for of, low, high in (("function", *made.curve), ("outputs", *made.outputs)):
        if of != "function":  # with which the page opens
            app = app.selectbox(key="explore_of").select(controls.OF.titles[of]).run()
        table = app.dataframe[0].value
        for column, expected in (("curve [cm]", made.values), ("range from [cm]", low), ("range to [cm]", high)):
            np.testing.assert_allclose(table[column], expected, rtol=0, atol=0.51 * made.step + 1e-4)
    [column], x = spec.columns, made.X_test[:, 0]
    if column.dates is None:
        np.testing.assert_allclose(table.iloc[:, 0], x, atol=1e-4)
    else:
        assert list(table.iloc[:, 0]) == [column.text(each) for each in x]
    figure = own_figures.released(made)
    drawn = {trace.name: np.asarray(trace.y, float) for trace in figure.data}
    np.testing.assert_allclose(drawn["released"], table["curve [cm]"], rtol=0, atol=0.51 * made.step + 1e-4)


def zip_of(spec, content: bytes) -> bytes:
    """A release of a table, as it is published."""
    data, ledger = read_table(io.BytesIO(content), spec), spec.new_ledger()
    ledger.spend([("heights", spec.guarantee)])
    return bundle(publish(plan_release(spec, data.X, data.person), data), ledger)


@pytest.mark.parametrize("inputs", [AGES, pytest.param(DAYS, marks=pytest.mark.full)], ids=["numbers", "dates"])
def test_lines_for_a_zip_compute_the_chosen_lengthscale(open_page, tmp_path, inputs):
    spec = spec_of(**inputs, grid=[50], mechanism="bayes_cells")
    content = zip_of(spec, rows_over(spec))
    (tmp_path / "release.zip").write_bytes(content)
    app = uploaded(open_page, content, explore_points="50", explore_model="one", explore_share="3")
    found = computed(lines_of(app), tmp_path)
    assert np.ptp(found["with_chosen_model"] - found["curve"]) > 1
    of_exploration(app, found)


SEXES = ("women and girls", "men and boys")
LESS = "women and girls less men and boys"
GROUPED = {"explore_example": "kung_sexes", "epsilon": "5", "explore_points": "50"}
VIEWS = {  # address, traces, and what is said of them
    "centiles": ({"explore_shown": "centiles"}, (), r"centiles: [\d.]+ at 0,"),
    "groups": (GROUPED, SEXES, r"women and girls: [\d.]+ at 0,.*men and boys: [\d.]+ at 0,"),
    "centiles of groups": (GROUPED | {"explore_shown": "centiles"}, SEXES, ""),
    "level of groups": (GROUPED | {"explore_shown": "threshold"}, SEXES, ""),
    "difference": (
        GROUPED | {"explore_shown": "difference"},
        (LESS,),
        r"the difference, 95 %: ± .*boys: -?[\d.]+ at 0,",
    ),
}


@pytest.mark.full_for("centiles of groups", "groups", "level of groups")
@pytest.mark.parametrize("view", VIEWS)
def test_every_view_is_drawn_and_described(seen, view):
    address, drawn, told = VIEWS[view]
    app = seen("explore_release", **address)
    assert not app.exception
    assert not app.error
    assert set(drawn) <= traces(app).keys()
    described = app.get("plotly_chart")[0].proto.alt
    assert re.search(told, described), described


@pytest.mark.full
def test_women_and_men_have_separate_curves(open_page):
    app = open_page("explore_release", **GROUPED)
    both = traces(app)["men and boys"]["y"]
    assert set(app.dataframe[0].value["group"]) == set(SEXES)
    app = app.selectbox(key="own_explored_group").select("men and boys").run()
    np.testing.assert_allclose(numbers(y_of(app, "released curve")), numbers(both))
    assert "women and girls" not in str(dict(app.query_params))


@pytest.mark.full
def test_group_differences_have_ranges_and_tables(seen):
    app = seen("explore_release", explore_shown="difference", **GROUPED)
    table = app.dataframe[0].value
    age, between, low, high = (table[each] for each in table)
    assert low.name == "the difference, 95 %, lower end: difference [cm]"
    assert (low <= between).all()
    assert (between <= high).all()
    grown = between[age.between(20, 60)].mean()
    assert -25 < grown < 0  # men are taller
    assert spent(app)[1] == "ε = 0"


def test_without_groups_no_difference_is_offered(seen):
    app = seen("explore_release")
    assert "Difference of two groups" not in app.segmented_control(key="explore_shown").options
    assert not [each for each in app.selectbox if "own_explored" in each.key]


@pytest.mark.full
@pytest.mark.parametrize("mechanism", ["bayes_cells", "bayes"])
def test_a_published_release_of_groups_can_be_explored(open_page, mechanism, monkeypatch):
    app = uploaded(open_page, zip_of(spec_of(mechanism=mechanism, grid=[7, None]), table(150)))
    assert not app.exception
    assert not app.error
    assert set(LEVELS) <= set(traces(app))
    monkeypatch.setattr(cached, "jobs", Jobs(cached.ROOM))
    app = app.segmented_control(key="explore_shown").set_value("Difference of two groups").run()
    assert not app.exception
    assert not cached.jobs._kept
    assert f"{LEVELS[0]} less {LEVELS[1]}" in traces(app)


def overflows(*_args, **_options):
    return 1 / 0


def is_no_number(*args, **options):
    found = difference(*args, **options)
    found.mixture.means[:] = np.nan
    return found


DIFFERENCE = "Difference of two groups"
EXTREME = {  # what is computed, what happens there, and which question needs it
    "reading": ("refit_over_box", overflows, "The curve"),
    "lengthscale": ("with_one_lengthscale", overflows, "The curve"),
    "difference": ("difference", overflows, DIFFERENCE),
    "difference that is none": ("difference", is_no_number, DIFFERENCE),
}


@pytest.mark.full_for("lengthscale", "difference")
@pytest.mark.parametrize("kind", EXTREME)
def test_unreadable_numbers_are_explained(open_page, monkeypatch, kind):
    name, happens, question = EXTREME[kind]
    content = zip_of(spec_of(mechanism="bayes_cells", grid=[7, None]), table(150))
    app = open_page("explore_release", explore_model="one", explore_points="50")
    monkeypatch.setattr(statistic, name, happens)
    app.file_uploader[0].upload("release.zip", content, "application/zip").run()
    if question == DIFFERENCE:
        assert not app.error
        app = app.segmented_control(key="explore_shown").set_value(question).run()
    assert not app.exception
    assert "nothing can be computed from them" in app.error[0].value
    assert [each.label for each in app.button if each.label.startswith("Back")]


@pytest.mark.full
def test_what_is_not_finite_is_not_drawn(monkeypatch, files):
    read = statistic.refit_over_box(statistic.opened(files), Refit("EQ", 50))
    read.mixture.means[0, 0, 0] = float("nan")
    monkeypatch.setattr(statistic, "refit_over_box", lambda *_: read)
    with pytest.raises(ValueError, match="nothing can be computed"):
        statistic._own(files, Refit("EQ", 50))
