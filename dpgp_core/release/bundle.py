"""A release as a zip: the values, a card that says what was promised, and a script that does it again."""

from __future__ import annotations

import io
import platform
import zipfile
from typing import Any

import numpy as np
import scipy

from .. import __version__
from ..accounting.ledger import Ledger
from .cells import csv_text, published_columns
from .ledger_json import SCHEMA, guarantee_to_object, ledger_to_object
from .publishing import Published
from .script import SCRIPT
from .specification import ReleaseSpec
from .specification_json import spec_to_object
from .strict_json import write_object

_LONG_AGO = (1980, 1, 1, 0, 0, 0)  # the earliest a zip can hold: when it was made is nobody's business

COLUMNS = {
    "value": "released value at the inputs before it; may be published",
    "noise_sd": "standard deviation of the privacy noise in value",
    "model_sd": "standard deviation of the curve about the fit without noise, if the model is right",
    "total_sd": "standard deviation of the curve about value, privacy noise included, if the model is right",
}
_NOISE = (
    "drawn by PCG64 (numpy), seeded with 128 bits from the operating system; the seed was not kept. Values are rounded "
    "to multiples of step; sampling itself is not hardened against attacks on floating-point arithmetic"
)
_NOISE_NOTES = {
    "refined": "of all stages together, simulated for outputs that the model expects; larger where it fits badly",
    "sparse": "to first order, computed from what was released",
    "integral_bins": "the noise is a sum of Laplace variables, not Gaussian",
}


def bundle(published: Published, spec: ReleaseSpec, ledger: Ledger) -> bytes:
    """The zip to hand out: ``values.csv``, ``release.json``, ``reproduce.py``.

    It holds nothing computed from the outputs but the released values, no seed and no time.

    Args:
        published: from ``publish``.
        spec: what it was published with.
        ledger: what has been spent on the table so far, this release included.

    Raises:
        ValueError: the ledger does not count this release.
    """
    if published.guarantee not in [guarantee for _, guarantee in ledger.entries]:
        raise ValueError("the ledger does not count this release; spend spec.guarantee on it before publishing")
    columns = published_columns(published, spec)
    files = {
        "values.csv": csv_text(columns),
        "release.json": write_object(release_card(published, spec, ledger, list(columns))),
        "reproduce.py": SCRIPT,
    }
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            entry = zipfile.ZipInfo(name, date_time=_LONG_AGO)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, text.encode())
    return stream.getvalue()


def release_card(published: Published, spec: ReleaseSpec, ledger: Ledger, columns: list[str]) -> dict[str, Any]:
    """The content of ``release.json``: all that is public about a release, and its accounting."""
    described = {name: COLUMNS[name] for name in columns if name in COLUMNS}
    if spec.mechanism in _NOISE_NOTES:
        described["noise_sd"] += f"; {_NOISE_NOTES[spec.mechanism]}"
    inputs = {name: f"input, in {unit}" if unit else "input" for name, unit in zip(spec.x, spec.x_units, strict=True)}
    return {
        "schema": SCHEMA,
        "what": f"{spec.built.label}: {spec.y} predicted on a public grid with differential privacy",
        "guarantee": guarantee_to_object(published.guarantee),
        "config": spec_to_object(spec),
        "public": {"n": published.n, "y_scale": spec.scale, "reference": spec.built.reference},
        "values": {
            "file": "values.csv",
            "rows": len(published.values),
            "step": published.step,
            "unit": spec.y_unit,
            "columns": inputs | described,
        },
        "noise": _NOISE,
        "ledger": ledger_to_object(ledger),
        "software": {
            "dpgp": __version__,
            "python": platform.python_version(),
            "numpy": np.__version__,
            "scipy": scipy.__version__,
        },
    }
