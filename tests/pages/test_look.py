from __future__ import annotations

import json

import numpy as np
import plotly.graph_objects as go

from pages._ui.look import plots, tables
from pages._ui.look.plots import band, finish


def charts(app):
    return [json.loads(each.proto.spec) for each in app.get("plotly_chart")]


def test_type_is_large_in_a_lesson_and_the_figure_that_everybody_shares_is_left_alone(open_page):
    for figure in charts(open_page("kung_curves", lesson="1")):
        layout = figure["layout"]
        sizes = [layout[axis]["tickfont"] for axis in ("xaxis", "yaxis")]
        sizes += [layout["font"], layout["legend"]["font"], layout["xaxis"]["title"]["font"]]
        assert {each["size"] for each in sizes} == {plots.LESSON}
    assert all("font" not in figure["layout"] for figure in charts(open_page("kung_curves")))


def read(figure):
    """As a page gets it: written once, and read again without checks."""
    return tables.of_figure(go.Figure(figure.to_dict(), _validate=False))


def test_a_table_tells_curves_bands_and_intervals_by_their_ends():
    x, figure = np.array([1.0, 2.0]), go.Figure()
    band(figure, x, np.array([4.0, 4.0]), np.array([6.0, 8.0]), "#000000", 0.2, "band")
    figure.add_scatter(x=x, y=[0.123456789, 3.0], name="curve", error_y={"array": [1, 1], "arrayminus": [2, 2]})
    figure.update_xaxes(title="age [years]")
    found = read(finish(figure, 300))
    assert list(found.columns) == ["what", "age [years]", "y"]
    rows = {what: list(group["y"]) for what, group in found.groupby("what")}
    assert rows["band, upper end"] == [6.0, 8.0]
    assert rows["band, lower end"] == [4.0, 4.0]
    assert rows["curve"] == [0.123457, 3.0]
    assert rows["curve, upper end"] == [1.12346, 4.0]
    assert rows["curve, lower end"] == [-1.87654, 1.0]


def test_a_table_tells_histograms_by_their_bins_and_maps_by_their_values():
    figure = go.Figure().add_histogram(
        x=np.array([0.1, 0.2, 0.9, 3.0]),
        xbins={"start": 0.0, "end": 1.0, "size": 0.5},
        histnorm="percent",
        name="draws",
    )
    found = read(figure)
    assert found.to_numpy().tolist() == [["draws", 0.25, 50.0], ["draws", 0.75, 25.0]]
    bar = {"title": {"text": "a &amp; b"}}
    found = read(go.Figure().add_heatmap(x=[1, 2, 3], y=[0.5, 1], z=np.arange(6.0).reshape(2, 3), colorbar=bar))
    assert list(found.columns) == ["x", "y", "a & b"]
    assert found.to_numpy().tolist()[:4] == [[1, 0.5, 0], [2, 0.5, 1], [3, 0.5, 2], [1, 1, 3]]


def test_names_stand_at_their_lines_ends_in_the_picture_and_not_upon_each_other():
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
