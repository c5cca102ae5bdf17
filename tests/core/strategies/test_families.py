import numpy as np
import pytest

from dpgp_core.strategies.risk_model import families_of, in_common_basis, narrow


def test_models_that_differ_in_the_size_of_their_noise_are_a_family(mixture):
    basis, shapes, families = families_of(mixture)
    assert [len(family.members) for family in families] == [2, 1, 1]
    assert len(shapes) == 3
    assert [family.columns.stop for family in families][-1] == basis.shape[1]
    quiet, loud = families[0].members
    assert loud.shape == quiet.shape
    assert loud.level == pytest.approx(3 * quiet.level)


def test_every_family_is_its_root_targets_and_noise(mixture):
    alone = [mixture[0], *mixture[2:]]
    for models in (alone, in_common_basis(alone, 1e-12)):
        basis, shapes, families = families_of(models)
        for family, model in zip(families, alone, strict=True):
            Q, member = basis[:, family.columns], family.members[0]
            np.testing.assert_allclose(Q @ family.T, model.root, atol=1e-5)
            F = Q @ family.E
            np.testing.assert_allclose(F @ F.T, model.targets @ model.targets.T, atol=1e-4)
            np.testing.assert_allclose(member.level * shapes[member.shape], model.noise, rtol=1e-12)


def test_narrow_keeps_second_moments():
    H = np.random.default_rng(1).standard_normal((3, 8))
    assert narrow(H).shape == (3, 3)
    np.testing.assert_allclose(narrow(H) @ narrow(H).T, H @ H.T, atol=1e-12)
    assert narrow(H.T).shape == (8, 3)
