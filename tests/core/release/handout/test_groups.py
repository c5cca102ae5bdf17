import re
from dataclasses import replace

import numpy as np

from dpgp_core.release.figure import COLOURS, figure, groups_of

LEVELS = ("women & girls", "men", "other")


def of_groups(make_spec, **changes):
    given = {"x": ("age", "sex"), "x_units": ("years", ""), "x_box": ((0.0, 100.0), None), "grid": (4, None)}
    return make_spec(
        **given | {"x_levels": (None, LEVELS), "mechanism": "bayes_cells", "lengthscale": (25.0,)} | changes
    )


def test_each_group_has_its_own_points(make_spec):
    spec = of_groups(make_spec)
    groups, plain = groups_of(spec)
    assert [group.name for group in groups] == list(LEVELS)
    assert (plain.x, plain.grid, plain.x_levels) == (("age",), (4,), None)
    for i, group in enumerate(groups):
        np.testing.assert_array_equal(group.rows, np.arange(12)[i::3])
        np.testing.assert_array_equal(group.X[:, 0], np.linspace(0, 100, 4))
    assert len({(group.colour, group.dash) for group in groups}) == 3


def test_without_levels_there_is_one_group(make_spec):
    spec = make_spec(grid=(5,))
    [group], plain = groups_of(spec)
    assert (group.name, group.colour, plain) == ("", COLOURS[0], spec)


def test_levels_are_taken_out_and_longitude_comes_first_at_once(make_spec):
    spec = of_groups(
        make_spec,
        x=("lat", "sex", "day", "lon"),
        x_units=("°", "", "h", "°"),
        grid=(2, None, 3, 4),
        x_box=((51.0, 52.0), None, (0.0, 24.0), (-1.0, 0.0)),
        x_levels=(None, ("men", "women"), None, None),
        lengthscale=(9.0, None, 5.0, 8.0),
        coordinates=("lon", "lat"),
    )
    groups, drawn = groups_of(spec)
    assert (drawn.x, drawn.grid, drawn.lengthscale) == (("lon", "lat", "day"), (4, 2, 3), (8.0, 9.0, 5.0))
    for code, group in enumerate(groups):
        own = spec.points()[group.rows]
        np.testing.assert_array_equal(own[:, 1], code)
        np.testing.assert_array_equal(own[:, [3, 0, 2]], group.X)


def test_a_curve_for_each_group_and_who_is_who(make_spec, make_published):
    spec = of_groups(make_spec)
    drawn = figure(make_published(spec, [1.0] * 12), spec)
    assert drawn.count("<polygon") == 3
    assert "women &amp; gi…" in drawn or "women &amp; g" in drawn
    assert ">men</text>" in drawn
    assert "<polygon" in drawn


def test_twenty_groups_differ_in_their_look(make_spec):
    levels = tuple(f"region {i}" for i in range(20))
    spec = of_groups(make_spec, x_levels=(None, levels))
    groups, _ = groups_of(spec)
    assert len({(group.colour, group.dash) for group in groups}) == 20


def test_a_map_says_of_which_group_it_is(make_spec, make_published):
    spec = of_groups(
        make_spec,
        x=("east", "sex", "north"),
        x_units=("km", "", "km"),
        x_box=((0.0, 9.0), None, (0.0, 9.0)),
        x_levels=(None, ("men", "women"), None),
        grid=(3, None, 3),
        lengthscale=(2.0, None, 2.0),
    )
    drawn = figure(make_published(spec, [1.0] * 18), spec)
    assert "of men, released" in drawn
    assert ">north [km]</text>" in drawn


def test_every_group_has_numbers_at_its_centile_lines_that_do_not_lie_on_each_other(make_spec, make_published):
    spec = of_groups(make_spec, centiles=True, y_bounds=(0.0, 20.0))
    found = make_published(spec, [1.0] * 12)
    found = replace(found, centiles=tuple(np.full(12, 3.0 * each) for each in range(5)))
    numbers = re.findall(
        r'y="([\d.]+)" text-anchor="end" font-size="11"[^>]*fill="([^"]+)">(\d+)<', figure(found, spec)
    )
    assert sorted(int(number) for *_, number in numbers) == sorted([3, 15, 50, 85, 97] * 3)
    assert {colour for _, colour, _ in numbers} == set(COLOURS[:3])
    heights = sorted(float(height) for height, *_ in numbers)
    assert min(np.diff(heights)) > 10


def test_released_groups_never_have_the_blue_of_what_is_not_private():
    assert "#0072B2" not in COLOURS
