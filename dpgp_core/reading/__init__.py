"""Reading numeric columns of somebody's own file: streamed, checked, and never guessed from."""
