import pytest

from dpgp_core.mechanisms import CATALOGUE
from dpgp_core.release import CHOICES, KERNEL_NAMES


def test_what_is_offered_is_what_the_catalogue_says(make_spec):
    assert list(CHOICES) == [name for name, entry in CATALOGUE.items() if entry.released]
    for name, entry in CHOICES.items():
        spec = make_spec(mechanism=name)
        assert spec.choice is entry
        assert isinstance(spec.built, entry.kind)


@pytest.mark.parametrize("name", CHOICES)
def test_the_budget_and_the_model_arrive(make_spec, name):
    spec = make_spec(mechanism=name, epsilon=0.7, noise_variance=0.2, lengthscale=(11.0,))
    assert spec.built.guarantee.budget.epsilon == 0.7
    assert spec.built.guarantee.budget.delta == spec.delta
    if name == "integral_bins":
        assert (spec.built.kernel, spec.built.white_noise) == (KERNEL_NAMES["EQ"](lengthscale=(11.0,)), 0.2)
    else:
        assert (spec.built.kernel.lengthscale, spec.built.noise_variance) == ((11.0,), 0.2)


def test_kernels_are_named(make_spec):
    for name, kind in KERNEL_NAMES.items():
        assert make_spec(kernel=name).built.kernel == kind(lengthscale=(25.0,))
