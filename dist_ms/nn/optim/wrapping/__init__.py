"""Optimizers around another one."""
