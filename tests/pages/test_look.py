from __future__ import annotations

import json

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest
from streamlit.testing.v1 import AppTest

from pages._ui.look import layout, plots, tables
from pages._ui.look.plots import band, finish


def charts(app):
    return [json.loads(each.proto.spec) for each in app.get("plotly_chart")]


def test_lesson_type_is_large_in_copies_only(open_page):
    for figure in charts(open_page("kung_curves", lesson="1")):
        layout = figure["layout"]
        sizes = [layout[axis]["tickfont"] for axis in ("xaxis", "yaxis")]
        sizes += [layout["font"], layout["legend"]["font"], layout["xaxis"]["title"]["font"]]
        assert {each["size"] for each in sizes} == {plots.LESSON}
    assert all("font" not in figure["layout"] for figure in charts(open_page("kung_curves")))


@pytest.mark.parametrize("height", [200, 310, 600])
def test_lesson_names_do_not_touch(height):
    figure = go.Figure()
    for at, end in enumerate((1.0, 1.01, 1.02, 9.0)):
        plots.draw_line(figure, [0, 1], [0, end], f"line {at}", "#000000")
    for drawn, type_size in ((plots.named_lines(finish(figure, height)), 12), (plots.enlarge(figure), plots.LESSON)):
        tall = drawn.layout.height - drawn.layout.margin.t - drawn.layout.margin.b
        heights = [note.y * tall + note.yshift for note in drawn.layout.annotations]
        assert len(heights) == 4
        assert (np.diff(heights) >= 1.2 * type_size).all()


def test_partial_results_follow_each_other_after_a_pause(monkeypatch):
    moment, drawn = [100.0], []
    monkeypatch.setattr(layout.time, "monotonic", lambda: moment[0])
    with layout.growing() as draw:
        for second in (0.0, 1.0, 2.9, 3.0, 5.9, 7.0):
            moment[0] = 100.0 + second
            draw(lambda: drawn.append(moment[0] - 100.0))
    assert drawn == [0.0, 3.0, 7.0]


def read(figure):
    """As a page gets it: written once, and read again without checks."""
    return tables.of_figure(go.Figure(figure.to_dict(), _validate=False))


def test_lines_at_the_same_points_are_one_part_of_a_table():
    figure = go.Figure()
    for name, x in (("a", [1.0, 2.0]), ("b", [1.0, 2.0]), ("c", [2.0, 3.0]), ("d", [2.0, 3.0]), ("e", [1.0, 2.0])):
        figure.add_scatter(x=x, y=[0.0, 1.0], name=name)
    assert [[*part.columns[1:]] for part in tables._parts(figure, False)] == [["a", "b"], ["c", "d"], ["e"]]
    assert tables.of_figure(figure).shape == (3, 6)


def test_tables_name_curves_bands_and_intervals():
    x, figure = np.array([1.0, 2.0]), go.Figure()
    band(figure, x, np.array([4.0, 4.0]), np.array([6.0, 8.0]), "#000000", 0.2, "band")
    figure.add_scatter(x=x, y=[1.0, 2.0], name="truth", meta=tables.NOT_PRIVATE)
    figure.add_scatter(x=x, y=[0.123456789, 3.0], name="curve", error_y={"array": [1, 1], "arrayminus": [2, 2]})
    figure.update_xaxes(title="age [years]")
    figure.update_yaxes(title="height [cm]")
    found = read(finish(figure, 300)).set_index("age [years]")
    assert {name: list(found[name]) for name in found} == {
        "band, lower end: height [cm]": [4.0, 4.0],
        "band, upper end: height [cm]": [6.0, 8.0],
        "curve: height [cm]": [0.123457, 3.0],
        "curve, lower end: height [cm]": [-1.87654, 1.0],
        "curve, upper end: height [cm]": [1.12346, 4.0],
        "truth: height [cm] (not private)": [1.0, 2.0],
    }
    assert next(iter(found)) == "curve: height [cm]"  # beside the input, where a telephone shows it
    assert list(found)[3].startswith("truth")


