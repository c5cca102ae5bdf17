"""What copies of one estimator spend together: searches and cross-validation clone it, and every fit spends."""

from __future__ import annotations

import copy
import warnings
from dataclasses import dataclass, field
from typing import Any, TypeVar

from ..accounting.gaussian import rounded_up
from ..accounting.guarantee import Guarantee
from ..accounting.losses import PrivacyLoss, compose

Estimator = TypeVar("Estimator")
_KEPT = "_copies"


class SpentByCopies(UserWarning):
    """Copies of one estimator are fitted one after another, and each fit spends; said once for all of them."""


@dataclass
class Copies:
    """What an estimator and its clones in this process have spent so far.

    Attributes:
        losses: of each real fit.
        delta: the largest of them.
        said: whether the warning was given.
    """

    losses: list[PrivacyLoss] = field(default_factory=list)
    delta: float = 0.0
    said: bool = False

    @property
    def epsilon(self) -> float:
        """Of all fits together, at ``delta``; for somebody who is in every one of them."""
        return compose(self.losses, self.delta) if self.losses else 0.0


def cloned(estimator: Estimator, params: dict[str, Any]) -> Estimator:
    """A copy with the same parameters that was never fitted; it counts with this one.

    Args:
        estimator: to copy.
        params: of it, by name.
    """
    new = type(estimator)(**{name: copy.deepcopy(value) for name, value in params.items()})
    vars(new)[_KEPT] = vars(estimator).setdefault(_KEPT, Copies())
    return new


def count(estimator: object, promise: Guarantee, *, taught: bool) -> None:
    """Count a fit among those of its copies before it measures, and say once what they spend together.

    Args:
        estimator: that is fitted.
        promise: of this fit alone.
        taught: whether it is a numbered draw, which spends nothing.
    """
    copies = vars(estimator).get(_KEPT)
    if copies is None or taught:
        return
    copies.losses.append(promise.loss)
    copies.delta = max(copies.delta, promise.budget.delta)
    if len(copies.losses) > 1 and not copies.said:
        copies.said = True
        warnings.warn(
            f"copies of this estimator are fitted, as a search or cross-validation does, and every fit spends: "
            f"{len(copies.losses)} so far, together epsilon = {rounded_up(copies.epsilon).normalize():f} at delta = "
            f"{copies.delta:g}. The sum of all goes on in spent_by_copies(); choose without outcomes, or with a share "
            "of the budget",
            SpentByCopies,
            stacklevel=3,
        )


def spent(estimator: object) -> tuple[float, float]:
    """(epsilon, delta) of all real fits of an estimator's copies in this process, itself among them if it is one."""
    copies = vars(estimator).get(_KEPT, Copies())
    return copies.epsilon, copies.delta
