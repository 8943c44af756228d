"""Source text of the user's functions: where it is found, how it is checked against the code object, and the names that it binds."""
