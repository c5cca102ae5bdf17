"""Unknown bounds of the outcome, estimated from a noisy histogram that is measured with a share of the budget."""
