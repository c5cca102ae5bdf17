"""Records what every noise primitive adds noise to, and replays the outcome on a neighbour: what tells them apart.

A release of one data set is recorded: the exact integers x, the noise's parameter, the noisy integers z. On a neighbour
the noise is replaced by what leads to the same z, stage after stage. So both releases have the same history, must be
equal to the last bit if nothing but z is public, and x - x' in units of the noise is what the release gives away. From
there on formulas are written out anew, so that they share nothing with the ones under test.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, is_dataclass
from functools import partial

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.special import logsumexp

from dpgp_core.measurement import noise
from dpgp_core.selection import exponential


@dataclass
class Call:
    """One call of a primitive: its parameter, the exact integers (None until used) and the outcome."""

    kind: str
    parameter: object
    exact: list
    outcome: list


@dataclass
class Tape:
    """All calls of one release, in order.

    Attributes:
        earlier: the tape whose outcomes are forced.
        rng: source of the noise of a first tape; None for no noise.
    """

    earlier: Tape | None = None
    rng: np.random.Generator | None = None
    calls: list[Call] = field(default_factory=list)

    def drawn(self, kind, parameter, size):
        call = Call(kind, parameter, [None] * size, [None] * size)
        if self.earlier is not None:
            before = self.earlier.calls[len(self.calls)]
            assert (before.kind, before.parameter, len(before.exact)) == (kind, parameter, size)
            call.outcome = before.outcome
        self.calls.append(call)
        added = np.zeros(size) if self.rng is None else self.rng.standard_normal(size) * math.sqrt(parameter)
        return [Noise(call, i, round(each)) for i, each in enumerate(added)]

    def chosen(self, kind, draw, scores, rate, bits=None):
        if self.earlier is not None:
            outcome = self.earlier.calls[len(self.calls)].outcome
            assert self.earlier.calls[len(self.calls)].parameter == rate
        else:
            outcome = [draw(scores, rate, bits)]
        self.calls.append(Call(kind, rate, list(scores), outcome))
        return outcome[0]


class Noise(int):
    """Noise of a first tape; later what leads to the same sum. It must be added to one integer, once."""

    def __new__(cls, call, i, first=0):
        made = super().__new__(cls, 0)
        made.call, made.i, made.first = call, i, first
        return made

    def __radd__(self, exact):
        assert isinstance(exact, int)
        assert self.call.exact[self.i] is None
        self.call.exact[self.i] = int(exact)
        if self.call.outcome[self.i] is None:
            self.call.outcome[self.i] = int(exact) + self.first
        return self.call.outcome[self.i]


@contextmanager
def taped(earlier=None, rng=None):
    """Record all exact noise and every private choice; with ``earlier``, force its outcomes."""
    tape = Tape(earlier, rng)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(noise, "discrete_gaussian", lambda v, size, bits=None: tape.drawn("gaussian", v, size))
        patch.setattr(noise, "discrete_laplace", lambda b, size, bits=None: tape.drawn("laplace", b, size))
        for kind in ("exponential_mechanism", "permute_and_flip"):
            draw = getattr(exponential, kind)
            patch.setattr(
                exponential,
                kind,
                lambda scores, rate, bits=None, kind=kind, draw=draw: tape.chosen(kind, draw, scores, rate, bits),
            )
        yield tape


def assert_same(one, other, where="release"):
    """All that two objects hold is equal to the last bit, down to the last array."""
    if is_dataclass(one):
        for each in fields(one):
            assert_same(getattr(one, each.name), getattr(other, each.name), f"{where}.{each.name}")
    elif isinstance(one, np.ndarray):
        np.testing.assert_array_equal(one, other, err_msg=where)
    elif isinstance(one, partial):  # what is made when asked for follows from its arguments
        assert one.func == other.func, where
        assert_same(one.args, other.args, where)
    elif isinstance(one, Mapping):
        assert one.keys() == other.keys(), where
        for key in one:
            assert_same(one[key], other[key], f"{where}[{key!r}]")
    elif isinstance(one, Sequence) and not isinstance(one, str | bytes):
        assert len(one) == len(other), where
        for i, (mine, yours) in enumerate(zip(one, other, strict=True)):
            assert_same(mine, yours, f"{where}[{i}]")
    else:
        assert one == other, where


def pairs_of(tape):
    """Each call beside the one it replays; nothing drawn may be left unused."""
    assert len(tape.calls) == len(tape.earlier.calls) > 0
    for before, after in zip(tape.earlier.calls, tape.calls, strict=True):
        assert None not in before.exact
        assert None not in after.exact
        yield before, after


def gaussian_mu(tape):
    """Length of the difference of the exact integers, in standard deviations, over all Gaussian calls."""
    squares = [
        sum((x - other) ** 2 for x, other in zip(before.exact, after.exact, strict=True)) / before.parameter
        for before, after in pairs_of(tape)
        if before.kind == "gaussian"
    ]
    return math.sqrt(math.fsum(squares))


def pure_epsilon(tape):
    """Largest log-ratio of the probabilities of any outcome, over Laplace calls and choices."""
    return math.fsum(_largest_ratio(before, after) for before, after in pairs_of(tape) if before.kind != "gaussian")


def _largest_ratio(before, after):
    if before.kind == "laplace":
        return sum(abs(x - other) for x, other in zip(before.exact, after.exact, strict=True)) / before.parameter
    assert before.kind == "exponential_mechanism"
    logs = [float(call.parameter) * np.array([float(u) for u in call.exact]) for call in (before, after)]
    first, second = (log - logsumexp(log) for log in logs)
    return float(np.abs(first - second).max())


def delta_of(mu, epsilon):
    """int (phi(t - mu) - e^epsilon phi(t))^+ dt: the least delta of a Gaussian shift mu at this epsilon."""

    def density(t, centre):
        return math.exp(-((t - centre) ** 2) / 2) / math.sqrt(2 * math.pi)

    start = epsilon / mu + mu / 2  # where the two densities differ by the factor e^epsilon
    value, _ = quad(lambda t: density(t, mu) - math.exp(epsilon) * density(t, 0.0), start, start + 40, epsabs=1e-14)
    return value


def gaussian_epsilon(mu, delta):
    """Least epsilon at this delta of a Gaussian shift mu; 0 where delta alone covers it."""
    if delta_of(mu, 0.0) <= delta:
        return 0.0
    return brentq(lambda epsilon: delta_of(mu, epsilon) - delta, 0.0, 60.0, xtol=1e-12)
