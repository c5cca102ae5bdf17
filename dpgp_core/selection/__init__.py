"""Private selection of hyperparameters: kernel, lengthscale and noise variance."""
