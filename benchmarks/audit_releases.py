"""Released zips under attack: empirical lower bounds on epsilon, from the values that anybody can read in them.

Two CSV files that differ in one person are released many times through the same path as on the page and the command
line; the zips are parsed back from their bytes and attacked. ``python -m benchmarks audit_releases`` prints the table
(about 8 minutes with the default 20,000 zips of each file).
"""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from unittest.mock import patch

import numpy as np

from benchmarks.attacks.audit import Audit, fitted_attack
from benchmarks.shared.options import options_of
from dpgp_core.attack.audit import epsilon_lower_bound
from dpgp_core.attack.linear import LinearAttack, linear_attack
from dpgp_core.measurement.noise import GaussianNoise, LaplaceNoise
from dpgp_core.release import CHOICES, ReleaseSpec, bundle, plan_release, publish, read_table
from dpgp_core.release.measured_files import MAP
from dpgp_core.release.specification import EXAMPLE

PEOPLE = 30
CONFIDENCE = 1 - 1e-6
LEARNT = ("refined", "sparse")  # mechanisms whose values are not known noise about a known mean


@contextmanager
def scaled_noise(factor: float) -> Iterator[None]:
    """Discrete noise ``factor`` times as large as it should be: what the audit must find out."""
    with ExitStack() as stack:
        for kind in (GaussianNoise, LaplaceNoise):
            drawn = kind.draw

            def scaled(self, size, bits=None, drawn=drawn):
                return [round(factor * each) for each in drawn(self, size, bits)]

            stack.enter_context(patch.object(kind, "draw", scaled))
        yield


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Two neighbouring tables as CSV bytes, and what is released of each."""

    spec: ReleaseSpec
    tables: tuple[bytes, bytes]


def neighbours(
    mechanism: str,
    epsilon: float = 1.0,
    delta: float = 0.01,
    y_bounds: tuple[float, float] = EXAMPLE.y_bounds,
    points: int = 5,
) -> Pair:
    """Thirty people, the youngest being very small in one table and very tall in the other.

    The youngest is alone at her end of the box, so that no record moves the release more.

    Args:
        mechanism: name of a released one.
        epsilon: of each release.
        delta: of each release; 0 where the mechanism's is.
        y_bounds: declared bounds of the heights.
        points: of the grid that is predicted at.
    """
    pure = CHOICES[mechanism].kind.pure
    spec = replace(
        EXAMPLE,
        mechanism=mechanism,
        epsilon=epsilon,
        delta=0.0 if pure else delta,
        total_delta=delta,
        y_bounds=y_bounds,
        total_epsilon=max(EXAMPLE.total_epsilon, epsilon),
        grid=(points,),
        cells=3 if CHOICES[mechanism].kind.uses_cells else None,
    )
    rng = np.random.default_rng(7)
    ages = np.concatenate([[1.0], rng.uniform(40, 90, PEOPLE - 1)])
    heights = y_bounds[0] + rng.uniform(0.6, 0.8, PEOPLE) * (y_bounds[1] - y_bounds[0])
    tables = []
    for heights[0] in spec.y_bounds:
        rows = [f"{x:.4f},{y:.4f}\n" for x, y in zip(ages, heights, strict=True)]
        tables.append(("age,height\n" + "".join(rows)).encode())
    return Pair(spec=spec, tables=(tables[0], tables[1]))


def released_zips(spec: ReleaseSpec, table: bytes, count: int) -> Iterator[bytes]:
    """Zips of ``count`` independent releases of one table, planned once."""
    data = read_table(io.BytesIO(table), spec)
    plan = plan_release(spec, data.X)
    ledger = spec.new_ledger()
    ledger.spend([("audited release", spec.guarantee)])
    for _ in range(count):
        yield bundle(publish(plan, data), ledger)


def files_in(content: bytes) -> dict[str, bytes]:
    """All files of a zip, by name."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def values_in(files: Mapping[str, bytes]) -> list[float]:
    """The released values in a zip's files, read as anybody would: from the numbers measured, or else as rounded."""
    if MAP in files:
        found = np.load(io.BytesIO(files[MAP]), allow_pickle=False)
        return list(found["offset"] + found["map"] @ found["z"])
    return [float(row["value"]) for row in csv.DictReader(io.StringIO(files["values.csv"].decode()))]


def informed_attack(pair: Pair) -> LinearAttack:
    """The best linear score for an attacker who knows both tables and asks which of them was released."""
    spec, releases = pair.spec, []
    for table in pair.tables:
        data = read_table(io.BytesIO(table), spec)
        releases.append(spec.built.release(data, spec.points(), np.random.default_rng(0)))
    return linear_attack(releases[0], releases[1])


def audit_zips(pair: Pair, zips: int, *, factor: float = 1.0, confidence: float = CONFIDENCE) -> Audit:
    """Bound epsilon from below by attacking ``zips`` zips of each table.

    Where the noise of the values is Gaussian or Laplace about a known mean, the attack uses that; where it went
    through clipping or a posterior, a quarter of the zips teaches the attack its direction and is not counted.
    """
    values = []
    for table in pair.tables:
        with scaled_noise(factor):
            released = (files_in(content) for content in released_zips(pair.spec, table, zips))
            values.append(np.array([values_in(files) for files in released]))
    pilot = zips // 4 if pair.spec.mechanism in LEARNT else 0
    attack = fitted_attack(values[0][:pilot], values[1][:pilot]) if pilot else informed_attack(pair)
    claim = pair.spec.guarantee.budget
    inside, outside = (attack.score(found[pilot:]) for found in values)
    return Audit(
        epsilon_lower=epsilon_lower_bound(inside, outside, claim.delta, confidence),
        claimed=claim.epsilon,
        delta=claim.delta,
        confidence=confidence,
        trials=zips - pilot,
    )


def main(argv: Sequence[str] | None = None) -> None:
    """Print the table."""
    zips = options_of(__doc__, argv, zips=20_000).zips
    print(f"{zips} zips of each of two tables, confidence 1 - 1e-6; epsilon at least ...")
    print(f"{'mechanism':15} {'claimed':>9} {'as released':>12} {'half the noise':>15}")
    for mechanism in CHOICES:
        pair = neighbours(mechanism)
        whole, half = (audit_zips(pair, zips, factor=factor) for factor in (1.0, 0.5))
        verdict = "refuted" if half.refuted else "not refuted"
        print(
            f"{mechanism:15} {whole.claimed:9g} {whole.epsilon_lower:12.3f} {half.epsilon_lower:15.3f}  {verdict}",
            flush=True,
        )
        if whole.refuted:
            raise SystemExit(f"{mechanism}: the claim is false")
