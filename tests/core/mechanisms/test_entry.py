import re
from dataclasses import replace

import pytest

from dpgp_core.kernels import EQ, KERNELS
from dpgp_core.mechanisms import CATALOGUE
from dpgp_core.mechanisms.base import ANY_ROWS, EXACT_ROWS, FACTORED_ROWS
from dpgp_core.mechanisms.catalogue import KERNEL_NAMES, Parameters

PARAMETERS = Parameters(kernel=EQ(lengthscale=2.0), noise_variance=0.1, epsilon=1.0, delta=1e-5, x_box=((0.0, 1.0),))


def test_a_number_of_cells_that_is_needed_is_asked_for():
    assert replace(PARAMETERS, cells=7).needed_cells == 7
    with pytest.raises(ValueError, match="needs cells, the number of cells along each input"):
        _ = PARAMETERS.needed_cells


def test_names_of_kernels_make_them():
    assert tuple(KERNEL_NAMES.values()) == KERNELS
    for name, kernel in KERNEL_NAMES.items():
        assert kernel.__name__ == name


def test_bayes_cloaking_takes_millions_of_rows_where_they_share_cells():
    bayes = CATALOGUE["bayes"]
    assert [bayes.kind.rows_for(inputs) for inputs in (1, 3, 4)] == [ANY_ROWS, ANY_ROWS, EXACT_ROWS]
    assert CATALOGUE["inducing"].kind.rows_for(1) == CATALOGUE["inducing"].kind.rows_for(10) == EXACT_ROWS


def test_ids_fit_into_addresses_and_every_limit_of_rows_is_one_of_three():
    for name, entry in CATALOGUE.items():
        assert re.fullmatch("[a-z_]+", name)
        assert entry.kind.max_rows in (EXACT_ROWS, FACTORED_ROWS, ANY_ROWS)
        assert set(entry.kind.kernel_names) <= set(KERNEL_NAMES)
        assert not (entry.kind.uses_cells and entry.kind.automatic)
