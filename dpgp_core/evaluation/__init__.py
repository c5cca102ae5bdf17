"""Quality of releases: errors, comparison on records left out, limits."""
