"""The public functions of tensors, for recorded tensors and for variables of programs alike."""
