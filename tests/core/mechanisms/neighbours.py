"""What real releases of neighbours tell apart: the exact integers of each in units of the noise, replayed."""

from dpgp_core.accounting.losses import GaussianLoss
from dpgp_core.mechanisms import HallPosterior
from tests.core.mechanisms.cases import X_TEST, with_output
from tests.core.replay import assert_same, gaussian_mu, pure_epsilon, taped


def allowed(guarantee):
    """What telling neighbours apart may cost by the promise: mu, or pure epsilon."""
    return guarantee.loss.mu if isinstance(guarantee.loss, GaussianLoss) else guarantee.budget.epsilon


def costs(mechanism, data, others, X_test=X_TEST, draws=1, rng=None):
    """What telling each of the others from the data costs by every number that noise was added to (len(others),).

    With the same noisy numbers the two releases are the same to the last bit, so nothing else depends on records.
    """
    if isinstance(mechanism, HallPosterior):  # whose strategy is private

        def release(each):
            return mechanism.release(each, X_test, draws=draws)

    else:
        plan = mechanism.plan_for(data, X_test)

        def release(each):
            return mechanism.measure(plan, each, X_test, draws=draws)

    with taped(rng=rng) as tape:
        before, found = release(data), []
    assert len(before.statistics) == draws
    for other in others:
        with taped(tape) as replay:
            after = release(other)
        assert_same(list(before.statistics), list(after.statistics))
        assert_same(before, after)
        found.append(gaussian_mu(replay) if mechanism.guarantee.budget.delta else pure_epsilon(replay))
    return found


def at_the_ends(data, records, beyond=0.0):
    """The data with these records at either bound in turn, and its neighbours with one of them at the other bound."""
    low, high = data.y_bounds[0] - beyond, data.y_bounds[1] + beyond
    for number, j in enumerate(records):
        data = with_output(data, j, (low, high)[number % 2])
    return data, [with_output(data, j, high if data.y[j] == low else low) for j in records]
