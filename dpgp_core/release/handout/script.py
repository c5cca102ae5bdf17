"""The script that a zip carries: it computes the values again, or makes the same release again for its owner."""

SCRIPT = '''\
"""Check the release in this folder, or make it again from your own copy of the table.

Needs Python 3.11 or newer with numpy, scipy and dpgp (its dpgp_core is enough).

    python reproduce.py

checks the files and computes the values from the measured numbers again. It needs no private table and spends nothing.

    python reproduce.py table.csv

measures again and writes again.zip (or the file named by --out). The noise is new, so the values differ.
THIS IS ANOTHER RELEASE OF THE SAME TABLE: it spends its epsilon again, and whoever sees both knows more than from one.
With --ledger FILE (the first time with --new-ledger too) a release that would pass the total in it is refused.
"""

import sys
from pathlib import Path

try:
    from dpgp_core.release.check import check_folder
    from dpgp_core.release.command_line import main
except ImportError as error:
    sys.exit(f"This needs numpy, scipy and dpgp in Python 3.11 or newer ({error}); install them, then run it again.")

folder = Path(__file__).resolve().parent
if len(sys.argv) == 1:
    try:
        print(check_folder(folder))
    except ValueError as error:
        sys.exit(f"This is not the release as it was made: {error}.")
    sys.exit(0)
print("Running this is another release of the table: it spends its epsilon again.", file=sys.stderr)
out = [] if "--out" in sys.argv else ["--out", "again.zip"]
sys.exit(main(["release", "--config", str(folder / "release.json"), *out, "--csv", *sys.argv[1:]]))
'''
