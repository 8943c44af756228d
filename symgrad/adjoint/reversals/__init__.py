"""The reverse of each kind of op."""
