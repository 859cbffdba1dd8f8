"""JPEG files decoded by a libjpeg that the caller names, without the GIL; of a part, only what it needs is computed."""

cimport numpy as cnp
from libc.stdint cimport int64_t, uint8_t

from arrays cimport check, check_type

cnp.import_array()

cdef extern from "jpeg_library.h" nogil:
    enum:
        DM_JPEG_MESSAGE
    int dm_jpeg_open(const char *path)
    int dm_jpeg_size(const uint8_t *data, size_t size, int64_t *found, char *message)
    int dm_jpeg_part(
        const uint8_t *data, size_t size, int64_t top, int64_t left, int64_t height, int64_t width, uint8_t *out,
        int64_t pitch, char *message)

cdef bint is_open = False


def open_library(str path not None):
    """Use the shared library at `path`, a libjpeg-turbo; returns whether it is one.

    >>> open_library("/no/such/library.so")
    False
    """
    global is_open
    if dm_jpeg_open(path.encode()) == 0:
        is_open = True
        return True
    return False


cdef int check_open() except -1:
    if not is_open:
        raise RuntimeError("For 'jpeg', a library must be opened first, but there is none.")
    return 0


def size(cnp.ndarray data not None):
    """Return height, width and libjpeg's number of the kind of colours: 1 grey, 2 RGB, 3 YCbCr, 4 CMYK, 5 YCCK.

    Args:
        data: a file's bytes, uint8 and contiguous.

    Raises:
        RuntimeError: if they are none of a JPEG file.
    """
    cdef int64_t[3] found
    cdef char[DM_JPEG_MESSAGE] message
    cdef int status
    cdef const uint8_t *source = <const uint8_t *> cnp.PyArray_DATA(data)
    cdef size_t count = cnp.PyArray_SIZE(data)
    check_open()
    check("size", "data", data, cnp.NPY_UINT8, 1, False)
    with nogil:
        status = dm_jpeg_size(source, count, found, message)
    if status < 0:
        raise RuntimeError(message.decode("ascii", "replace"))
    return found[0], found[1], found[2]


def decode(cnp.ndarray data not None, cnp.ndarray out not None, int64_t top=0, int64_t left=0):
    """Decode a file's pixels from (top, left) on into `out`, in RGB.

    Args:
        data: a file's bytes, uint8 and contiguous.
        out: (height, width, 3) uint8, whose rows are contiguous.
        top, left: where the part begins; all of `out` must be inside the image.

    Returns:
        the first warning of damaged data, which the library got over, or "".

    Raises:
        RuntimeError: if they are none of a JPEG file, of colours that do not become RGB, or the part is not inside.
    """
    cdef int64_t[3] found
    cdef char[DM_JPEG_MESSAGE] message
    cdef int status
    cdef const uint8_t *source = <const uint8_t *> cnp.PyArray_DATA(data)
    cdef size_t count = cnp.PyArray_SIZE(data)
    cdef uint8_t *target = <uint8_t *> cnp.PyArray_DATA(out)
    cdef int64_t height, width, pitch
    check_open()
    check("decode", "data", data, cnp.NPY_UINT8, 1, False)
    check_type("decode", "out", out, cnp.NPY_UINT8)
    if out.ndim != 3 or out.shape[2] != 3 or out.strides[2] != 1 or out.strides[1] != 3 or not out.flags.writeable:
        raise ValueError(
            f"For 'decode', 'out' must be (height, width, 3) with contiguous rows to write to, but got shape "
            f"{(<object> out).shape} and strides {(<object> out).strides}."
        )
    height, width, pitch = out.shape[0], out.shape[1], out.strides[0]
    with nogil:
        status = dm_jpeg_size(source, count, found, message)
    if status >= 0 and (
        top < 0 or left < 0 or height < 1 or width < 1 or height > found[0] - top or width > found[1] - left
    ):
        raise RuntimeError(
            f"the image of {found[0]} x {found[1]} must hold the part of {height} x {width} at ({top}, {left})"
        )
    if status >= 0:
        with nogil:
            status = dm_jpeg_part(source, count, top, left, height, width, target, pitch, message)
    if status < 0:
        raise RuntimeError(message.decode("ascii", "replace"))
    return message.decode("ascii", "replace") if status else ""
