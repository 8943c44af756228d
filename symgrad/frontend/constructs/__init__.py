"""The statements and expressions of Python, one module for each kind."""
