"""London's map: noise and prices, and the directions in which noise moves it."""

from __future__ import annotations

import base64
import io
import itertools
import json
import re
from dataclasses import replace

import h3
import numpy as np
import pytest
from PIL import Image

from datasets import london_hexes, london_sales
from dpgp_core.accounting.gaussian import noise_multiplier
from pages._ui.cloaking import computed, directions, one_hexagon, results
from pages._ui.cloaking.cells import LAYERS, cell_table, map_rows, public_cells
from pages._ui.compare.contenders import CONTENDERS
from pages._ui.left_out import without_privacy
from pages._ui.look import maps, offers, text
from pages._ui.model import Design, Draw, Model, usual
from tests.pages.reading import deck, page_text
from tests.pages.test_numbered_draws import drawn

OPENING = Draw(epsilon=1.0, delta=offers.DELTA)


def layers(app, chart=0):
    return {layer["id"]: layer for layer in deck(app, chart)["layers"]}


def test_the_map_is_greater_london_and_one_ring(seen):
    app = seen("london_noise_map")
    cells = [row["cell"] for row in layers(app)["hex-noise"]["data"]]
    assert len(cells) == len(set(cells)) == 412
    table = app.dataframe[0].value
    sold = set(table["cell"][table["sales"] > 0])
    assert len(sold) == 300
    assert set(table["cell"]) == set(cells) == {near for cell in sold for near in h3.grid_disk(cell, 1)}
    assert deck(app).get("mapProvider") is None  # nobody is asked for one
    assert layers(app)["outline-noise"]["data"]


@pytest.mark.full
def test_noise_is_small_where_sales_are_dense(seen):
    table = seen("london_noise_map", mechanism="refined").dataframe[0].value
    noise = table["privacy noise [times too high or too low]"]
    dense, empty = noise[table["sales"] >= 15], noise[table["sales"] == 0]
    assert len(dense) > 10
    assert dense.median() < 1.4 < 1.8 < empty.median()
    assert "spread of prices [%]" not in table  # which this method does not measure


@pytest.mark.parametrize(
    ("mechanism", "column", "epsilon"),
    [
        ("cloaking", "privacy noise [times too high or too low]", "1"),
        pytest.param("cloaking", "privacy noise [times too high or too low]", "0.3", marks=pytest.mark.full),
        pytest.param("bayes", "privacy noise [times too high or too low]", "1", marks=pytest.mark.full),
    ],
)
def test_the_headline_names_extreme_boroughs(seen, mechanism, column, epsilon):
    app = seen("london_noise_map", mechanism=mechanism, epsilon=epsilon)
    table = app.dataframe[0].value
    noise = table[table["sales"] > 0].groupby("borough")[column].median()
    sentence = r"noise is smallest in \*\*([\w ]+)\*\* and largest in \*\*([\w ]+)\*\*"
    [(least, most)] = re.findall(sentence, page_text(app))
    assert noise[least] == noise.min()
    assert noise[most] == noise.max()


def test_the_map_opens_with_privacy_noise(open_page):
    app = open_page("london_noise_map")
    assert app.title[0].value == "Where does privacy blur the map?"
    assert app.segmented_control(key="map").value == "Privacy noise"
    offered = ["Privacy noise", "Published prices", "Uncertainty (95 %)", "Without privacy", "True prices"]
    assert app.segmented_control(key="map").options == offered
    for layer in layers(app).values():  # streamlit fades by these
        assert not {"getFillColor", "getColor"} & layer.keys()
    app.segmented_control(key="map").set_value("Published prices").run()
    assert "hex-private" in layers(app)


def test_the_page_opens_with_refined_cloaking(seen):
    app = seen("london_noise_map")
    assert app.selectbox(key="mechanism").value == CONTENDERS["refined"].title
    own, answer = (computed.errors(usual("london_hexes"), Design(each), OPENING) for each in ("refined", "bayes"))
    assert app.metric[0].value == text.factor_of(own.mean())
    assert app.metric[0].delta == f"Bayes cloaking (needs no lengthscale): {text.factor_of(answer.mean())}"
    sentence = r"refined cloaking predicts .* to within \*\*(.+?)\*\*.*needs no lengthscale: \*\*(.+?)\*\*\."
    [said] = re.findall(sentence, page_text(app))
    assert list(said) == [text.factor_of(each.mean()) for each in (own, answer)]


def test_earlier_links_show_the_2018_method(seen):
    app = seen("london_noise_map", beside="true", epsilon="5")
    assert app.segmented_control(key="beside").value == "Method of 2018 beside it"
    assert any(each.value.startswith("The method of 2018") for each in app.header)
    assert not app.warning
    assert seen("london_noise_map", beside="false").segmented_control(key="beside").value == "Alone"


