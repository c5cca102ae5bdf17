"""The best of a truncated negative binomial number of runs: its curve, its budget, the law of the number."""

import math

import numpy as np
import pytest

from benchmarks.shared.repeated_runs import BestOfManyLoss, calibrate_runs, draw_runs, expected_runs
from dpgp_core.accounting.losses import ORDERS, GaussianLoss, PureLoss
from tests.refusals import told

# dp-accounting 0.6.0, RdpAccountant(ACCOUNTANT_ORDERS): RepeatAndSelectDpEvent(GaussianDpEvent(1 / mu), mean, eta),
# mean = expected_runs(eta, gamma); computed once in an environment of its own (it pins attrs < 24)
ACCOUNTANT_ORDERS = np.array([1.5, 2, 3, 5, 8, 16, 32, 64, 128, 256])
ACCOUNTANT = {  # (mu, eta, gamma): curve
    (0.5, 0.0, 0.01): [2.813019] * 4 + [2.859311, 3.625563, 5.520000, 9.469732, 17.44519, 33.43307],
    (0.5, 1.0, 0.01): [4.499950] * 5 + [5.149079, 6.990622, 10.91517, 18.87833, 34.86013],
    (0.5, 0.5, 0.001): [4.499953] * 5 + [5.024087, 6.809180, 10.70684, 18.65688, 34.63220],
    (0.5, 2.0, 0.1): [4.231657] * 4 + [4.295897, 5.074913, 6.975113, 10.92759, 18.90439, 34.89293],
    (0.1, 0.0, 0.01): [0.5578774] * 7 + [0.6676090, 0.9630686, 1.590943],
    (0.1, 1.0, 0.01): [0.9063770] * 7 + [0.9909211, 1.274084, 1.895883],
    (0.1, 0.5, 0.001): [0.9177766] * 7 + [0.9754398, 1.245480, 1.860794],
    (0.1, 2.0, 0.1): [0.9102967] * 7 + [1.022773, 1.319573, 1.948109],
}


@pytest.mark.parametrize(("case", "curve"), ACCOUNTANT.items(), ids=map(str, ACCOUNTANT))
def test_curve_agrees_with_dp_accounting_to_five_digits(case, curve):
    mu, eta, gamma = case
    found = BestOfManyLoss(GaussianLoss(mu), eta, gamma).rdp(ACCOUNTANT_ORDERS)
    np.testing.assert_allclose(found, curve, rtol=5e-6)


@pytest.mark.parametrize(("eta", "gamma"), [(0.0, 0.05), (1.0, 0.05), (0.5, 0.2), (3.0, 0.3)])
@pytest.mark.parametrize("odds", [0.5, 2.0])
def test_exact_selection_diverges_at_most_by_the_curve(eta, gamma, odds):
    """Runs of score 0 or 1 with known chances: the law of the best follows from K's generating function."""

    def chance_of_0(p):  # E[x^K] at x = 1 - p, the chance that every run scores 0
        x = 1 - p
        if eta == 0:
            return math.log1p(-(1 - gamma) * x) / math.log(gamma)
        return ((1 - (1 - gamma) * x) ** -eta - 1) / (gamma**-eta - 1)

    p = 0.05
    q = p * odds
    base = max(abs(math.log(odds)), abs(math.log((1 - p) / (1 - q))))
    loss = BestOfManyLoss(PureLoss(base), eta, gamma)
    one, other = chance_of_0(p), chance_of_0(q)
    orders = ORDERS[(ORDERS > 1.01) & (ORDERS < 500)]
    logs = np.array([a * np.log([one, 1 - one]) + (1 - a) * np.log([other, 1 - other]) for a in orders])
    divergence = np.logaddexp(*logs.T) / (orders - 1)
    assert (divergence <= np.interp(orders, ORDERS, loss.rdp(ORDERS)) + 1e-9).all()
    assert divergence.max() > 0


@pytest.mark.parametrize(("eta", "gamma"), [(0.0, 0.05), (1.0, 0.05), (0.5, 0.1), (3.0, 0.3)])
def test_number_of_runs(eta, gamma):
    rng = np.random.default_rng(2)
    drawn = np.array([draw_runs(eta, gamma, rng) for _ in range(20_000)])
    assert drawn.min() >= 1
    assert drawn.mean() == pytest.approx(expected_runs(eta, gamma), abs=6 * drawn.std() / math.sqrt(20_000))
    first = (1 - gamma) * (eta / (gamma**-eta - 1) if eta > 0 else 1 / math.log(1 / gamma))  # P(K = 1)
    assert (drawn == 1).mean() == pytest.approx(first, abs=6 * math.sqrt(first / 20_000))


def test_expected_runs_is_continuous_at_eta_0():
    assert expected_runs(1e-9, 0.01) == pytest.approx(expected_runs(0.0, 0.01), rel=1e-6)
    assert expected_runs(1.0, 0.01) == pytest.approx(100)


@pytest.mark.parametrize(("eta", "gamma"), [(0.0, 0.01), (1.0, 0.1)])
@pytest.mark.parametrize("epsilon", [0.5, 3.0])
def test_calibration_spends_the_budget(eta, gamma, epsilon):
    base = calibrate_runs(epsilon, 1e-4, eta, gamma)
    assert BestOfManyLoss(base, eta, gamma).epsilon(1e-4) == pytest.approx(epsilon, rel=1e-6)
    assert BestOfManyLoss(base, eta, gamma).epsilon(1e-4) <= epsilon


def test_repeated_selections_add_up():
    loss = BestOfManyLoss(GaussianLoss(0.3))
    np.testing.assert_allclose(loss.repeated(3).rdp(ORDERS), 3 * loss.rdp(ORDERS))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda: calibrate_runs(1e-4, 1e-30, 1.0, 1e-30),
            r"epsilon = 0.0001 is out of reach with eta = 1.0, gamma = 1e-30",
        ),
        *told(
            lambda eta, gamma: BestOfManyLoss(GaussianLoss(1.0), eta, gamma),
            [
                (-0.5, 0.1, "eta must be a finite number of at least 0"),
                (0.0, 1.0, "gamma must lie strictly between 0 and 1"),
            ],
        ),
    ],
)
def test_refusals(call, words):
    with pytest.raises(ValueError, match=words):
        call()
