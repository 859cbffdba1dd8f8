"""Stages: what a dataset's methods make of its rows."""
