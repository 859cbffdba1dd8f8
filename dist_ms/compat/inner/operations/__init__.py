"""Operations of private paths."""
