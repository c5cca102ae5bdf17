"""Controls of the attack page."""

from __future__ import annotations

from dpgp_core.attack.lira import Inputs
from pages._ui.attack.attacks import OutputAttack, PathAttack, Target
from pages._ui.look.bound import choice, folded, into, pick, side
from pages._ui.look.offers import DELTA_TITLE, PATH_DELTAS, DropDown
from pages._ui.look.sidebar import delta_fits, path_controls, paths_released, privacy
from pages._ui.model import Model
from pages._ui.work import cached

SHADOWS = (1000, 3000, 10000)
TARGET: DropDown[Target] = DropDown(
    "attack_on",
    {
        "cloaking": "Cloaked !Kung curve",
        "gp_prior": "!Kung curve with GP-prior noise",
        "paths": "Posterior paths (LiRA)",
    },
)
INPUTS: DropDown[Inputs] = DropDown("inputs", {"halves": "Balanced around the target", "uniform": "Anywhere"})


def attack_setting() -> PathAttack | OutputAttack:
    """The sidebar of the attack page: what is attacked, and the attack's settings."""
    budget = side().container()
    with side():
        target = pick("Attack on", TARGET)
    if target != "paths":
        with into(budget):
            draw = privacy()
        delta_fits(draw.delta, cached.dataset("kung").n)
        with folded("Attack"):
            trials = choice("Simulated releases", "shadows", SHADOWS, 10000)
        return OutputAttack(Model("kung", "EQ", 25.0, 0.3), target, draw, int(trials))
    r, sigma = path_controls(0.5, 1, "attack_")
    with folded("Attack"):
        paths = paths_released("attack_")
        delta = choice(DELTA_TITLE, "attack_delta", PATH_DELTAS, 0.01)
        trials = choice(
            "Shadow data sets", "shadows", SHADOWS, 10000, help="Simulated data like the real one, of each kind."
        )
        inputs = pick("Other people", INPUTS, help="Where the inputs of the other nine people lie.")
    return PathAttack(r, sigma, paths, float(delta), inputs, int(trials), 1)
