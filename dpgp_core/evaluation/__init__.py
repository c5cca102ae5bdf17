"""How good a release is: errors, held-out comparison."""
