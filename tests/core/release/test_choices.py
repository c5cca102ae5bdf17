import numpy as np
import pytest

from dpgp_core.mechanisms import MECHANISMS, HallPosterior, LaplaceBinning, PosteriorSampling
from dpgp_core.release import CHOICES, KERNEL_NAMES

NOT_OFFERED = {PosteriorSampling, HallPosterior, LaplaceBinning}  # paths, kernel sums; integral bins are never worse


def test_every_mechanism_is_offered_or_left_out_on_purpose(make_spec):
    offered = {type(make_spec(mechanism=name).built) for name in CHOICES}
    assert offered | NOT_OFFERED == set(MECHANISMS)
    assert len(offered) == len(CHOICES) - 1  # Bayes cloaking with public inputs, and with private ones


@pytest.mark.parametrize("name", CHOICES)
def test_the_mechanism_has_the_declared_model_and_budget(make_spec, name):
    spec = make_spec(mechanism=name, epsilon=0.7, lengthscale=(30,), noise_variance=0.2, total_epsilon=9)
    built = spec.built
    assert built.guarantee.budget.epsilon == 0.7
    assert built.guarantee.budget.delta == (0 if spec.choice.kind.pure else 1e-5)
    if spec.choice.kind.automatic:  # finds its models by itself, from box and bounds
        assert built.kernels is None
        return
    assert built.kernel(np.zeros((1, 1)), np.full((1, 1), 30.0))[0, 0] == pytest.approx(np.exp(-0.5))
    assert getattr(built, "white_noise", None) == 0.2 or built.noise_variance == 0.2


@pytest.mark.parametrize("name", KERNEL_NAMES)
def test_every_kernel_can_be_chosen(make_spec, name):
    spec = make_spec(kernel=name, mechanism="refined")
    assert type(spec.built.kernel).__name__ == name
    assert spec.built.kernel.variance == 1


@pytest.mark.parametrize("name", [name for name, choice in CHOICES.items() if choice.kind.uses_cells])
def test_cells_reach_the_mechanism(make_spec, name):
    built = make_spec(mechanism=name, cells=3).built
    found = getattr(built, "bins", None) or getattr(built, "n_inducing", None) or [z[0] for z in built.Z]
    assert found in (3, pytest.approx([100 / 6, 50, 500 / 6]))
