"""What of Python is read, carried out, kept and refused: a table of examples, and ``docs/language.md``, which is written from it."""
