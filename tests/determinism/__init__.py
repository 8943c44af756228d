"""The same program gives the same answer: texts emitted in processes that differ in all that must not matter."""
