"""NodeType: what a node of a SymbolTree does."""

from enum import Enum

__all__ = ["NodeType"]


class NodeType(Enum):
    """What a node does.

    Examples:
        >>> from dist_ms.rewrite import NodeType
        >>> print(NodeType.CallCell)
        NodeType.CallCell
    """

    Unknown = 0
    CallCell = 1
    CallPrimitive = 2
    CallModule = 3
    CallFunction = 4
    CallMethod = 5
    Python = 6
    Input = 7
    Output = 8
    Tree = 9
    CellContainer = 10
    MathOps = 11
    ControlFlow = 12
