"""Which settings of a contest concern a contender: read off how its mechanism is built."""

from __future__ import annotations

from typing import cast

from datasets import exhibit
from dpgp_core.kernels import EQ
from dpgp_core.mechanisms.catalogue import Entry, Parameters
from pages._ui.compare.contenders import CONTENDERS, Contest
from pages._ui.model import Model

_ANY_EPSILON, _ANY_NOISE, _ANY_COUNT, _ANY_DELTA = 1.0, 0.3, 1, 0.01  # of a contender that does not use them


class _Watched:
    """Parameters that note which of them are read."""

    def __init__(self, parameters: Parameters) -> None:
        self._parameters, self._read = parameters, set[str]()

    def __getattr__(self, name: str) -> object:
        self._read.add(name)
        return getattr(self._parameters, name)


def _read_by(entry: Entry) -> frozenset[str]:
    """The parameters that a contender is built from."""
    watched = _Watched(
        Parameters(
            kernel=EQ(), noise_variance=_ANY_NOISE, epsilon=_ANY_EPSILON, delta=_ANY_DELTA, x_box=((0.0, 1.0),),
            n=2, cells=2, inducing=2, fit_noise=True,
        )
    )  # fmt: skip
    entry.build(cast(Parameters, watched))
    return frozenset(watched._read)


_READ = {name: _read_by(entry) for name, entry in CONTENDERS.items()}


def concerning(contest: Contest, name: str) -> Contest:
    """The contest as far as it concerns a contender: settings that its mechanism is not built from stand at some value.

    So a curve is computed once for all contests that differ in such settings only, as in the number of bins.
    """
    read, shipped = _READ[name], exhibit(contest.model.dataset)
    usual = Model(shipped.name, "EQ", shipped.lengthscale, _ANY_NOISE)
    return Contest(
        model=contest.model if read & {"kernel", "noise_variance", "clip"} else usual,
        delta=contest.delta if "delta" in read else _ANY_DELTA,
        bins=contest.bins if read & {"cells", "needed_cells"} else _ANY_COUNT,
        inducing=contest.inducing if "inducing" in read else _ANY_COUNT,
    )
