"""Words of the comparison: errors, ranks, guarantees, and the epsilon that each method needs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from pages._ui.compare.compute import Compared
from pages._ui.compare.contenders import CONTENDERS, CURVE_EPSILONS, Contest, contender
from pages._ui.left_out import FOLDS
from pages._ui.look import text


def protects(contest: Contest, name: str, epsilon: float) -> str:
    """Return what a contender protects, and whether its guarantee holds at this epsilon."""
    guarantee = contender(contest, name, epsilon).guarantee
    if not guarantee.established:
        return f"{guarantee.protects}; not established at this ε"
    delta = "pure ε (δ = 0)" if guarantee.budget.delta == 0 else f"δ = {text.small(contest.delta)}"
    return f"{guarantee.protects}; {delta}"


def need_in_words(contest: Contest, name: str, need: float | None) -> str:
    """Return the epsilon needed, or why there is none."""
    if need is None:
        return "more than 100"
    held = contender(contest, name, need).guarantee.established
    return text.at_most(need) if held else f"{text.at_most(need)} (no promise: Hall’s formula above epsilon 1)"


def table(compared: Compared, pinned: Compared | None) -> pd.DataFrame:
    """Return a row for each contender at one epsilon of the curve; with errors at pinned settings if there are any."""
    at, scale, unit, contest = compared.at, compared.scale, compared.scale.unit, compared.contest
    unbeaten = front(compared)
    rows = []
    for name, curve in compared.curves.items():
        low, high = np.percentile(curve.errors[at], [10, 90])
        wider = curve.mean[at] + curve.standard_error[at]
        errors = {f"error [{unit}]": scale.rounded(curve.mean[at])}
        if pinned is not None:
            before = pinned.curves[name].mean[pinned.at]
            errors[f"pinned (A), ε = {text.number(pinned.epsilon)} [{unit}]"] = scale.rounded(before)
        rows.append(
            {
                "mechanism": CONTENDERS[name].title,
                "protects": protects(contest, name, compared.epsilon),
                "unbeaten": "★" if name in unbeaten else "",
                **errors,
                f"± standard error [{unit}]": float(f"{scale.convert(wider) - scale.convert(curve.mean[at]):.2g}"),
                "draws": curve.errors.shape[1],
                f"10 % of releases below [{unit}]": scale.rounded(low),
                f"90 % of releases below [{unit}]": scale.rounded(high),
                f"95 % interval, ± [{unit}]": scale.rounded(curve.half_width[at]),
                f"95 % interval score, ± [{unit}]": scale.rounded(curve.half_score[at]),
                "seconds": round(curve.seconds, 4),
                "ε needed for the target": need_in_words(contest, name, compared.needs[name]),
            }
        )
    return pd.DataFrame(rows)


class Ranked(NamedTuple):
    """A contender and its error, in the output's unit."""

    name: str
    error: float

    @property
    def title(self) -> str:
        """Title as it is shown."""
        return CONTENDERS[self.name].title


def error_of(compared: Compared, name: str, epsilon: float) -> float:
    """Return the error of a contender at one epsilon of the curve."""
    return float(compared.curves[name].mean[CURVE_EPSILONS.index(epsilon)])


def ranking(compared: Compared) -> list[Ranked]:
    """Return the contenders by error, the best first."""
    ranked = (Ranked(name, error_of(compared, name, compared.epsilon)) for name in compared.curves)
    return sorted(ranked, key=lambda each: each.error)


def headline(compared: Compared) -> str:
    """Return the headline once all curves are computed: the best method, and the epsilon for the target."""
    best = ranking(compared)[0]
    return (
        f"At ε = {compared.epsilon:g}, {best.title} has the smallest error, "
        f"**{compared.scale.with_unit(best.error)}**. {_reachable(compared)}"
    )


def so_far(compared: Compared, coming: Sequence[str], folds: int, of: int) -> str:
    """Return the headline while the curves of some contenders, out of ``of``, are being computed.

    ``folds`` of their folds are done.
    """
    done = [each for each in ranking(compared) if each.name not in coming]
    computed = f"**{len(coming)} methods** are being computed"
    if len(coming) == 1:
        computed = f"**{CONTENDERS[coming[0]].title}** is being computed"
    if folds:
        computed += f", so far on {folds} of {FOLDS} parts of the people: it will still move"
    if not done:
        return f"{computed}."
    return (
        f"{len(done)} of {of} methods are done. Of those **{done[0].title}** has the smallest error at ε = "
        f"{compared.epsilon:g}, {compared.scale.with_unit(done[0].error)}. {computed}."
    )


def _cheapest(compared: Compared) -> tuple[str, float] | None:
    """Return the contender with a valid guarantee that reaches the target at the smallest epsilon."""
    held = [
        (name, need)
        for name, need in compared.needs.items()
        if need is not None and contender(compared.contest, name, need).guarantee.established
    ]
    return min(held, key=lambda pair: pair[1], default=None)


