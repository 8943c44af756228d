"""Lists, dicts, sets and tuples, static and growing; iterables, iterators and generators."""
