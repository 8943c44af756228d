"""The state of lowering: bindings of names, memory, facts known on a path, and the context in which constructs are lowered."""
