"""The functions of tensors that users call, for recorded tensors and for variables of programs alike."""
