"""The notebook extension: how derivatives are displayed, and the magic ``%%symgrad``; load it with ``%load_ext symgrad``."""
