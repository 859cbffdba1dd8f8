"""Operations of the user's own: Custom, and how they are described."""