@pytest.mark.parametrize("mechanism", ["refined", pytest.param("bayes", marks=pytest.mark.full)])
def test_privacy_noise_has_one_unit_everywhere(seen, mechanism):
    app = seen("london_noise_map", mechanism=mechanism, epsilon="3")
    table, unit = app.dataframe[0].value, maps.TIMES
    noise = table[f"privacy noise [{unit}]"]
    tile = next(each for each in app.metric if each.label == "Privacy noise")
    assert re.fullmatch(r"up to [\d.]+ times", tile.value)
    assert tile.delta == "too high or too low, in 95 of 100 releases"
    legends = [each.proto.body for each in app.get("html") if "linear-gradient(90deg" in each.proto.body]
    assert f"Privacy noise [{unit}]" in legends[0]
    assert f"times {unit.removeprefix('times ')})" in app.caption[0].value
    rows = layers(app)["hex-noise"]["data"]
    used = {tuple(row["fill"][:3]) for row in rows}
    assert len(used) == 6  # steps, each on the map, whatever the range
    counts = [sum(tuple(row["fill"][:3]) == colour for row in rows) for colour in used]
    assert min(counts) > len(rows) / 12
    assert noise.min() > 1


@pytest.mark.parametrize("kind", ["noise", "private", "truth"])
def test_the_caption_names_the_extremes(seen, kind):
    app = seen("london_noise_map", map=kind)
    table = app.dataframe[0].value
    values = table[table["sales"] > 0].groupby("borough")[LAYERS[kind].column].median()
    [(low, high)] = re.findall(r"^Lowest in (.+?) \(.*\), highest in (.+?) \(.*\)\.$", app.caption[0].value)
    assert (low, high) == (values.idxmin(), values.idxmax())


def test_a_map_that_is_all_hatched_says_so(seen):
    app = seen("london_noise_map", beside="published", map="private", epsilon="0.3")
    [said] = [each.value for each in app.caption if each.value.startswith("Every hexagon is hatched")]
    assert "more than 10 times" in said


def frames_in(words):
    """The frames of a moving map, (frames, 500, 600, 4)."""
    strip = Image.open(io.BytesIO(base64.b64decode(re.search(r"image/png;base64,([^)]+)\)", words)[1])))
    return np.asarray(strip.convert("RGBA")).reshape(-1, 500, 600, 4)


def test_twenty_releases_are_played_on_the_map(seen):
    app = seen("london_noise_map", play="true")
    words = page_text(app)
    assert 'class="player-play" checked' in words
    assert len({frame.tobytes() for frame in frames_in(words)}) == 20
    assert not app.get("deck_gl_json_chart")
    assert any("Budget spent on screen" in each.label for each in app.sidebar.expander)
    assert any("Together with what is drawn next to it" in each.value for each in app.sidebar.caption)


@pytest.mark.full
def test_played_prices_and_the_map_beside_them_share_colours(seen):
    app = seen("london_noise_map", play="true", beside="bayes", map="noise")
    ends = re.findall(r'aria-label="([^"]*, from £[^"]*)"', page_text(app))
    assert len(ends) == 2
    assert len(set(ends)) == 1


def test_epsilon_can_be_had_on_the_picture(open_page):
    app = open_page("london_noise_map")
    assert not [each for each in app.select_slider if each.key == "epsilon_picture"]
    app.toggle(key="epsilon_here").set_value(True).run()
    app.select_slider(key="epsilon_picture").set_value(2).run()
    assert app.select_slider(key="epsilon").value == 2
    assert "At epsilon = 2" in page_text(app)


@pytest.mark.parametrize("values", [np.linspace(1.14, 1.18, 50), np.full(50, 1.3), np.geomspace(1, 30, 50) ** 2])
def test_scale_steps_are_distinct_and_cover_values(values):
    marks = maps.steps_over(values)
    assert len(marks) == 7
    assert marks[0] <= values.min()
    assert values.max() <= marks[-1]
    assert (np.diff(marks) > 0).all()
    written = [text.number(mark, 4) for mark in marks]
    assert len(set(written)) == 7


@pytest.mark.full
def test_released_values_stay_within_public_bounds(seen):
    app = seen("london_noise_map", overlay="false", epsilon="0.1", map="truth")
    table = app.dataframe[0].value
    assert table["published price [GBP]"].between(250_000, 1_500_000).all()
    assert not [column for column in table if "not private" in column]
    assert app.segmented_control(key="map").value == "Privacy noise"
    assert "map = `truth`" in app.warning[0].value


