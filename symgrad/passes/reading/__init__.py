"""Passes for text that is read."""
