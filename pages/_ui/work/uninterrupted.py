"""Loaded first by the process that workers are forked from: Ctrl-C in a terminal goes to all of them, and says nothing.

The server, which it goes to as well, ends them.
"""

import signal

signal.signal(signal.SIGINT, signal.SIG_IGN)
