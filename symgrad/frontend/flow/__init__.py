"""Control flow: blocks, branches, exception edges, joins of states, values carried around loops, and aliases by path."""
