"""Specifications, tables, and releases of them, for the tests of this folder."""

import csv
import functools
import io
import zipfile
from dataclasses import replace

import numpy as np

from dpgp_core.release import CHOICES, Published, bundle, plan_release, publish, read_table
from dpgp_core.release.command_line import main
from dpgp_core.release.json_text import spec_from_object, spec_to_object
from dpgp_core.release.specification import EXAMPLE

TWO = {"x": ("age", "weight"), "x_units": ("years", "kg"), "x_box": ((0, 100), (0, 90)), "lengthscale": (25, 20)}
GROWTH = {"x": ("age", "sex"), "x_units": ("years", ""), "x_box": ((0, 20), None), "grid": (5, None)}
GROWTH |= {"x_levels": (None, ("girls", "boys", "other")), "lengthscale": None, "mechanism": "bayes_cells"}


def make_spec(**changes):
    """A specification for heights by age on 9 points, with changes; budgets fit the mechanism."""
    pure = changes.get("mechanism") in {name for name, choice in CHOICES.items() if choice.kind.pure}
    budget = {"delta": 0.0, "total_delta": 1e-5} if pure else {"delta": 1e-5}
    return replace(EXAMPLE, **{"mechanism": "refined", "unit": "one person's height", "grid": (9,)} | budget | changes)


def make_open(**changes):
    """A specification for wages by age on 5 points, whose bounds are bought."""
    declared = {"y": "wage", "y_unit": "pounds", "y_kind": "amount", "mechanism": "bayes", "grid": (5,)}
    found = spec_to_object(make_spec(**declared, y_bounds=(0.0, 9.0), unit="one person's wage"))
    return spec_from_object(found | {"y_bounds": None, "bounds_unit": 0.01} | changes)


def make_table(seed=0, n=40):
    """CSV bytes of n people: age 0 ... 90 the same for every seed, height different."""
    ages = np.random.default_rng(99).uniform(0, 90, n)
    heights = 60 + 110 * (1 - np.exp(-ages / 8)) + np.random.default_rng(seed).normal(0, 8, n)
    rows = [f"{age:.2f},{height:.4f}\n" for age, height in zip(ages, heights, strict=True)]
    return ("age,height\n" + "".join(rows)).encode()


def read(spec, seed=0, n=40):
    """Read the table of so many people as it is declared."""
    return read_table(io.BytesIO(make_table(seed, n)), spec)


def make_published(spec, widths, step=0.1):
    """Released values 1, 2, ... on the grid, the interval of each this wide; nothing was measured."""
    values, half = np.arange(1.0, 1 + len(widths)), np.array(widths) / 2
    ends, outcome = (values - half, values + half), spec.outcome
    return Published(
        spec=spec, values=values, curve=ends, outputs=ends, statistics=(), step=step, n=40, outcome=outcome
    )


def make_zip(spec, table=None):
    """Make a zip as the page and the command line do; returns its files by name."""
    data = read_table(io.BytesIO(make_table() if table is None else table), spec)
    ledger = spec.new_ledger()
    ledger.spend([("a release", spec.guarantee)])
    return unzipped(bundle(released(spec, data), ledger))


@functools.cache
def zip_of(mechanism="refined"):
    """The files of one release by each mechanism, made once."""
    return make_zip(make_spec(mechanism=mechanism))


def released(spec, data):
    """A real release of a table, planned for it."""
    return publish(plan_release(spec, data.X, data.person), data)


def unzipped(content):
    """The files of a zip by name."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def written(files, folder):
    """Write files by name; returns the folder."""
    folder.mkdir(exist_ok=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return folder


def names(folder):
    """The files of a folder."""
    return sorted(path.name for path in folder.iterdir())


def rows_of(files):
    """The rows of the table in a zip, by the names of their columns."""
    return list(csv.DictReader(io.StringIO(files["values.csv"].decode())))


def command(folder, table, config, *more):
    """The exit code of the command that releases a table by a configuration in JSON; it makes out.zip in the folder."""
    (folder / "table.csv").write_bytes(table)
    (folder / "config.json").write_text(config)
    named = {"--csv": "table.csv", "--config": "config.json", "--out": "out.zip"}
    return main(["release", *(each for key, name in named.items() for each in (key, str(folder / name))), *more])
