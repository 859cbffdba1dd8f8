"""Tensors made of numbers, of other types, and facts about them."""
