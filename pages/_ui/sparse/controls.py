"""Controls of the sparse page."""

from __future__ import annotations

from typing import Literal

from datasets import EXHIBITS, exhibit
from pages._ui.look.bound import choice, folded, pick, side
from pages._ui.look.offers import DropDown, of_datasets
from pages._ui.look.sidebar import dataset, delta_fits, draw_number, lengthscale, noise_control, overlay, privacy
from pages._ui.sparse.setting import SparseSetting, load

SparseView = Literal["fits", "errors", "choice"]
DATASET = of_datasets(
    "sparse_data",
    (
        exhibit
        for simulated in (True, False)
        for exhibit in EXHIBITS.values()
        if exhibit.sparse is not None and exhibit.simulated == simulated
    ),
)
VIEW: DropDown[SparseView] = DropDown(
    "sparse_view",
    {"fits": "Fits and calibration", "errors": "Errors against ε", "choice": "Choosing hyperparameters"},
)


def sparse_settings() -> tuple[SparseSetting, SparseView, bool]:
    """The whole sidebar: what is released, which of its figures are shown, and whether the overlay is on."""
    draw = privacy()
    name = dataset(DATASET)
    start = exhibit(name).sparse
    assert start is not None
    delta_fits(draw.delta, load(name).n)
    show = overlay()
    with side():
        view = pick("Show", VIEW)
    with folded("Model"):
        length = lengthscale(name, "Lengthscale [{}]")
        noise = noise_control(start.noise, help=None, key=f"noise_{name}")
        count = choice(
            "Inducing inputs along each input", f"inducing_{name}", start.inducing, start.start, help="Public."
        )
        seed = draw_number()
    return SparseSetting(name, length, noise, int(count), draw.epsilon, draw.delta, seed), view, show
