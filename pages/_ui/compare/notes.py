"""What the comparison says whatever its settings are: captions, notes, how it is computed, what to try."""

from __future__ import annotations

from pages._ui.compare.contenders import CONTENDERS
from pages._ui.left_out import FOLDS

ERRORS_CAPTION = (
    "Error of each method against epsilon. Bands hold 80 in 100 simulated releases. All hide outcomes; those with "
    "diamonds hide inputs too. Above epsilon = 1 the 2018 method has no proven guarantee. Click a point for a release."
)
LESSONS = (
    ("As in Smith et al. 2018: δ = 0.01.", {"delta": 0.01}),
    ("With strong privacy, do the bins catch up?", {"epsilon": 0.2}),
    ("The number of bins decides how good they are, and choosing it is not free.", {"bins": 30}),
    ("Two inputs: age and weight.", {"compare_dataset": "kung_2d"}),
    ("Prices in London.", {"compare_dataset": "london_hexes", "bins": 6}),
)
SO_FAR = "Error against epsilon, so far."
_DRAWS = {name: entry.simulated for name, entry in CONTENDERS.items()}
_MANY = max(_DRAWS.values())
_FEWER = ", ".join(f"{CONTENDERS[name].title} {draws}" for name, draws in _DRAWS.items() if draws < _MANY)
TABLE_NOTE = (
    "It takes the true data to know an error. ★: no other method that keeps its promise has a smaller error and "
    "protects as much. ± standard error: of the mean over the draws. Interval score: half the width of the range for "
    "one more person, plus 20 times how far people fall outside it. Smaller is better. Choosing by looking at this "
    "table is not private."
)
EXPLANATION = [
    (
        "Bayes cloaking (ours)",
        "recommended for a release. It needs no kernel, lengthscale or noise, and its release can be refitted for "
        "free. Its strategies are planned for the powers of four next to each ε. These plans are within 1 % of "
        "the optimum. Those of a release are ten times as close",
    ),
    (
        "Bayes cloaking (inputs too)",
        "the same on public cells, for whoever's inputs are private: on request, in the sidebar. Each draw plans its "
        "stages from what it has released, here as in a release",
    ),
    (
        "Error",
        f"root mean square on people left out, in {FOLDS} public parts. There are {_MANY} simulated releases each, "
        f"fewer where each is a fit of its own: {_FEWER}. The epsilon needed is found by root-finding, and of Bayes "
        "cloaking read off its curve. Without privacy: Bayes cloaking's models on the exact outputs, or the sidebar's "
        "model where that does better",
    ),
    ("Same draws", "every ε uses the same underlying noise, so curves are smooth and the root is well defined"),
    ("Seconds", "one fit and one release where it was worked out, folds averaged"),
    ("Bins", "regular over the public box; an empty bin says the midpoint of the bounds"),
    ("Inducing inputs", "k-means on the public inputs, seed fixed"),
    ("Delta", "the bins have none (delta = 0), the others that of the sidebar"),
    ("Refined cloaking", "clips residuals at a public bound; its guarantee composes two releases"),
]
