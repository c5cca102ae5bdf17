"""``python -m dpgp_core``: releases without a browser; see ``release.command_line``."""

import sys

from .release.command_line import main

sys.exit(main())
