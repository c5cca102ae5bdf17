"""One budget is split over all measurements, and its shares add up to one."""

import math
from dataclasses import fields, replace

import pytest

from dpgp_core.accounting.gaussian import noise_multiplier
from dpgp_core.bayes.budget import BudgetSplit, split_budget
from dpgp_core.bayes.settings import MOST_STAGES, BayesSettings
from dpgp_core.bayes.tuning import TUNING
from dpgp_core.seasons import WEEK
from dpgp_core.table import KINDS

S = 1.7
STAGES = range(1, 11)
LARGEST = 1 + 2 + 4 + 8 * 7  # parts of ten stages


def shares_of(split):
    return [split.counts, split.locations, *split.sums, *split.squares, split.dispersion, split.above]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("stages", STAGES)
@pytest.mark.parametrize("inputs_too", [False, True])
@pytest.mark.parametrize("locations", [False, True])
def test_shares_of_every_split_add_up_to_one(kind, stages, inputs_too, locations):
    split = split_budget(S, kind, stages, inputs_too=inputs_too, locations=locations)
    assert math.fsum(shares_of(split)) == pytest.approx(1, abs=1e-14)
    assert min(shares_of(split)) >= 0
    assert len(split.sums) == len(split.squares) == stages
    spent = (split.multiplier(share) for share in shares_of(split))
    assert math.fsum(1 / s**2 for s in spent) == pytest.approx(1 / S**2, rel=1e-14)


@pytest.mark.parametrize("stages", STAGES)
def test_stages_grow_as_1_2_4_8_8(stages):
    split = split_budget(S, "number", stages)
    each = [sums + squares for sums, squares in zip(split.sums, split.squares, strict=True)]
    assert [share / each[0] for share in each] == pytest.approx([1, 2, 4, *[8] * 7][:stages])
    assert split.squares[0] == 0
    assert [square / share for square, share in zip(split.squares, each, strict=True)][1:] == pytest.approx(
        [0.1] * (stages - 1)
    )


@pytest.mark.parametrize(
    ("kind", "dispersion", "above"), [("number", 0.05, 0), ("amount", 0.05, 0.03), ("yes/no", 0, 0)]
)
def test_each_kind_pays_for_what_it_measures(kind, dispersion, above):
    public = split_budget(S, kind, 10)
    assert (public.counts, public.locations, public.dispersion, public.above) == (0, 0, dispersion, above)
    assert public.sums[0] == pytest.approx((1 - dispersion - above) / LARGEST)
    private = split_budget(S, kind, 10, inputs_too=True, locations=True)
    curve = 1 - dispersion - above
    assert (private.counts, private.locations) == pytest.approx((0.15 * curve, 0.02 * curve))
    assert private.sums[0] == pytest.approx((1 - 0.15 - 0.02) * curve / LARGEST)
    assert split_budget(S, kind, 10, locations=True).locations == 0


def test_multipliers_follow_from_epsilon_by_hand():
    """Every part of one private release, from the noise multiplier of the whole budget."""
    settings = BayesSettings(epsilon=1.3, delta=1e-4, protects="inputs and outputs", stages=3)
    split, s = settings.split("count", 10**6), noise_multiplier(1.3, 1e-4)
    curve = 1 - 0.05 - 0.03
    stages = (1 - 0.15 - 0.02) * curve
    expected = {
        split.counts: s / math.sqrt(0.15 * curve),
        split.locations: s / math.sqrt(0.02 * curve),
        split.sums[0]: s / math.sqrt(stages / 7),
        split.sums[1]: s / math.sqrt(0.9 * stages * 2 / 7),
        split.squares[1]: s / math.sqrt(0.1 * stages * 2 / 7),
        split.sums[2]: s / math.sqrt(0.9 * stages * 4 / 7),
        split.squares[2]: s / math.sqrt(0.1 * stages * 4 / 7),
        split.dispersion: s / math.sqrt(0.05),
        split.above: s / math.sqrt(0.03),
    }
    assert [split.multiplier(share) for share in expected] == pytest.approx([*expected.values()], rel=1e-12)
    assert split.multiplier(0.0) == math.inf


@pytest.mark.parametrize("name", [each.name for each in fields(BudgetSplit) if each.name != "noise_multiplier"])
@pytest.mark.parametrize("change", [1e-6, -1e-6])
def test_a_changed_share_is_refused(name, change):
    split = split_budget(S, "amount", 4, inputs_too=True, locations=True)
    share = getattr(split, name)
    changed = (*share[:-1], share[-1] + change) if isinstance(share, tuple) else share + change
    with pytest.raises(ValueError, match="must add up to 1"):
        replace(split, **{name: changed})


def test_a_negative_share_is_refused():
    split = split_budget(S, "number", 2)
    with pytest.raises(ValueError, match="must not be negative"):
        replace(split, counts=-0.01, dispersion=split.dispersion + 0.01)


@pytest.mark.parametrize("protects", ["outputs", "inputs and outputs"])
def test_public_numbers_decide_what_is_measured(protects):
    settings = BayesSettings(epsilon=1.0, delta=1e-5, protects=protects)
    s, private = settings.noise_multiplier, protects == "inputs and outputs"
    for people, stages, located in (
        (math.floor(TUNING.few * s), 3, False),
        (math.ceil(TUNING.few * s), 6, False),
        (math.floor(TUNING.many_to_locate * s), 6, False),
        (math.ceil(TUNING.many_to_locate * s), 6, private),
    ):
        split = settings.split("number", people)
        assert (len(split.sums), split.locations > 0, split.counts > 0) == (stages, located, private)
        assert split.noise_multiplier == s
    assert len(settings.split("yes/no", 10**6).sums) == 1
    assert len(replace(settings, stages=MOST_STAGES).split("number", 10).sums) == MOST_STAGES
    assert replace(settings, periods=[WEEK]).split("number", 10**6).locations == 0
