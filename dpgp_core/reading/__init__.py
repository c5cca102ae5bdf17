"""Read numerical and categorical columns of a user's table, with all cells checked and without guesses."""
