import numpy as np
import pytest

from dpgp_core.bayes.models import (
    Model,
    auto_models,
    curve_models,
    is_rough,
    models_around,
    rough_share,
    typical_models,
    weights_of,
)
from dpgp_core.kernels import EQ, LevelAndCurve, Matern12, Matern32, Matern52
from dpgp_core.levels import side_of


def test_automatic_models_come_from_box_and_range_alone():
    models = auto_models([(0.0, 16.0), (-8.0, 24.0)], half_range=3.0)
    assert len(models) == 20
    assert {model.kernel.lengthscale for model in models} == {(1, 2), (2, 4), (4, 8), (8, 16)}
    assert {model.kernel.variance for model in models} == {3.0}
    np.testing.assert_allclose(
        sorted({model.noise_variance for model in models}), 9.0 * np.square([1 / 32, 1 / 12, 1 / 5, 1 / 2, 1.0])
    )
    assert len({model.weight for model in models}) == 1


def test_a_declared_kernel_is_surrounded_and_mixed_with_the_automatic_models():
    models = models_around(Matern52(variance=2.0, lengthscale=[4.0, 1.0]), 0.1, [(0.0, 1.0), (0.0, 1.0)], 1.0)
    declared, automatic = models[:9], models[9:]
    assert {model.kernel.lengthscale for model in declared} == {(2, 0.5), (4, 1), (8, 2)}
    np.testing.assert_allclose(sorted({model.noise_variance for model in declared}), [0.025, 0.1, 0.4])
    assert automatic == curve_models([(0.0, 1.0), (0.0, 1.0)], 1.0)
    assert sum(model.weight for model in declared) == pytest.approx(sum(model.weight for model in automatic))


def test_a_declared_kernel_without_a_noise_takes_the_automatic_noises():
    models = models_around(EQ(lengthscale=4.0), None, [(0.0, 1.0)], 2.0)
    assert {model.noise_variance for model in models[:15]} == {model.noise_variance for model in models[15:]}
    assert {model.kernel.lengthscale for model in models[:15]} == {2.0, 4.0, 8.0}


@pytest.mark.parametrize("changes", [{"noise_variance": 0.0}, {"noise_variance": np.nan}, {"weight": -1.0}])
def test_model_refuses_what_is_not_positive(changes):
    with pytest.raises(ValueError, match=next(iter(changes))):
        Model(**{"kernel": EQ(), "noise_variance": 1.0} | changes)


def test_surrounding_keeps_the_kernels_class():
    assert {type(m.kernel) for m in models_around(Matern52(), 1.0, [(0.0, 1.0)], 1.0)} == {Matern52, LevelAndCurve}


def test_typical_models_have_each_family_once_with_all_its_weight_and_its_largest_amplitude():
    models = models_around(EQ(lengthscale=0.3), 0.1, [(0.0, 1.0)], 1.0)
    typical = typical_models(models)
    kernels = list(dict.fromkeys(model.kernel for model in models))
    assert [model.kernel for model in typical] == kernels[:7]
    assert sum(model.weight for model in typical) == pytest.approx(sum(model.weight for model in models))
    assert [model.noise_variance for model in typical] == pytest.approx([0.1] * 3 + [1 / 25] * 4)
    np.testing.assert_allclose(weights_of(typical), np.repeat([1 / 6, 1 / 8], [3, 4]))


def test_rough_curves_stand_beside_smooth_ones_where_they_can_be_seen():
    fewest, smooth, rough = (curve_models([(0.0, 2.0)], 3.0, rough=share) for share in (None, 0.0, 0.5))
    assert (len(fewest), smooth[: len(fewest)]) == (20, fewest)
    assert rough[: len(smooth)] == smooth
    assert {type(model.kernel.curve) for model in rough[len(smooth) :]} == {Matern12, Matern32}
    assert {model.weight for model in rough[len(smooth) :]} == {0.5}
    assert {is_rough(model.kernel) for model in smooth} == {False}
    assert sum(is_rough(model.kernel) for model in rough) == 5
    assert [rough_share(n, 3.73) for n in (300, 1000, 10**6)] == [0, 0, 1]
    assert 0.05 < rough_share(3000, 3.73) < rough_share(6000, 3.73) < 0.25


def test_groups_have_large_amplitudes_and_few_rough_curves_each_with_every_share():
    box = [(0.0, 1.0), side_of(("a", "b"))]
    kernels = {model.kernel for model in curve_models(box, 1.0, rough=1.0)}
    assert {kernel.shared for kernel in kernels} == {0.0, 0.5, 0.9}
    assert len(kernels) == 3 * (4 + 3)
