"""Descriptions of operations for compilers that are not here: as MindSpore 2.10 makes them."""

import pytest

from dist_ms import ops
from dist_ms.ops import DataType, TBERegOp

BYTES, FLOATS = (DataType.I8_Default, DataType.I8_Default), (DataType.F32_None, DataType.F32_5HD)


@pytest.mark.parametrize("name, kind", [("AiCPURegOp", "AiCPU"), ("CpuRegOp", "CPU")])
def test_operations_of_cpus(name, kind):
    made = getattr(ops, name)("S").fusion_type("OPAQUE").attr("axis", "int").attr("b", "str", "v")
    made = made.input(0, "x", "dynamic").output(0, "y", "required").dtype_format(*BYTES).dtype_format(*FLOATS)
    assert made.get_op_info() == {
        "op_name": "S",
        "inputs": [{"index": 0, "name": "x", "paramType": "dynamic"}],
        "outputs": [{"index": 0, "name": "y", "paramType": "required"}],
        "attr": [{"name": "axis", "type": "int"}, {"name": "b", "type": "str", "value": "v"}],
        "fusion_type": "OPAQUE",
        "dtype_format": [BYTES, FLOATS],
        "imply_type": kind,
    }


@pytest.mark.parametrize("name, processor", [("AkgGpuRegOp", "CUDA"), ("AkgAscendRegOp", "AiCore")])
def test_operations_of_akg(name, processor):
    made = getattr(ops, name)("S").attr("a", "required", "int").input(0, "x").output(0, "y").dtype_format(*FLOATS)
    info = made.get_op_info()
    assert info["attr"] == [{"name": "a", "paramType": "required", "type": "int"}]
    assert (info["imply_type"], info["processor"], info["inputs"]) == ("AKG", processor, [{"index": 0, "name": "x"}])
    with pytest.raises(TypeError, match="too many arguments"):
        made.input(0, "x", "dynamic")


def test_operations_of_the_tensor_engine():
    plain = TBERegOp("Op").attr("format", "required", "str", "all").attr("a", "optional", "int", "1,2", "3")
    plain = plain.input(0, "x1", None, "required", None).input(1, "x2", False, "dynamic", "all")
    info = plain.output(0, "y", True, "required", "all").dtype_format(*BYTES, BYTES[0]).get_op_info()
    assert info == {
        "op_name": "Op",
        "inputs": [
            {"index": 0, "name": "x1", "paramType": "required"},
            {"index": 1, "name": "x2", "needCompile": False, "paramType": "dynamic", "shape": "all"},
        ],
        "outputs": [{"index": 0, "name": "y", "need_compile": True, "paramType": "required", "shape": "all"}],
        "attr": [
            {"name": "format", "paramType": "required", "type": "str", "value": "all"},
            {"name": "a", "paramType": "optional", "type": "int", "value": "1,2", "defaultValue": "3"},
        ],
        "fusion_type": "", "dtype_format": [(*BYTES, BYTES[0])], "imply_type": "TBE", "async_flag": False,
        "binfile": "", "compute_cost": 10, "kernel": "", "partial_flag": False, "reshape_type": "",
        "dynamicRankSupport": False, "dynamicShapeSupport": False, "dynamicCompileStatic": False,
        "needCheckSupport": False, "dynamicFormat": False, "op_pattern": "", "real_input_index": [],
        "input_to_attr_index": [], "unknown_shape_formats": [],
    }  # fmt: skip
    made = TBERegOp("A").input(0, "x", value_depend="required").input(1).output(0, "y", need_compile=False)
    made = made.attr("q", value_type="int", kk=3).fusion_type("ELEMWISE").async_flag(True).binfile_name("b.so")
    made = made.compute_cost(3).kernel_name("k").partial_flag().op_pattern("formatAgnostic").need_check_supported(True)
    made = made.dynamic_shape(True).dynamic_rank_support(True).dynamic_compile_static(True).real_input_index([1, 0])
    made = made.input_to_attr_index([2]).unknown_shape_formats(["ND"]).reshape_type("NC").is_dynamic_format(True)
    info = made.get_op_info()
    assert info["inputs"] == [{"index": 0, "name": "x", "valueDepend": "required"}, {"index": 1}]
    assert info["attr"] == [{"name": "q", "type": "int", "kk": 3}]
    assert list(info.values())[6:] == [
        "TBE", True, "b.so", 3, "k", True, "NC", True, True, True, True, True, "formatAgnostic", [1, 0], [2], [["ND"]]
    ]  # fmt: skip


@pytest.mark.parametrize(
    "call, error",
    [
        (lambda: TBERegOp(3), ValueError),
        (lambda: TBERegOp("").get_op_info(), ValueError),
        (lambda: TBERegOp("a").dtype_format(3), ValueError),
        (lambda: TBERegOp("a").async_flag(1), TypeError),
        (lambda: TBERegOp("a").fusion_type(1), TypeError),
        (lambda: TBERegOp("a").op_pattern(3), TypeError),
        (lambda: TBERegOp("a").input("x", 1), TypeError),
        (lambda: TBERegOp("a").input(0, 1), TypeError),
        (lambda: TBERegOp("a").real_input_index(3), TypeError),
        (lambda: TBERegOp("a").attr("a", "b", "c", 5), TypeError),
        (lambda: ops.CpuRegOp("a").attr(1), TypeError),
        (lambda: ops.op_info_register(3)(len), TypeError),
    ],
)
def test_refusals(call, error):
    with pytest.raises(error, match="^For '"):
        call()


def test_python_functions_for_operations():
    class Kind:
        """An operation."""

    @ops.vm_impl_registry.register(Kind)
    def make(operation):
        return lambda x: (type(operation), x)

    try:
        assert ops.get_vm_impl_fn("Kind")(1) == (str, 1)
        assert ops.get_vm_impl_fn(Kind())(2) == (Kind, 2)
        assert ops.get_vm_impl_fn("nothing") is None
    finally:
        del ops.vm_impl_registry["Kind"]
