from dpgp_core.bayes.cells.grid import CellGrid
from dpgp_core.bayes.cells.models import cell_models
from dpgp_core.bayes.models import Model
from dpgp_core.kernels import EQ

CELLS = CellGrid(box=((0.0, 1.0),), per_side=6)
MODEL = Model(kernel=EQ(variance=0.5, lengthscale=0.4), noise_variance=0.2)


def test_models_of_one_kernel_share_their_features():
    models = cell_models([MODEL, Model(kernel=MODEL.kernel, noise_variance=1.0)], CELLS)
    assert models[0].nodes is models[1].nodes
