"""A guarantee to spend and compose."""

from dataclasses import replace

from dpgp_core.accounting.gaussian import epsilon_of
from dpgp_core.accounting.guarantee import ONE_OUTPUT, Budget, Guarantee
from dpgp_core.accounting.losses import GaussianLoss


def promise(mu, delta=0.01, **changes):
    guarantee = Guarantee(
        budget=Budget(epsilon=max(epsilon_of(1 / mu, delta), 1e-4), delta=delta),
        loss=GaussianLoss(mu),
        protects="outputs",
        neighbours=ONE_OUTPUT,
        unit="one record's output",
        theorem="analytic Gaussian mechanism",
        assumptions=(),
        not_covered=(),
    )
    return replace(guarantee, **changes)
