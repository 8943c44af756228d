"""Functions of the user: calls that are inlined, recursion, memoised functions, and callables of other kinds."""