@pytest.mark.full
def test_two_maps_share_one_scale(seen):
    app = seen(
        "london_noise_map", mechanism="refined", beside="true", epsilon="5", map="noise"
    )  # at less, all of 2018's is grey
    ours, paper = layers(app, 0)["hex-noise"]["data"], layers(app, 1)["hex-noise-beside"]["data"]
    noise = app.dataframe[0].value.set_index("cell")[LAYERS["noise"].column]
    fills = [tuple(row["fill"]) for row in sorted(ours, key=lambda row: noise[row["cell"]])]
    order = list(dict.fromkeys(fills))  # the steps, from least noise to most
    share = [
        {row["value"]: order.index(tuple(row["fill"])) for row in rows if row["fill"] != maps.UNSURE}
        for rows in (ours, paper)
    ]
    both = share[0].keys() & share[1].keys()
    assert len(both) > 3
    # values are shown rounded, so that one may stand at both sides of a mark
    assert all(abs(share[0][value] - share[1][value]) <= 1 for value in both)
    assert len([r for r in app.get("html") if "linear-gradient(90deg" in r.proto.body]) == 2


def test_the_noiseless_error_is_on_left_out_hexagons(seen):
    app = seen("london_noise_map")
    assert app.metric[1].value == text.factor_of(without_privacy("london_hexes", usual("london_hexes")))


@pytest.mark.parametrize("kind", ["noise", "private", "interval", "fit", "truth"])
def test_every_layer_draws(seen, kind):
    app = seen("london_noise_map", mechanism="refined", map=kind)
    assert not app.warning
    assert f"hex-{kind}" in layers(app)
    assert "hatch-truth" not in layers(app)  # where nothing is hidden nothing is hatched


@pytest.mark.parametrize("kind", ["private", "noise"])
def test_only_noisy_hexagons_are_hatched(seen, kind):
    app = seen("london_noise_map", mechanism="refined", map=kind, epsilon="0.2")
    noise = app.dataframe[0].value.set_index("cell")["privacy noise [times too high or too low]"]
    drawn = layers(app)
    rows = drawn[f"hex-{kind}"]["data"]
    grey = {row["cell"] for row in rows if row["fill"] == maps.UNSURE}
    assert grey == set(noise.index[noise > 10])
    assert 50 < len(grey) < len(rows) - 50
    assert all(row["fill"][3] == 255 for row in rows if row["cell"] not in grey)
    assert all(("tells nothing" in row["value"]) == (row["cell"] in grey) for row in rows)
    [shape] = drawn[f"hatch-{kind}"]["data"]["features"]
    middles = np.mean(shape["geometry"]["coordinates"], axis=1)
    assert {h3.latlng_to_cell(lat, lon, 7) for lon, lat in middles} == grey
    assert any("more than 10 times" in each.proto.body for each in app.get("html"))


def test_hexagons_are_picked_by_name(seen):
    app = seen("london_noise_map", hexagon="Camden 2")
    cell = app.table[0].value.index[0]
    assert app.table[0].value["borough"].iloc[0] == "Camden"
    price = app.table[0].value["published price [GBP]"].iloc[0]
    assert re.fullmatch(r"(1,)?\d{3},000", price)  # and no decimals
    assert f"hex-noise-{cell}" in layers(app)
    [ring] = layers(app)[f"outline-noise-{cell}"]["data"]
    assert sorted(map(tuple, ring["path"])) == sorted((lon, lat) for lat, lon in h3.cell_to_boundary(cell))
    app = seen("london_noise_map", hexagon="Atlantis 1")
    assert "this control has no such value. Showing hexagon = nothing" in app.warning[0].value
    assert "outline-noise" in layers(app)
    assert not app.table


@pytest.mark.full
def test_simulated_sales_say_so_and_need_less_noise(seen):
    simulated = seen("london_noise_map", map_dataset="london_sales")
    [badge] = [each.proto.help for each in simulated.markdown if "Simulated data" in each.value]
    assert "simulated from real hexagon medians" in badge
    medians = seen("london_noise_map", mechanism="refined")
    noise = "privacy noise [times too high or too low]"
    few, many = (each.dataframe[0].value[noise][:300].median() - 1 for each in (simulated, medians))
    assert few < many / 3


