"""What the comparison says whatever its settings are: captions, notes, how it is computed, what to try."""

from __future__ import annotations

from pages._ui.compare.contenders import CONTENDERS
from pages._ui.folds import FOLDS

ERRORS_CAPTION = (
    "Expected held-out error of each mechanism against ε; bands hold 80 % of simulated draws. All protect outputs "
    "only but those with diamonds, which protect inputs too. The bins are pure ε-DP (δ = 0), "
    "the others have the δ of the sidebar; the published form is no promise above ε = 1. Click a point for a release."
)
LESSONS = (
    ("As in Smith et al. 2018: δ = 0.01.", {"delta": 0.01}),
    ("Strong privacy: do the bins catch up?", {"epsilon": 0.2}),
    ("The number of bins decides how good they are, and choosing it is not free.", {"bins": 30}),
    ("Two inputs: age and weight.", {"compare_dataset": "kung_2d"}),
    ("Prices in London.", {"compare_dataset": "london_hexes", "bins": 6}),
)
SO_FAR = "Expected held-out error against ε, so far."
_DRAWS = {name: entry.simulated for name, entry in CONTENDERS.items()}
_MANY = max(_DRAWS.values())
_FEWER = ", ".join(f"{CONTENDERS[name].title} {draws}" for name, draws in _DRAWS.items() if draws < _MANY)
TABLE_NOTE = (
    "Errors are held out and not private. ★: no other that keeps its promise has a smaller error and protects as much "
    "(inputs too, δ = 0). ± standard error: of the mean over the draws; few draws, a wide one. "
    "Interval score: half of an interval for one more outcome plus 20 × how far outcomes lie outside; small is good. "
    "ε needed: found by "
    "root-finding on the expected error; of Bayes cloaking read off its curve. "
    "Choosing the number of bins, or any setting, by looking at this table is not private either."
)
EXPLANATION = [
    (
        "Bayes cloaking (ours)",
        "recommended for a release. It needs no kernel, lengthscale or noise, and its release can be refitted for "
        "free. Its strategies are planned for the powers of four next to each ε, to within 1 % of the best there is "
        "(or of what can be saved at all, 0.1 % of the error's square), for a release ten times as closely",
    ),
    (
        "Bayes cloaking (inputs too)",
        "the same on public cells, for whoever's inputs are private: on request, in the sidebar. Each draw plans its "
        "stages from what it has released, here as in a release",
    ),
    (
        "Error",
        f"root mean square over {FOLDS} public folds, trained without the records tested; {_MANY} draws each, fewer "
        f"where each is a fit of its own: {_FEWER}",
    ),
    ("Same draws", "every ε uses the same underlying noise, so curves are smooth and the root is well defined"),
    ("Seconds", "one fit and one release on this server, folds averaged"),
    ("Bins", "regular over the public box; an empty bin says the midpoint of the bounds"),
    ("Inducing inputs", "k-means on the public inputs, seed fixed"),
    ("Refined cloaking", "clips residuals at a public bound; its guarantee composes two releases"),
]
