"""Passes that move ops out of loops and branches, or merge branches."""
