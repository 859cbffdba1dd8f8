"""From a network to the steps that a file holds, whatever its format.

`recording` writes down which operations a network runs (the gate tells its observer), `comparing` lays runs on inputs
of several sizes side by side, `steps` gives each step to the format's writer of it.
"""
