"""What is drawn on axes, and what keeps labels apart."""

from itertools import pairwise

import numpy as np
import pytest
from matplotlib.figure import Figure

from dpgp_core.figures.drawing import (
    Curve,
    Side,
    draw_cells,
    draw_curves,
    keep_apart,
    settle,
    spread,
    write_at_end,
)

SQUARE = np.array([[0.0, 0], [1, 0], [1, 1], [0, 1]])


def axes():
    return Figure(figsize=(10, 5), dpi=72).subplots()


def test_heights_are_moved_as_little_as_possible():
    assert spread([1.0, 5.0, 9.0], 2.0, 0.0, 10.0) == [1, 5, 9]
    assert spread([5.0, 5.0], 2.0, 0.0, 10.0) == [4, 6]  # both to the same extent
    assert spread([0.0, 0.0, 9.0], 2.0, 0.0, 10.0) == [0, 2, 9]
    assert spread([9.5, 9.9], 2.0, 0.0, 10.0) == [8, 10]
    np.testing.assert_allclose(spread([5.0] * 11, 2.0, 0.0, 10.0), np.arange(11))  # the gap is smaller if room lacks
    assert spread([3.0], 2.0, 0.0, 10.0) == [3]


def test_names_at_line_ends_do_not_overlap():
    ax = axes()
    ax.set_ylim(0, 1)
    for at in range(8):
        write_at_end(ax, 0.5 + at / 1000, f"name {at}", "#000000")
    settle([ax])
    boxes = sorted((each.get_window_extent() for each in ax.texts), key=lambda box: box.y0)
    assert all(above.y0 >= below.y1 - 1e-6 for below, above in pairwise(boxes))
    assert [each.get_text() for each in sorted(ax.texts, key=lambda text: text.get_window_extent().y0)] == [
        f"name {at}" for at in range(8)
    ]
    assert all(ax.bbox.y0 - box.height <= box.y0 <= ax.bbox.y1 for box in boxes)


def test_overlapping_notes_move_down():
    ax = axes()
    place = {"xycoords": "axes fraction", "textcoords": "offset points"}
    for words in ("painting everything", "Bayes cloaking", "without privacy"):
        keep_apart(ax.annotate(words, (0.5, 1.0), (0, 0), va="top", **place))
    settle([ax])
    boxes = [each.get_window_extent() for each in ax.texts]
    assert not any(box.overlaps(other) for at, box in enumerate(boxes) for other in boxes[:at])
    assert all(each.get_visible() for each in ax.texts)


def test_map_names_without_room_are_left_out():
    ax = axes()
    names = [("a large district", 0.5, 0.5), ("a small one", 0.52, 0.5), ("far away", 0.5, 0.9)]
    draw_cells(ax, [SQUARE], np.ones((1, 4)), names=names)
    settle([ax])
    assert [each.get_text() for each in ax.texts if each.get_visible()] == ["a large district", "far away"]


@pytest.mark.parametrize(("hatched", "count"), [([False, False], 1), ([True, False], 2)])
def test_only_cells_that_are_not_useful_are_hatched(hatched, count):
    ax = axes()
    draw_cells(ax, [SQUARE, SQUARE + 1], np.ones((2, 4)), hatched=np.array(hatched))
    assert len(ax.collections) == count
    assert ax.get_aspect() == 1
    assert [each.get_hatch() for each in ax.collections[1:]] == ["////"] * (count - 1)


def test_a_legend_names_what_there_is():
    x = np.arange(3.0)
    side = Side("x", (0.0, 2.0), [])
    plain = Curve(number=0, name="", x=x, values=x, low=x - 1, high=x + 1)
    ax = axes()
    draw_curves(ax, [plain], side, side)
    assert [each.get_text() for each in ax.get_legend().get_texts()] == [
        "released curve",
        "95 % interval for the curve",
    ]
    full = Curve(
        number=0,
        name="$women$",
        x=x,
        values=x,
        low=x,
        high=x,
        useful=np.array([True, False, True]),
        centiles={3: x - 2, 97: x + 2},
    )
    ax = axes()
    draw_curves(ax, [full], side, side)
    legend = ax.get_legend().get_texts()
    assert [each.get_text() for each in legend] == [
        "$women$",
        "95 % interval for the curve",
        "too uncertain to be useful",
        "centiles of people",
    ]
    assert not any(each.get_parse_math() for each in legend)
    assert [each.get_text() for each in ax.texts] == ["3", "97"]
