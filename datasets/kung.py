"""Heights of the women and girls of the Dobe !Kung, with age and weight.

The data are from Nancy Howell's partial census of the !Kung San, Dobe, 1967-1969. `data/kung.csv` contains all
544 people; by default the data set is the 287 with male == 0, of ages 0 to 85.6.
Deposited by Howell at the University of Toronto, https://tspace.library.utoronto.ca/handle/1807/10395;
analysed in N. Howell, Life Histories of the Dobe !Kung, University of California Press, 2010,
and, with the constants below, in M. T. Smith et al., Differentially Private Regression with
Gaussian Processes, AISTATS 2018.

The published setting has bounds that are 100 cm apart and a kernel with a standard deviation of 25.742 cm. The paper
normalised by the data: 25.742 is the standard deviation of the clipped heights to three decimals. Here both are
constants that are never computed from the data. For a first release of such a census, round numbers should be declared
instead.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from datasets.exhibits import Exhibit, SparseDefaults
from dpgp_core.table import Column, Dataset, Outcome

NAME = "kung"
TITLE = "!Kung heights"
FAMILY = NAME  # the same people with one or two inputs
Y_BOUNDS = (58.27, 158.27)  # cm
Y_SCALE = 25.742  # cm
AGE = Column(name="age", unit="years", box=(0.0, 100.0))
AGES_DRAWN = (0.0, 90.0)  # years; nobody is older, and far beyond the data a curve shows only the prior
WEIGHT_BOX = (0.0, 70.0)  # kg
SEXES = ("women and girls", "men and boys")
GROUPS_BOUNDS, GROUPS_SCALE = (40.0, 200.0), 40.0  # cm
SOURCE = "Howell, N. (1967-1969), partial census of the !Kung San, Dobe; Univ. of Toronto TSpace 1807/10395"
BOUNDS_REASON = "the 100 cm window of the published setting (Smith et al. 2018), taken as a given constant"

PATH = Path(__file__).with_name("data") / "kung.csv"  # the whole census


def load(*, dims: int = 1, groups: bool = False) -> Dataset:
    """Load the height [cm] of the 287 women and girls against age, or age and weight.

    Args:
        dims: 1 for X = age [years], shape (287, 1); 2 for X = (age [years], weight [kg]), shape (287, 2).
        groups: if true, all 544 people, with X = (age [years], sex), shape (544, 2). The bounds are then round numbers,
            because the published ones would clip most men.

    Raises:
        ValueError: ``dims`` is neither 1 nor 2, or it is 2 with ``groups``.
    """
    if groups:
        return _by_sex(dims)
    if dims not in (1, 2):
        raise ValueError(f"dims must be 1 (age) or 2 (age and weight), got {dims!r}")
    census = pd.read_csv(PATH)
    females = census[census["male"] == 0]
    columns = ["age_years", "weight_kg"][:dims]
    return Dataset(
        name=NAME,
        X=females[columns].to_numpy(dtype=np.float64),
        y=females["height_cm"].to_numpy(dtype=np.float64),
        columns=(AGE, Column(name="weight", unit="kg", box=WEIGHT_BOX))[:dims],
        outcome=Outcome(name="height", unit="cm", bounds=Y_BOUNDS, scale=Y_SCALE),
        privacy_unit="one woman's or girl's height",
        source=SOURCE,
        licence="no licence stated by the source; census figures openly deposited, reused with attribution",
        bounds_reason=BOUNDS_REASON,
    )


def _by_sex(dims: int) -> Dataset:
    if dims != 1:
        raise ValueError(f"with groups there are age and sex, so dims must be 1, got {dims!r}")
    census = pd.read_csv(PATH)
    return replace(
        load(),
        X=census[["age_years", "male"]].to_numpy(dtype=np.float64),
        y=census["height_cm"].to_numpy(dtype=np.float64),
        columns=(AGE, Column(name="sex", levels=SEXES)),
        outcome=Outcome(name="height", unit="cm", bounds=GROUPS_BOUNDS, scale=GROUPS_SCALE),
        privacy_unit="one person's height",
        bounds_reason="round figures for heights of children and grown people, taken from no table",
    )


_AGES = (1.0, 3.0, 5.0, 9.0, 15.0, 25.0, 40.0, 60.0, 81.0, 120.0)  # years

EXHIBITS = (
    Exhibit(
        name=NAME,
        title=TITLE,
        load=load,
        unit="years",
        lengthscales=_AGES,
        lengthscale=25.0,
        side_by_side=(3.0, 15.0, 40.0),
        scene="curve",
        drawn=AGES_DRAWN,
        sparse=SparseDefaults(inducing=(4, 6, 8, 10, 13), start=6, noise=0.3),
    ),
    Exhibit(
        name="kung_2d",
        title="!Kung heights by age and weight",
        load=partial(load, dims=2),
        unit="years",
        lengthscales=_AGES,
        lengthscale=25.0,
        ratios=(1.0, 0.6),  # a lengthscale of 25 years goes with one of 15 kg
        sparse=SparseDefaults(inducing=(3, 4, 5), start=4, noise=0.1),
    ),
    Exhibit(
        name="kung_sexes",
        title="!Kung heights of women and men",
        load=partial(load, groups=True),
        unit="years",
        lengthscales=_AGES,
        lengthscale=25.0,
        cross_validated=False,
    ),
)
