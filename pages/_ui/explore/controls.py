"""Sidebar of the page that explores a release, and the choice of the release."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import streamlit as st

from dpgp_core.gp.uncertainty import IntervalTarget
from dpgp_core.measurement.statistics import Released
from pages._ui import environment
from pages._ui.explore import statistic
from pages._ui.explore.posterior import SHARES, Filtered
from pages._ui.explore.statistic import (
    EXPLORED,
    EXPLORED_FILES,
    EXPLORED_SETTINGS,
    ExampleDraw,
    Explored,
    Refit,
    Upload,
)
from pages._ui.look import offers, settings
from pages._ui.look.controls import HERE, SIDE, TOP, Menu, Slider, menu
from pages._ui.look.settings import Settings, control
from pages._ui.look.sidebar import delta_fits
from pages._ui.look.text import plain, round_step
from pages._ui.work import cached, waiting

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

POINTS = (50, 100, 200, 400)
LEVELS = (50, 80, 90, 95, 99)
_LEVELS_OFFERED = 20  # at least
QUESTION = menu(
    "What to ask",
    "explore_shown",
    {
        "curve": "The curve",
        "centiles": "Centiles of people",
        "threshold": "Where is it above a level?",
        "difference": "Difference of two groups",
    },
    buttons=True,
    section=HERE,
)
EXAMPLE = menu(
    "Example",
    "explore_example",
    {"kung": "!Kung heights", "kung_sexes": "!Kung heights of women and men"},
    section=TOP,
)
ALL_GROUPS = "All groups"
_READING = "Reading"
AVERAGED = menu("Lengthscale", "explore_model", {"average": "Average of all", "one": "One that I choose"})
OF: Menu[IntervalTarget] = menu(
    "Range for", "explore_of", {"function": "The curve", "outputs": "One more person"}, section=_READING
)
_SHARE = Slider(
    "explore_share",
    "Lengthscale [% of the domain]",
    25,
    SHARES,
    help="Change it as often as you like. The data are not read again.",
)
_POINTS = Slider(
    "explore_points", "Points of the grid", 200, POINTS, help="New points cost nothing either.", section=_READING
)
_LEVEL = Slider("explore_level", "Probability of the range [%]", 95, LEVELS, section=_READING)


def _is_example(_: Any = None) -> bool:
    """Return whether the release on screen is the shipped example and not a visitor's."""
    return EXPLORED.find() is None


def _asks(*kinds: str) -> Callable[[Any], bool]:
    """Return whether one of these questions is asked, as a condition of a control; the others do not depend on it."""
    return lambda _: settings.ahead(QUESTION) in kinds


def _share(chosen: Any) -> Slider[float]:
    return _SHARE if chosen.averaged == "one" else replace(_SHARE, section=_READING, disabled=True)


@dataclass(frozen=True, kw_only=True)
class ExploreSettings(Settings):
    """Sidebar: the release, and the settings with which it is read."""

    epsilon: float = control(offers.EPSILON, when=_is_example)
    delta: float = control(offers.PROMISED, when=_is_example)
    example: str = control(
        EXAMPLE, when=_is_example, below=lambda chosen: delta_fits(chosen, cached.dataset(chosen.example).n)
    )
    number: int = control(replace(offers.DRAW, help="Which simulated release."), when=_is_example)
    averaged: str = control(AVERAGED, when=_asks("curve"))
    share: float = control(_share, when=_asks("curve"))
    kernel: str = control(replace(offers.KERNEL, section=_READING))
    points: int = control(_POINTS, when=_asks("curve", "centiles", "threshold"))


@dataclass(frozen=True)
class View:
    """How a refit is shown.

    Attributes:
        level: confidence level of the interval, in (0, 1).
        of: whether the interval is for the curve or for outputs.
        threshold: threshold in the output's unit; None for none.
        centiles: whether the centiles of people are shown instead of an interval.
        group: number of the group that is shown; None for all.
        pair: numbers of two groups whose difference is shown; None for none.
    """

    level: float
    of: IntervalTarget
    threshold: float | None
    centiles: bool = False
    group: int | None = None
    pair: tuple[int, int] | None = None


class Chosen(NamedTuple):
    """A release, and the settings of its reading and view.

    Attributes:
        example: shipped example; None for a visitor's release.
        settings: number of settings that this session has looked at.
    """

    explored: Explored
    read: Filtered
    view: View
    example: ExampleDraw | None
    refit: Refit
    settings: int

    @property
    def statistics(self) -> Released:
        """The released numbers."""
        return self.explored.statistics


