"""Networks as files of MINDIR, MindSpore's own form: written, read, run.

`exporting` makes the file of the operations that `onnx.recording` wrote down, `nodes` has what each Primitive is there;
`loading` reads a file, `operations` has which Primitive each node of it is.
"""
