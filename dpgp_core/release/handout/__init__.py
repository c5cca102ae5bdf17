"""What a zip holds for people: the page to read, the figure, the script that does it again."""