def least_epsilon(compared: Compared) -> str:
    """Return the smallest epsilon that reaches the target with a valid guarantee."""
    cheapest = _cheapest(compared)
    return "not reachable" if cheapest is None else f"ε = {text.at_most(cheapest[1])}"


def _reachable(compared: Compared) -> str:
    """Return the sentence about the epsilon for the target."""
    cheapest, target = _cheapest(compared), compared.scale.with_unit(compared.target)
    if cheapest is None:
        return f"For an error of {target} no ε up to 100 is enough."
    by = CONTENDERS[cheapest[0]].title
    return f"For an error of {target} you need ε = {text.at_most(cheapest[1])}, with {by}."


def front(compared: Compared) -> frozenset[str]:
    """Return the contenders with a valid guarantee such that no other protects as much with a smaller error."""
    contest, epsilon = compared.contest, compared.epsilon
    held = [each for each in ranking(compared) if contender(contest, each.name, epsilon).guarantee.established]

    def beats(rival: Ranked, ranked: Ranked) -> bool:
        one, other = CONTENDERS[rival.name], CONTENDERS[ranked.name]
        as_safe = one.private_inputs >= other.private_inputs and one.kind.pure >= other.kind.pure
        return as_safe and rival.error < ranked.error

    return frozenset(each.name for each in held if not any(beats(rival, each) for rival in held))


ERRORS_CAPTION = (
    "All hide outcomes; those with diamonds hide inputs too. Above ε = 1 the method of 2018 has no proven guarantee."
)


def interpolation(simulated_at: str) -> str:
    """Return the sentence below curves of which only some points are simulated at the delta on screen."""
    return f"Errors at {simulated_at} are simulated; most others are interpolated from simulated releases at another δ."


def errors_caption(compared: Compared) -> str:
    """Return the caption of the picture, which says whether some of its points are interpolated."""
    return f"{ERRORS_CAPTION} {interpolation('your ε')}" if any(compared.interpolated) else ERRORS_CAPTION


CLICK = "Click a point for a release."
_QUOTED = (0.1, 1.0, 100.0)


def errors_alt(compared: Compared, names: Sequence[str]) -> str:
    """Return the description of the picture: the values of each method, the best at the last epsilon first."""
    scale, ordered = compared.scale, sorted(names, key=lambda name: error_of(compared, name, _QUOTED[-1]))
    runs = (
        f"{CONTENDERS[name].title} {', '.join(scale.number(error_of(compared, name, each)) for each in _QUOTED)}"
        for name in ordered
    )
    return (
        f"Error [{scale.unit}] at epsilon {', '.join(f'{each:g}' for each in _QUOTED)}: {'; '.join(runs)}. Without "
        f"privacy: {scale.with_unit(compared.nonprivate)}."
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
NOT_PRIVATE = "Errors are computed from true data, so they are not private."
TABLE_NOTE = (
    f"{NOT_PRIVATE} ★: no other method that keeps its promise has a smaller error and "
    "protects as much. ± standard error: of the mean over simulated releases. Interval score: half the width of the "
    "range for "
    "one more person, plus 20 times how far people fall outside it. Smaller is better. Bands of the "
    "figure hold 80 % of simulated releases. Choosing by looking at this table is not private."
)
EXPLANATION = [
    (
        "Bayes cloaking (ours)",
        "recommended for a release. It needs no kernel, lengthscale or noise, and its release can be refitted for "
        "free. Each simulated release plans its stages from what it has released, as a real one does",
    ),
    (
        "Bayes cloaking (inputs too)",
        "the same on public cells, where inputs are private too",
    ),
    (
        "Error",
        f"root mean square on people left out, in {FOLDS} public parts. There are {_MANY} simulated releases each, "
        f"fewer where each is a fit of its own: {_FEWER}. The epsilon needed is read "
        "off the curve. Without privacy: Bayes cloaking's models on the exact outputs, or the sidebar's "
        "model where that does better",
    ),
    (
        "Same draws",
        "of a method that adds noise once, every ε uses the same underlying noise, so that curves are smooth",
    ),
    ("Seconds", "one fit and one release where it was worked out, folds averaged"),
    ("Bins", "regular over the public box; an empty bin is given the midpoint of the bounds"),
    ("Inducing inputs", "k-means on the public inputs, seed fixed"),
    (
        "Delta",
        "the bins have none (delta = 0), the others that of the sidebar. The errors of these depend on epsilon and "
        "delta through the noise multiplier alone. At a delta at which they have not been simulated, those at your "
        "epsilon are simulated, and most others are interpolated between errors with similar noise multipliers",
    ),
    ("Refined cloaking", "clips residuals at a public bound; its guarantee composes two releases"),
]
