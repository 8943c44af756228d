"""The rows of the vocabulary, by topic."""