def test_tables_have_a_row_per_place():
    figure = go.Figure().add_scatter(x=[1.0, 2.0, 3.0], y=[1, 2, 3], name="line")
    figure.add_scatter(x=[1.0, 3.0], y=[5, 6], name="coarse").add_scatter(x=[1.0, 3.0], y=[7, 8], name="coarse")
    assert read(figure)["x"].tolist() == [1, 2, 3]
    assert read(figure)["coarse 2"].tolist()[::2] == [7, 8]
    figure.add_scatter(x=[2.0, 2.0], y=[9, 10], name="people", mode="markers", meta=tables.NOT_PRIVATE)
    figure.add_scatter(x=[1.0, 2.0, 3.0], y=[4, 5, 6], name="another")
    figure.add_scatter(x=[2.0], y=[2.0], mode="markers")  # marks a place of the line
    figure.add_scatter(x=[1.0], y=[7.0], name="played later", opacity=0)
    figure.add_scatter(x=[1.5], y=[0.0], name="inducing inputs", mode="markers", meta=tables.NO_VALUES)
    found = read(figure)
    assert found["x"].tolist() == [1, 2, 3, 2, 2]
    assert list(found) == ["x", "line", "coarse 1", "coarse 2", "another", "people (not private)"]
    assert found["people (not private)"].tolist()[3:] == [9, 10]


def test_figures_at_equal_places_share_a_table():
    one = go.Figure().add_scatter(x=[1.0, 2.0], y=[1.0, 2.0], name="a").update_yaxes(title="error [cm]")
    two = go.Figure().add_scatter(x=[1.0, 2.0], y=[3.0, 4.0], name="a").update_yaxes(title="noise [cm]")
    found = tables.of_figure(one, two, true_data=True, more={"draws": np.array([8, 9])})
    marked = "a: error [cm] (not private)", "a: noise [cm] (not private)"
    assert list(found) == ["x", *marked, "draws"]
    assert found.to_numpy().tolist() == [[1, 1, 3, 8], [2, 2, 4, 9]]


def test_a_file_with_true_data_is_named_so(monkeypatch):
    named = []
    monkeypatch.setattr(layout.st, "download_button", lambda label, data, name, *_, **__: named.append(name))
    monkeypatch.setattr(layout.pictures, "table", lambda *_: None)
    layout.table(pd.DataFrame({"x": [1]}), "curves")
    layout.table(pd.DataFrame({"people (not private)": [1]}), "curves")
    layout.table(pd.DataFrame({"x": [1]}), "curves", true_data=True)
    assert named == ["curves.csv", "curves-with-true-data.csv", "curves-with-true-data.csv"]


def test_digits_follow_the_interval():
    ends = {"range from [cm]": [9.241, 9.5], "range to [cm]": [11.241, 11.5]}
    rows = pd.DataFrame(
        {"age [years]": [0.25, 1.5], "curve [cm]": [10.241, 10.5], **ends, "probability [%]": [1.5, 2.25]}
    )
    assert tables.decimals_of(rows) == {
        "age [years]": "%.3f",
        **dict.fromkeys(("curve [cm]", *ends), "%.0f"),
        "probability [%]": "%.3f",
    }
    figure = go.Figure().add_scatter(x=[0, 1], y=[1.23456, 2.5], name="curve", error_y={"array": [0.3, 0.4]})
    found = tables.of_figure(figure.update_yaxes(title="height [cm]"))
    assert set(list(tables.decimals_of(found).values())[-3:]) == {"%.1f"}
    assert tables.decimals_of(pd.DataFrame({"error [%]": [45.25, 48516519440.9]})) == {"error [%]": "%.3g"}
    assert tables.decimals_within([0.0], [200.0]) == 0
    assert tables.decimals_within([1.0], [1.0]) == 6  # known exactly


def test_names_leave_room_for_the_toolbar():
    def above(height: float) -> float:
        figure = finish(go.Figure().add_scatter(x=[0, 1], y=[0, height], name="line").update_yaxes(range=[0, 1]), 400)
        return plots.named_lines(figure).layout.margin.t

    assert above(0.99) >= above(0.5) + 20


def test_named_rows_have_a_line_each():
    figure = go.Figure().add_scatter(x=[1.0, np.nan, 2.0], y=["truth", "truth", "path"], name="found")
    found = tables.of_figure(figure.update_traces(meta=tables.NOT_PRIVATE))
    assert found.to_numpy().tolist() == [["found (not private)", "truth", 1], ["found (not private)", "path", 2]]


