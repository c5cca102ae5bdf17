import pytest

from dpgp_core import EQ
from dpgp_core.accounting.gaussian import noise_multiplier
from dpgp_core.bayes.settings import BayesSettings


@pytest.mark.parametrize("protects", ["outputs", "inputs and outputs"])
def test_the_promise_says_what_it_protects_and_costs(protects):
    card = BayesSettings(epsilon=0.7, delta=1e-3, protects=protects).guarantee
    assert card.protects == protects
    assert card.loss.mu == pytest.approx(1 / noise_multiplier(0.7, 1e-3))
    assert ("input and output" in card.neighbours) == (protects != "outputs")
    assert ("counts" in card.theorem) == (protects != "outputs")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"protects": "inputs"}, "protects must be 'outputs' or 'inputs and outputs', got 'inputs'"),
        ({"stages": 0}, "stages must be a whole number from 1 to 10, got 0"),
        ({"stages": 11}, "stages must be a whole number from 1 to 10, got 11"),
        ({"clip": 0.0}, "clip must be a finite number above 0"),
        ({"gap": -1.0}, "gap must be a finite number above 0"),
        ({"kernels": (EQ(),), "noise_variances": ()}, "noise_variances must have one entry per kernel, 1, got 0"),
        ({"noise_variances": (0.1,)}, "noise_variances must have one entry per kernel, 0, got 1"),
        ({"protects": "inputs and outputs", "weights": (1.0,)}, "have no meaning for protects='inputs and outputs'"),
        ({"protects": "inputs and outputs", "binned": True}, "binned is for public inputs"),
        ({"binned": True, "weights": (1.0,)}, "weights have no meaning for binned"),
    ],
)
def test_bad_settings_are_named(changes, message):
    with pytest.raises(ValueError, match=message):
        BayesSettings(epsilon=1.0, delta=0.01, **changes)


def test_declared_kernels_are_mixed_with_others():
    settings = BayesSettings(epsilon=1.0, delta=0.01, kernels=(EQ(lengthscale=3.0),), noise_variances=(0.2,))
    models = settings.models([(0.0, 10.0)], 2.0)
    assert len({model.kernel for model in models}) > 1
    assert any(model.kernel.lengthscale in (3.0, (3.0,)) for model in models)
