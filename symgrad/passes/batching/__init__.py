"""Passes that replace many small operations by one on arrays with an axis more, and that tile large ones."""
