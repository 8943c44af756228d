"""Objects of Python: instances, special methods, attributes that the program assigns to, and calls that Python itself carries out."""