def test_tables_describe_histograms_and_maps():
    figure = go.Figure().add_histogram(
        x=np.array([0.1, 0.2, 0.9, 3.0]),
        xbins={"start": 0.0, "end": 1.0, "size": 0.5},
        histnorm="percent",
        name="draws",
    )
    found = read(figure)
    assert list(found) == ["x", "draws"]
    assert found.to_numpy().tolist() == [[0.25, 50.0], [0.75, 25.0]]
    bar = {"title": {"text": "a &amp; b"}}
    found = read(go.Figure().add_heatmap(x=[1, 2, 3], y=[0.5, 1], z=np.arange(6.0).reshape(2, 3), colorbar=bar))
    assert list(found.columns) == ["x", "y", "a & b"]
    assert found.to_numpy().tolist()[:4] == [[1, 0.5, 0], [2, 0.5, 1], [3, 0.5, 2], [1, 1, 3]]


def test_names_stay_at_line_ends():
    figure = go.Figure()
    for name, end in (("perfect", 95), ("long name of ours", 99), ("Bayes", 97), ("other", 30)):
        figure.add_scatter(x=[0, 1], y=[0, end], name=name, line={"color": "red"})
    figure.update_yaxes(range=[0, 100])
    named = plots.named_lines(finish(figure, 400), {"long name of ours": "ours", "Bayes": ""})
    notes = named.layout.annotations
    assert [each.text.split()[-1] for each in notes] == ["other", "perfect", "ours"]  # from the lowest
    tall = 400 - named.layout.margin.t - named.layout.margin.b
    places = [each.y * tall + each.yshift for each in notes]
    assert places[0] == 0.3 * tall
    assert np.diff(places).min() >= 15
    assert places[-1] <= tall + named.layout.margin.t / 2
    assert named.layout.showlegend is False


def test_lines_that_end_together_share_a_number():
    x, figure = np.linspace(0.0, 90.0, 50), go.Figure()
    ends = {3: 80.0, 15: 105.0, 50: 136.0, 85: 158.0, 97: 158.0}
    plots.centile_lines(figure, x, {at: np.full(50, end) for at, end in ends.items()}, plots.PRIVATE, "published")
    assert list(figure.data[-1].text) == ["3", "15", "50", "85–97"]
    assert np.diff(figure.data[-1].y).min() > 20


def test_rows_are_named_above_them():
    figure = plots.rows_named_inside(plots.finish(go.Figure(go.Scatter(x=[0, 1, 0], y=["a", "b", "a"])), 240))
    assert [(note.text, note.y, note.x) for note in figure.layout.annotations] == [("a", "a", 0), ("b", "b", 0)]
    assert all(note.yshift > 0 for note in figure.layout.annotations)
    assert figure.layout.yaxis.showticklabels is False  # plotly hides marks of the other axis below names inside


def test_captions_replace_descriptions_on_screen():
    """One sentence below a figure, or nothing; the long description is the chart's name for screen readers."""

    def page(caption):
        import plotly.graph_objects as go

        from pages._ui.look import pictures, settings

        settings.begin()
        pictures.begin()
        pictures.chart(go.Figure(go.Scatter(x=[1], y=[2])), "one", "From 1 to 2.", caption=caption)

    for caption, below, told in (("It rises.", ["It rises."], True), ("", [], True), (None, ["From 1 to 2."], False)):
        app = AppTest.from_function(page, kwargs={"caption": caption}).run()
        assert not app.exception
        assert [each.value for each in app.caption] == below
        assert ("From 1 to 2." in app.get("plotly_chart")[0].proto.alt) == told


@pytest.mark.parametrize(("right", "above", "corner"), [(False, True, "top left"), (True, False, "bottom right")])
def test_lines_over_a_plot_are_those_of_plotly(right, above, corner):
    line, figures = {"color": "#123456", "width": 1}, (go.Figure(), go.Figure())
    plots.upright_line(figures[0], 2.5, line, "here")
    plots.level_line(figures[0], -1.0, line, "there", right=right, above=above)
    plots.level_line(figures[0], 1.0, line)
    figures[1].add_vline(x=2.5, line=line, annotation_text="here")
    figures[1].add_hline(y=-1.0, line=line, annotation_text="there", annotation_position=corner)
    figures[1].add_hline(y=1.0, line=line)
    assert figures[0] == figures[1]
