"""Lists, texts and sets in kernels."""
