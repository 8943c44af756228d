"""Passes that choose how values are represented: numbers, lists or arrays."""
