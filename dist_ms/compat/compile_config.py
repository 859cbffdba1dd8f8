"""`mindspore._extends.parse.compile_config`: switches of MindSpore's compiler.

Tests assign them. There is no compiler here: `bprop` results are always checked, and nothing
else reads a switch.
"""

CHECK_BPROP: int | str = ""
COMPILE_PROFILE: int | str = ""
FALLBACK_SUPPORT_LIST_DICT_INPLACE: int | str = ""
FALLBACK_FORCE_ANY: int | str = ""
STRICT_CHECK_PARENT_CONTEXT: int | str = ""
IF_PARALLEL_CALL: int | str = ""