def chosen(question: DeltaGenerator) -> Chosen:
    """Draw the whole sidebar and return its choices; the question is drawn in the container ``question``."""
    _choose_source()
    sidebar, example = settings.chosen(ExploreSettings), None
    if _is_example():
        example = ExampleDraw(sidebar.example, float(sidebar.epsilon), float(sidebar.delta), sidebar.number)
    one = SHARES.index(sidebar.share) if sidebar.averaged == "one" else None
    refit = Refit(sidebar.kernel, sidebar.points, one)
    try:
        explored, read = statistic.read_again(example, refit)
    except ValueError as error:
        refuse(error)
    view = _view(explored, read, question, example)
    viewed = EXPLORED_SETTINGS.get(frozenset()) | {repr((refit, view))}
    EXPLORED_SETTINGS.put(viewed)
    return Chosen(explored, read, view, example, refit, len(viewed))


def refuse(error: ValueError) -> NoReturn:
    """Say why a release cannot be read, and end the page here."""
    st.error(plain(f"{error}."))
    waiting.end_page()


def _view(explored: Explored, read: Filtered, question: DeltaGenerator, example: ExampleDraw | None) -> View:
    """Draw the question with its controls next to it; the other controls are under More."""
    groups, one_input = read.groups, len(explored.statistics.numbers) == 1
    compare = len(groups) > 1 and one_input and len(explored.statistics.categories) == 1
    with question:
        kind = settings.value_of(QUESTION.among([each for each in QUESTION.titles if compare or each != "difference"]))
        group, pair = _groups(groups, kind == "difference", one_input)
    of = settings.value_of(replace(OF, disabled=kind != "curve"))
    level = settings.value_of(replace(_LEVEL, disabled=kind not in ("curve", "difference")))
    threshold = None
    if kind == "threshold":
        with question:
            threshold = _threshold(explored, example)
    return View(
        level=level / 100,
        of=of,
        threshold=threshold,
        centiles=kind == "centiles",
        group=group,
        pair=pair,
    )


def _threshold(explored: Explored, example: ExampleDraw | None) -> float:
    """Return a threshold in the output's unit. For a visitor's own release it is not part of the address."""
    low, high = explored.statistics.bounds
    step = round_step((high - low) / _LEVELS_OFFERED)
    count = range(math.floor(low / step) + 1, math.ceil(high / step))
    levels = offers.whole([float(f"{each * step:.10g}") for each in count])
    unit, middle = plain(explored.statistics.y_unit), levels[len(levels) // 2]
    label = f"Level [{unit}]" if unit else "Level"
    if example is None:
        return float(st.select_slider(label, levels, middle, key=f"own_explored_level_{low:g}_{high:g}"))
    key = f"explore_level_{example.dataset}"
    return float(settings.value_of(Slider(key, label, middle, levels, section=HERE)))


def _groups(names: tuple[str, ...], two: bool, all_together: bool) -> tuple[int | None, tuple[int, int] | None]:
    """Return the group on screen, or the two to compare. Names may be a visitor's words, so the address does not
    contain them.
    """
    if len(names) == 1:
        return None, None
    if two:
        left, right = st.columns(2)
        first = left.selectbox("Group", names, key="own_explored_first")
        second = right.selectbox("less", [name for name in names if name != first], key="own_explored_second")
        return None, (names.index(first), names.index(second))
    offered = [*([ALL_GROUPS] if all_together else []), *names]
    name = st.selectbox("Group", offered, key="own_explored_group")
    return (None if name == ALL_GROUPS else names.index(name)), None


def _choose_source() -> None:
    """Let the visitor choose between the own and the shipped release."""
    with settings.container(SIDE):
        st.subheader("Release")
        if environment.switched_on("DPGP_UPLOADS"):
            _upload()
        upload = EXPLORED.find()
        if upload is None:
            st.caption(":material/school: Shown: a simulated release.")
        else:
            st.caption(f":material/folder_zip: Shown: {plain(upload.name)}. It is kept in this session only.")
            st.button("Back to the example", on_click=_back, width="stretch")


def _upload() -> None:
    uploaded = st.file_uploader(
        "A published release: its zip, or release.json and statistics.npz",
        type=["zip", "json", "npz"],
        accept_multiple_files=True,
        key=f"own_explored_file_{EXPLORED_FILES.get(0)}",
        help="Up to 5 MB. It stays in this session's memory: not in a file, not shared, not in an address.",
    )
    if not uploaded:
        return
    files = {each.name: each.getvalue() for each in uploaded}
    fresh = Upload(" and ".join(files), files)
    held = EXPLORED.find()
    if held is not None and held.digest == fresh.digest:
        return
    statistic.drop()
    try:
        cached.of_one_session("Reading the release", statistic.opened, files)
    except ValueError as error:
        st.error(plain(f"{error}."))
        return
    EXPLORED.put(fresh)


def _back() -> None:
    statistic.drop()
    EXPLORED_FILES.put(EXPLORED_FILES.get(0) + 1)
