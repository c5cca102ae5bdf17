"""The script that a zip carries: it makes the same release again from the owner's own copy of the table."""

SCRIPT = '''\
"""Make the release described in release.json again, from your own copy of the table.

Needs Python 3.11 or newer with numpy, scipy and dpgp (its dpgp_core is enough). With this file and release.json in
one folder:

    python reproduce.py table.csv

writes again.zip (or the file named by --out). The noise is new, so the values differ, by about noise_sd.
THIS IS ANOTHER RELEASE OF THE SAME TABLE: it spends its epsilon again, and whoever sees both knows more than from one.
With --ledger FILE the total is kept in that file, and a release that would pass it is refused.
"""

import sys
from pathlib import Path

from dpgp_core.release.command_line import main

print("Running this is another release of the table: it spends its epsilon again.", file=sys.stderr)
config = Path(__file__).resolve().parent / "release.json"
out = [] if "--out" in sys.argv else ["--out", "again.zip"]
sys.exit(main(["release", "--config", str(config), *out, "--csv", *sys.argv[1:]]))
'''
