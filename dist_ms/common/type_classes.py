"""The classes of data types: numbers, families of them, Python objects, tensors."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

_COMPLEX: dict[np.dtype, np.dtype] = {
    np.dtype(np.float32): np.dtype(np.complex64),
    np.dtype(np.float64): np.dtype(np.complex128),
}


class Type:
    """Base class of every data type object."""

    __slots__ = ()


class Number(Type):
    """A numeric element type of a tensor.

    Attributes:
        np: the NumPy dtype with the same elements.
        itemsize: bytes of one element.
        is_complex, is_floating_point, is_signed: what the elements are.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.float32)
        Float32
        >>> ms.float32
        mindspore.float32
        >>> ms.float32.itemsize
        4
    """

    __slots__ = ("_text", "np")
    by_text: ClassVar[dict[str, Type]] = {}  # every type but tensor types, by its lower-case text
    by_numpy: ClassVar[dict[np.dtype, Number]] = {}

    def __init__(self, text: str, np_dtype: Any) -> None:
        self._text = text
        self.np = np.dtype(np_dtype)
        Number.by_text[text.lower()] = self
        Number.by_numpy[self.np] = self

    @property
    def itemsize(self) -> int:
        return self.np.itemsize

    @property
    def is_complex(self) -> bool:
        return isinstance(self, Complex)

    @property
    def is_floating_point(self) -> bool:
        return isinstance(self, (Float, BFloat))

    @property
    def is_signed(self) -> bool:
        return not isinstance(self, (UInt, Bool))

    def to_complex(self) -> Number:
        """The complex type whose parts have this type.

        Raises:
            TypeError: if there is none.
        """
        wanted = _COMPLEX.get(self.np, self.np if self.is_complex else None)
        if wanted is None:
            raise TypeError(f"For 'to_complex', the type must be float32, float64 or complex, but got {self!r}.")
        return Number.by_numpy[wanted]

    def to_real(self) -> Number:
        """The type of a complex type's parts; a real type itself."""
        return Number.by_numpy[np.dtype(self.np.type(0).real)] if self.is_complex else self

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return "mindspore." + self._text.lower()

    def __reduce__(self):
        return type_by_text, (self._text,)

    def __deepcopy__(self, memo: dict) -> Number:
        return self

    def __copy__(self) -> Number:
        return self


class Bool(Number):
    """The boolean type."""

    __slots__ = ()


class Int(Number):
    """A signed integer type."""

    __slots__ = ()


class UInt(Number):
    """An unsigned integer type."""

    __slots__ = ()


class Float(Number):
    """An IEEE floating-point type."""

    __slots__ = ()


class BFloat(Number):
    """The brain floating-point type: 8 exponent and 7 mantissa bits."""

    __slots__ = ()


class Float8(Float):
    """A floating-point type of 8 bits: for storing and casting, not for computing."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "mindspore." + self.np.name


class Complex(Number):
    """A complex type."""

    __slots__ = ()


class Kind(Type):
    """A type that no tensor element has: of a Python object, or a family of number types.

    Attributes:
        family: the classes of the objects it stands for.
    """

    __slots__ = ("_repr", "_text", "family")

    def __init__(self, text: str, shown: str, *family: type) -> None:
        self._text = text
        self._repr = shown
        self.family = family
        Number.by_text[text.lower()] = self

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return "mindspore." + self._repr

    def __reduce__(self):
        return type_by_text, (self._text,)

    def __deepcopy__(self, memo: dict) -> Kind:
        return self

    def __copy__(self) -> Kind:
        return self


class TensorType(Type):
    """The type of tensors with a given element type.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.TensorType(ms.float32))
        Tensor[Float32]
    """

    __slots__ = ("_element",)

    def __init__(self, element: Number | None = None) -> None:
        self._element = element

    def element_type(self) -> Number | None:
        """The element type; None where it is open."""
        return self._element

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TensorType) and other._element is self._element

    def __hash__(self) -> int:
        return hash((TensorType, self._element))

    def __str__(self) -> str:
        return "Tensor" if self._element is None else f"Tensor[{self._element}]"

    def __repr__(self) -> str:
        return "mindspore.tensor" if self._element is None else f"mindspore.tensor[{str(self._element).lower()}]"


def type_by_text(text: str) -> Type:
    """Return the type that prints as `text` (pickle support)."""
    return Number.by_text[text.lower()]
