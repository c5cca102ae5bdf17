"""``python -m dpgp_core``: releases without a browser; see ``publishing.command_line``."""

import sys

from .publishing.command_line import main

sys.exit(main())
