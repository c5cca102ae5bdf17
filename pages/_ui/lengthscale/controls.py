"""Controls of the lengthscale page."""

from __future__ import annotations

import math
from dataclasses import replace

import streamlit as st

from datasets import EXHIBITS, exhibit
from dpgp_core.accounting.guarantee import Guarantee
from dpgp_core.selection.exponential import MechanismName
from pages._ui import session
from pages._ui.lengthscale.choice import Budgets, Grid
from pages._ui.look import offers, pictures
from pages._ui.look.bound import choice, folded, into, pick, side
from pages._ui.look.offers import EPSILONS, DropDown, lengthscale_key, of_datasets
from pages._ui.look.sidebar import dataset, delta_fits, hall_fits, noise_control, privacy
from pages._ui.model import Design, Model, mechanism_of
from pages._ui.work import cached

SELECTION_EPSILONS = (0.1, 0.2, 0.5, 1, 2, 5, 10)
DATASET = of_datasets(
    "choice_dataset",
    (
        exhibit
        for scene in ("curve", "map")
        for exhibit in EXHIBITS.values()
        if exhibit.scene == scene and exhibit.cross_validated
    ),
)
CHOICE_BY: DropDown[MechanismName] = DropDown(
    "choice_by", {"exponential": "Exponential mechanism", "permute_and_flip": "Permute-and-flip"}
)


def choice_settings() -> tuple[Grid, Budgets, Guarantee]:
    """The whole sidebar: candidates, budgets, and the guarantee of the release that follows."""
    draw = privacy(in_sight=True)
    selection = choice(
        "ε of the choice: more private ⟷ more accurate",
        "selection_epsilon",
        SELECTION_EPSILONS,
        1,
        help="Budget of choosing the lengthscale. The slider above is the budget of the release that follows.",
    )
    name = dataset(DATASET)
    delta_fits(draw.delta, cached.dataset(name).n)
    shipped = exhibit(name)
    with into(side()):
        mechanism = pick("Choice by", CHOICE_BY)
        kernel = pick("Kernel", offers.KERNEL)
    shortest, longest = min(shipped.lengthscales), max(shipped.lengthscales)
    side().caption(
        f"Lengthscale: chosen among {shortest:g} to {longest:g} {shipped.unit}. Method of the release: cloaking."
    )
    with folded("Model"):
        noise = noise_control()
    with folded("Expert"):
        objective = pick("Noise objective", offers.OBJECTIVE)
        calibration = pick("Calibration", offers.CALIBRATION)
        hall_fits(calibration, draw.epsilon)
    grid = Grid(Model(name, kernel, shipped.lengthscale, noise), shipped.lengthscales, objective)
    budgets = Budgets(float(selection), draw.epsilon, draw.delta, calibration, mechanism)
    release = mechanism_of(grid.model, Design("cloaking", objective), replace(draw, calibration=calibration))
    return grid, budgets, release.guarantee


def carry_tile() -> None:
    """Callback: the clicked tile's lengthscale and epsilon become the state of the other pages."""
    tile = pictures.clicked("tiles")
    if tile is None:
        return
    lengthscale, epsilon = tile
    name = DATASET.value(session.control(DATASET.key))
    taken = {lengthscale_key(exhibit(name)): f"{lengthscale:g}"}
    if epsilon in EPSILONS:
        session.move({"epsilon": next(option for option in EPSILONS if option == epsilon)})
    session.CARRIED.put(session.CARRIED.get({}) | taken)
    session.TILE.put((lengthscale, epsilon))


def carried_tile(unit: str) -> None:
    """What was clicked, and where it can be taken."""
    tile = session.TILE.find()
    if tile is None:
        return
    lengthscale, epsilon = tile
    release = f" at ε = {epsilon:g}" if math.isfinite(epsilon) else ""
    st.success(f"Taken along: lengthscale {lengthscale:g} {unit}{release}. The other pages open with it.")
    with st.container(horizontal=True):
        for page in ("kung_curves", "london_noise_map"):
            st.page_link(f"../{page}.py", icon=":material/arrow_forward:")  # by the page's title
