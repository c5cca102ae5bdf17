"""Which linear combinations of the private outputs are measured: strategies and how good they can be."""
