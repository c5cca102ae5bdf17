"""Fill the lattice: open every page as a visitor would, at its default state and at its lessons' first steps.

The server starts this as a program of its own, `python -m pages._ui.serve.warm`, at low priority; a second
start of the same code finds the lattice complete and does nothing.
"""

from __future__ import annotations

import logging
import os
import sys
import time

from streamlit.testing.v1 import AppTest

from pages._ui.menu import warm_states
from pages._ui.work import cached
from pages._ui.work.store import ROOT, Lattice

_NICENESS = 15
_ALLOWED_SECONDS = 600


def visit(page: str, address: dict[str, str]) -> None:
    """Run one page at one address; raises whatever the page raises."""
    app = AppTest.from_file(str(ROOT / "pages/_ui/main.py"), default_timeout=_ALLOWED_SECONDS)
    for key, value in address.items():
        app.query_params[key] = value
    app.switch_page(f"../{page}.py").run()
    if app.exception:
        raise RuntimeError(f"{page} with {address}: {app.exception[0].value}")


def main() -> int:
    """Fill the lattice unless it is complete; return the exit code."""
    os.nice(_NICENESS)
    lattice = Lattice.of_this_code(writable=True)
    lattice.check()
    if lattice.complete:
        return 0
    try:
        with lattice.alone() as alone:
            if alone:
                _fill(lattice)
    except ValueError as error:
        print(f"no lattice: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"no lattice: {error.strerror}; set DPGP_LATTICE to a folder that can be written to", file=sys.stderr)
        return 1
    return 0


def _fill(lattice: Lattice) -> None:
    cached.jobs.lattice = lattice
    start = time.perf_counter()
    states = warm_states()
    for page, address in states:
        visit(page, address)
    lattice.finish()
    print(f"warmed {len(states)} states in {time.perf_counter() - start:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    logging.disable(logging.WARNING)  # streamlit warns at every page that nobody is there to see it
    sys.exit(main())
