"""Sets of recordings: spoken words and sentences, talks and music."""
