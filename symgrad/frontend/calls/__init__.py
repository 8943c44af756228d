"""Calls by what is called: rows of the vocabulary, declared functions, classes, attributes, functions read from libraries."""
