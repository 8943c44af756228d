"""What other libraries take of a function -> calls of them, with derivatives by symgrad."""
