"""Real releases: a declared specification, exact noise from the operating system, and a zip that may be published."""

from ..mechanisms.catalogue import KERNEL_NAMES
from ..reading.rows import column_names
from .bundle import bundle
from .json_text import ledger_from_json, ledger_to_json, spec_from_json, spec_to_json
from .notebook import notebook
from .plan import ReleasePlan, expected_half_widths, plan_release
from .private_table import read_table
from .publishing import Published, publish
from .specification import CENTILES, CHOICES, ReleaseSpec

__all__ = [
    "CENTILES",
    "CHOICES",
    "KERNEL_NAMES",
    "Published",
    "ReleasePlan",
    "ReleaseSpec",
    "bundle",
    "column_names",
    "expected_half_widths",
    "ledger_from_json",
    "ledger_to_json",
    "notebook",
    "plan_release",
    "publish",
    "read_table",
    "spec_from_json",
    "spec_to_json",
]
