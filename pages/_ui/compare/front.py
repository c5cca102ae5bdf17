"""Which contenders no other beats."""

from __future__ import annotations

from pages._ui.compare.contenders import CONTENDERS, CURVE_EPSILONS, Contest, Curve, contender


def front(curves: dict[str, Curve], contest: Contest, epsilon: float) -> frozenset[str]:
    """Contenders that keep their promise and that no other beats: smaller error, protecting as much.

    Args:
        curves: of the contenders.
        contest: their settings.
        epsilon: one of ``CURVE_EPSILONS``.
    """
    at = CURVE_EPSILONS.index(epsilon)
    held = [name for name in curves if contender(contest, name, epsilon).guarantee.established]

    def beats(rival: str, name: str) -> bool:
        one, other = CONTENDERS[rival], CONTENDERS[name]
        as_safe = one.private_inputs >= other.private_inputs and one.pure >= other.pure
        return as_safe and bool(curves[rival].mean[at] < curves[name].mean[at])

    return frozenset(name for name in held if not any(beats(rival, name) for rival in held))
