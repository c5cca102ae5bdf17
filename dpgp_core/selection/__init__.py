"""Private choice of kernel, lengthscale and noise."""
