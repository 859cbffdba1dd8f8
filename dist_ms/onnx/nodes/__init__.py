"""What each Primitive is in ONNX: a table from its class's name to a function that adds the nodes.

Every file of this folder is a family of operations; `table` finds them all.
"""