@pytest.fixture(scope="module")
def sales_result():
    """Everything the page needs for a few simulated sales, with noise from one stage."""
    few = london_sales.load(n=200)
    scene = results.scene_of(few, "london_hexes")
    model = Model("london_sales", "EQ", 15.0, 0.3)
    design, draw = Design(mechanism="cloaking"), Draw(1.0, 0.01)
    fit = results.stage_matrix(few, scene, model)
    plan = results.stage_plan(few, scene, fit, model, design)
    samples, guarantee = results.stage_draws(few, scene, plan, model, design, draw)
    intervals = results.Intervals.about(samples, *results.stage_halves(few, scene, plan, model, design, draw))
    plain = np.zeros(len(scene.X_test))
    return results.Result(model, design, draw, few, scene, plain, fit, plan, samples, guarantee, intervals)


@pytest.mark.full
def test_true_prices_are_means_of_cells(sales_result):
    data, label = sales_result.dataset, sales_result.dataset.labels["cell"]
    table = cell_table(sales_result, overlay=True).set_index("cell")
    for cell in set(label):
        inside = label == cell
        assert table.loc[cell, "true price [GBP] (not private)"] == np.exp(data.clipped_y[inside].mean()).round()
        assert table.loc[cell, "sales"] == inside.sum()
    assert table["sales"].sum() == data.n
    assert table["true price [GBP] (not private)"].isna().sum() == len(table) - len(set(label))


@pytest.mark.full_for("noise")
@pytest.mark.parametrize("kind", ["noise", "truth"])
def test_map_size_is_independent_of_sales(sales_result, kind):
    sizes = []
    for data in (sales_result.dataset, london_sales.load(n=200_000)):
        cells = cell_table(replace(sales_result, dataset=data), overlay=True)
        spec = maps.deck(cells, LAYERS[kind], kind, maps.boroughs()).to_json()
        [rows] = [layer["data"] for layer in json.loads(spec)["layers"] if layer["id"] == f"hex-{kind}"]
        assert len(rows) == len({row["cell"] for row in rows}) == 412
        sizes.append(len(spec))
    # only longer numbers ("1204 sales" for "3 sales"): a few bytes a cell
    assert sizes[1] < sizes[0] + 4 * 412 < 500_000


@pytest.mark.parametrize(("size", "least"), [(11, 20), (maps.TYPE_TELEPHONE, 10)], ids=["desk", "telephone"])
def test_names_on_the_map_do_not_overlap(size, least):
    """Where two are side by side their lines, of up to 7 times the type, leave room; elsewhere a line of type does."""
    cells = london_hexes.map_cells()
    cells = cells[cells["cell"].isin(london_hexes.greater_london())].assign(**{LAYERS["noise"].column: 1.0})
    drawn = maps.deck(cells, LAYERS["noise"], "noise", maps.boroughs(), type_size=size)
    names, view = drawn.layers[-1].data, drawn.initial_view_state
    width = 512 * 2**view.zoom / 360  # px a degree of longitude
    stretched = width / np.cos(np.radians(view.latitude))
    assert drawn.layers[-1].get_size == size
    assert len(names) >= least
    larger = size / 11
    for one, other in itertools.combinations(names, 2):
        (x, y), (u, v) = one["at"], other["at"]
        short = min(len(one["name"]), len(other["name"]))
        beside = abs(x - u) * width > larger * min(5 * short, 70)
        assert beside or abs(y - v) * stretched > 12 * larger


@pytest.mark.full
def test_the_price_spread_comes_from_the_release(seen):
    app = seen("london_noise_map", mechanism="bayes", map="people")
    table = app.dataframe[0].value
    result = computed.run(usual("london_hexes"), Design("bayes"), OPENING)
    shown = public_cells(result.scene)["cell"].isin(london_hexes.greater_london()).to_numpy()
    spread = 100 * np.expm1(result.intervals.residual_sd[shown])
    np.testing.assert_allclose(table["spread of prices [%]"], spread.round(1))
    assert "Spread of prices" in page_text(app)


# ---- The directions of M on the map: what they are, what one hexagon moves along each, and a picture that moves.


PAGE = "london_noise_map"


@pytest.fixture(scope="module")
def london():
    return computed.run(usual("london_hexes"), Design("cloaking"), OPENING)


@pytest.fixture(scope="module")
def found(london):
    return directions.directions_of(london)


def test_directions_cover_every_hexagons_moves(found):
    assert found.shapes.shape == (directions.COUNT, 412)  # the hexagons that are shown
    assert (np.diff(found.shares) <= 0).all()
    assert (found.moves <= found.sds / noise_multiplier(1.0, offers.DELTA) * (1 + 1e-6)).all()
    assert (found.furthest <= found.moves).all()  # one hexagon is a part of all
    assert (found.furthest > 0).all()


