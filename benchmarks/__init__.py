"""Tables of what is claimed about accuracy, privacy, speed and load. `python -m benchmarks` lists them."""

import os

for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")  # read when numpy is first imported
