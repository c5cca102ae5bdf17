"""Bayes cloaking over public cells: for private inputs, or for very many records."""
