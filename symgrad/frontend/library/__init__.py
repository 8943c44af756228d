"""Functions of builtins, ``math``, ``itertools``, NumPy and SciPy that are more than one row of the vocabulary."""