def test_frames_have_the_noises_distribution(found):
    frames = np.stack([directions.turning(found, seed, 4) for seed in range(400)])
    sds = frames.std(axis=0)  # of every hexagon, at every turn
    expected = np.sqrt((found.shapes**2).sum(axis=0))
    np.testing.assert_allclose(sds, np.broadcast_to(expected, sds.shape), rtol=0.25)


@pytest.mark.full
def test_each_direction_has_a_map(seen, found):
    app = seen(PAGE, mechanism="cloaking", directions="true")
    svg, titles = drawn(app)
    assert len(titles) == directions.COUNT
    assert titles[0] == f"1: {100 * found.shares[0]:.2g} %"
    assert svg.count("others by at most") == directions.COUNT
    assert svg.count("the price is multiplied by") == 1  # one legend


def test_the_animation_contains_every_frame(open_page, monkeypatch):
    monkeypatch.setattr(directions, "MAP_FRAMES", 6)
    app = open_page(PAGE, mechanism="cloaking", directions="true", overlay="false")
    words = page_text(app)
    assert words.count('class="player-') == 3
    frames = frames_in(words)
    assert len({frame.tobytes() for frame in frames}) == 6  # no two are the same
    outlines = frames[:, :, :, 3] > 0
    assert (outlines == outlines[0]).all()  # the same map in the same place
    assert 0.4 < outlines[0].mean() < 0.9


@pytest.mark.full
def test_staged_releases_show_cloakings_directions(seen):
    app = seen(PAGE, mechanism="bayes", directions="true")
    assert any("this shows plain cloaking" in each.value for each in app.caption)


def test_nothing_is_computed_before_it_is_asked_for(seen):
    app = seen(PAGE)
    assert "player-play" not in page_text(app)
    assert not app.get("image")


# ---- One hexagon's price changed: the same noise on other data, and a noise that hides the difference.


CAMDEN = "Camden 2"


def test_a_changed_price_meets_the_same_noise(london):
    data, plan = london.dataset, london.linear_plan
    cell = str(data.labels["cell"][17])
    found = one_hexagon.move(london, cell, 1_500_000)
    moved = np.log(1_500_000) - data.clipped_y[17]
    assert moved > 0.1
    np.testing.assert_allclose(found.after - found.before, np.asarray(plan.weights)[:, 17] * moved, atol=1e-9)
    assert found.moves[found.row] == pytest.approx(np.asarray(plan.weights)[17, 17] * moved)
    s = noise_multiplier(1.0, offers.DELTA)
    assert 0 < found.shift <= moved / data.output_range / s * (1 + 1e-6)
    same = one_hexagon.move(london, cell, float(np.exp(data.y[17])))
    np.testing.assert_allclose(same.after, same.before, atol=1e-12)


def test_a_picked_hexagon_can_have_another_price(open_page):
    app = open_page("london_noise_map", mechanism="cloaking", hexagon=CAMDEN)
    svg, _, titles = drawn(app)
    assert titles == list(one_hexagon._TITLES)
    said = r"£250k.*would move by \*\*(.+?) %\*\*.* by up to \*\*(.+?) %\*\*, in 95 of 100"
    [(moved, noise)] = re.findall(said, page_text(app))
    assert 1 < float(moved) < float(noise)
    assert any(each.value.startswith("The noise can move the published price") for each in app.caption)
    app.slider(key="moved_price").set_value(1500).run()
    assert not app.exception
    assert "**£1,500k** and the privacy noise stayed the same" in page_text(app)
    assert drawn(app)[0] != svg
    assert "moved_price=1500" in app.sidebar.code[0].value


def test_weak_privacy_does_not_hide_a_price(seen):
    app = seen("london_noise_map", mechanism="cloaking", hexagon=CAMDEN, epsilon="100")
    assert any("it is too small to hide it" in each.value for each in app.caption)


@pytest.mark.parametrize(
    "address", [{"overlay": "false"}, {"mechanism": "bayes"}, {"hexagon": "no sale here 1"}], ids=str
)
def test_some_hexagons_keep_their_price(seen, address):
    app = seen("london_noise_map", **({"mechanism": "cloaking", "hexagon": CAMDEN} | address))
    assert not app.exception
    assert app.table  # a hexagon is picked
    assert not [each for each in app.slider if each.key == "moved_price"]
    assert "moved_price" not in app.sidebar.code[0].value
    assert any("choose a method that adds noise once" in each.value for each in app.caption) == ("mechanism" in address)


def test_the_file_of_the_map_is_read_once(monkeypatch):
    shown = computed.scene("london_hexes")
    rows = map_rows(shown)
    monkeypatch.setattr(london_hexes, "_table", None)
    np.testing.assert_array_equal(map_rows(shown), rows)
