"""Embedding vectors merged by field, and tables that parameter servers hold."""
