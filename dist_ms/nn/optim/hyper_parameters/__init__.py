"""Hyper-parameters: checked, by group of parameters, and as they change from step to step."""
