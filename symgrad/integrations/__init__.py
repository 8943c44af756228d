"""Adapters for other libraries, with derivatives by symgrad."""
