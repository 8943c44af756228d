# Written by "python -m tests.stubs --write" from the signatures in symgrad/vocabulary.
from symgrad.vocabulary.typed import accuracy as accuracy

__all__ = [
    "accuracy",
]
