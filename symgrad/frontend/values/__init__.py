"""Operations on values of every kind: comparison, truth, arithmetic, text, exact classes."""
