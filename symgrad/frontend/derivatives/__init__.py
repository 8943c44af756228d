"""Derivatives and batches that the user's function itself takes."""
