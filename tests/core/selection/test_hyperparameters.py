import numpy as np
import pytest

from dpgp_core.accounting.ledger import Ledger
from dpgp_core.kernels import EQ
from dpgp_core.mechanisms import SparseVariational
from dpgp_core.selection.hyperparameters import Candidate, choose_by_evidence, choose_jointly, halves, log_densities
from tests.core.tables import table

CANDIDATES = [
    Candidate(kernel=EQ(lengthscale=length), noise_variance=s**2) for length in (0.3, 1.0, 3) for s in (0.1, 1)
]


def wave(n, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.uniform(-4, 4, n)
    y = 10 + 2 * (np.sin(2 * x) + 0.1 * rng.standard_normal(n))
    return table(x[:, None], y, y_bounds=(7.0, 13.0), x_box=((-4.0, 4.0),), y_scale=2.0)


def sparse(epsilon, **changes):
    arguments = {"kernel": EQ(lengthscale=0.4), "noise_variance": 1.0, "n_inducing": 15, "delta": 1e-4}
    return SparseVariational(**{"epsilon": epsilon, **arguments, **changes})


@pytest.mark.parametrize("choose", [choose_by_evidence, choose_jointly])
def test_with_much_budget_the_right_lengthscale_is_chosen(choose):
    data = wave(4000)
    found = choose(sparse(30.0), CANDIDATES, data, np.random.default_rng(1))
    assert CANDIDATES[found.index].kernel.lengthscale == 1.0
    prediction, _ = found.fit.predict(data.X)
    assert np.sqrt(np.mean((prediction - 10 - 2 * np.sin(2 * data.X[:, 0])) ** 2)) < 0.1


@pytest.mark.parametrize(
    ("choose", "variant"),
    [(choose_by_evidence, "whitened"), (choose_jointly, "whitened"), (choose_jointly, "paper")],
)
def test_the_ledger_counts_the_budget_once(choose, variant):
    mechanism = sparse(1.5, variant=variant)
    found = choose(mechanism, CANDIDATES, wave(200), np.random.default_rng(1))
    ledger = Ledger()
    ledger.spend([("choice and fit", found.guarantee)])
    assert ledger.epsilon(1e-4) == pytest.approx(1.5)
    assert found.guarantee.protects == "inputs and outputs"
    assert found.guarantee.unit == "one person"
    assert found.fit.guarantee == found.guarantee
    assert found.message


def test_the_choice_counts_all_its_rho():
    """The loss of an exponential mechanism at small orders is epsilon^2 / 8 times the order; the fit's is larger."""
    loss = choose_jointly(sparse(1.5), CANDIDATES, wave(20), np.random.default_rng(1)).guarantee.loss
    fit, choice = loss.losses
    assert choice.rdp(np.array([2.0]))[0] == pytest.approx(2 * 1.5**2 / 8)
    assert fit.rdp(np.array([2.0]))[0] == pytest.approx(1 / sparse(1.5).noise_multiplier ** 2)


def test_a_choice_by_evidence_is_post_processing_of_one_release():
    data, mechanism = wave(500), sparse(2.0)
    found = choose_by_evidence(mechanism, CANDIDATES, data, np.random.default_rng(1))
    plain = mechanism.fit(data, np.random.default_rng(1))
    np.testing.assert_array_equal(found.fit.statistics.A, plain.statistics.A)
    np.testing.assert_array_equal(found.fit.statistics.B, plain.statistics.B)
    assert found.guarantee == plain.guarantee
    assert found.scores.shape == (6,)
    assert found.index == found.scores.argmax()


def test_the_reference_is_a_candidate_like_any_other():
    data, mechanism = wave(500), sparse(2.0)
    same = Candidate(kernel=mechanism.kernel, noise_variance=mechanism.noise_variance)
    found = choose_by_evidence(mechanism, [same], data, np.random.default_rng(1))
    mean, variance = mechanism.fit(data, np.random.default_rng(1)).predict(data.X)
    np.testing.assert_allclose(found.fit.predict(data.X)[0], mean)
    np.testing.assert_allclose(found.fit.predict(data.X)[1], variance)


def test_one_record_is_in_one_half_and_moves_scores_within_the_range():
    data = wave(9)
    train, validate = halves(data)
    assert (train.n, validate.n) == (5, 4)
    np.testing.assert_array_equal(np.sort(np.concatenate([train.y, validate.y])), np.sort(data.y))
    fit = sparse(1.0).fit(train, np.random.default_rng(1))
    expected = fit.posterior.predict(validate.X)
    found = log_densities(fit, CANDIDATES[0], validate)
    total = expected[1] + 0.01
    residual = validate.standardised() - expected[0]
    np.testing.assert_allclose(found, -0.5 * np.log(2 * np.pi * total) - residual**2 / (2 * total))


def test_bad_input_is_refused():
    rng = np.random.default_rng(1)
    for choose in (choose_by_evidence, choose_jointly):
        with pytest.raises(ValueError, match="there are no candidates"):
            choose(sparse(1.0), [], wave(10), rng)
    with pytest.raises(ValueError, match="use variant='whitened'"):
        choose_by_evidence(sparse(1.0, variant="paper"), CANDIDATES, wave(10), rng)
    with pytest.raises(ValueError, match="needs at least 2 records, got 1"):
        choose_jointly(sparse(1.0), CANDIDATES, wave(1), rng)
    with pytest.raises(ValueError, match="log_density_range must be a finite number above 0"):
        choose_jointly(sparse(1.0), CANDIDATES, wave(10), rng, 0.0)
    with pytest.raises(ValueError, match="noise_variance must be a finite number above 0, got 0"):
        Candidate(kernel=EQ(), noise_variance=0)
