# cython: cdivision=True, boundscheck=False, wraparound=False
"""Rows of delimited text: where they begin, where their fields are, and the fields' numbers and text.

A field is plain, without quotes, or stands between quotes, where a quote is written twice and ends of lines are text.
"""

import numpy as np

cimport numpy as cnp
from libc.math cimport isinf
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t
from libc.stdlib cimport strtof, strtol
from libc.string cimport memcpy, strpbrk

cnp.import_array()

cdef enum:
    LONGEST = 64  # bytes of a number that are looked at

cdef enum:  # what may be wrong with a row
    QUOTE_IN_PLAIN = 1
    TEXT_AFTER_QUOTE = 2
    UNCLOSED = 3
    TOO_FEW = 4
    TOO_MANY = 5


cdef inline bint ends_line(uint8_t c) noexcept nogil:
    return c == 10 or c == 13


def row_starts(const uint8_t[::1] data not None):
    """Return where each row begins, as int64, then the end of the last; lines without any character are no rows.

    >>> row_starts(np.frombuffer(b"a,b\\n\\nc,d", np.uint8)).tolist()
    [0, 5, 8]
    """
    cdef Py_ssize_t n = data.shape[0], i = 0, count = 0, lines = 1
    cdef int64_t[::1] starts
    cdef bint quoted = False, within = False
    cdef uint8_t c
    with nogil:
        for i in range(n):
            lines += ends_line(data[i])
    found = np.empty(lines + 1, np.int64)
    starts = found
    with nogil:
        for i in range(n):
            c = data[i]
            if quoted:
                quoted = c != 34
            elif ends_line(c):
                within = False
            else:
                if not within:
                    starts[count] = i
                    count += 1
                    within = True
                quoted = c == 34
        starts[count] = n
    return found[:count + 1].copy()


def split(const uint8_t[::1] data not None, const int64_t[::1] begins not None, const int64_t[::1] ends not None,
          uint8_t delimiter, Py_ssize_t columns):
    """Return (spans, fault, row): begin and end of each field without quotes, int64 of shape (rows, columns, 2).

    A field with doubled quotes has a negative end, the complement. `fault` is 0, or says what is wrong in `row`.
    """
    cdef Py_ssize_t rows = begins.shape[0], r, k = 0, i = 0, end, first
    cdef int fault = 0
    cdef bint doubled
    cdef int64_t[:, :, ::1] spans
    result = np.empty((rows, columns, 2), np.int64)
    spans = result
    r = 0
    with nogil:
        for r in range(rows):
            i, end, k = begins[r], ends[r], 0
            while True:
                if k == columns:
                    fault = TOO_MANY
                    break
                if i < end and data[i] == 34:
                    i += 1
                    first, doubled = i, False
                    while i < end:
                        if data[i] == 34:
                            if i + 1 < end and data[i + 1] == 34:
                                doubled = True
                                i += 1
                            else:
                                break
                        i += 1
                    if i >= end:
                        fault = UNCLOSED
                        break
                    spans[r, k, 0], spans[r, k, 1] = first, ~i if doubled else i
                    i += 1
                    if i < end and data[i] != delimiter and not ends_line(data[i]):
                        fault = TEXT_AFTER_QUOTE
                        break
                else:
                    first = i
                    while i < end and data[i] != delimiter and not ends_line(data[i]):
                        if data[i] == 34:
                            fault = QUOTE_IN_PLAIN
                            break
                        i += 1
                    if fault:
                        break
                    spans[r, k, 0], spans[r, k, 1] = first, i
                k += 1
                if i >= end or data[i] != delimiter:
                    break
                i += 1
            if fault == 0 and k < columns:
                fault = TOO_FEW
            if fault:
                break
    return result, fault, r


cdef inline Py_ssize_t number_text(const uint8_t[::1] data, int64_t begin, int64_t end, char* text) noexcept nogil:
    """Copy a field, closed by a zero; return its length."""
    cdef Py_ssize_t length = (end if end >= 0 else ~end) - begin
    if length >= LONGEST:
        length = LONGEST - 1
    if length:
        memcpy(text, &data[begin], length)
    text[length] = 0
    return length


def floats(const uint8_t[::1] data not None, const int64_t[:, :] spans not None):
    """Return (numbers, row): the float32 that each field begins with; `row` is the first without one, or -1."""
    cdef Py_ssize_t r, rows = spans.shape[0], wrong = -1
    cdef char text[LONGEST]
    cdef char* stop
    cdef float[::1] numbers
    result = np.empty(rows, np.float32)
    numbers = result
    with nogil:
        for r in range(rows):
            number_text(data, spans[r, 0], spans[r, 1], text)
            numbers[r] = strtof(text, &stop)
            if stop == text or (isinf(numbers[r]) and strpbrk(text, b"nN") == NULL):  # too great
                wrong = r
                break
    return result, wrong


def integers(const uint8_t[::1] data not None, const int64_t[:, :] spans not None):
    """Return (numbers, row): the int32 that each field begins with; `row` is the first without one, or -1."""
    cdef Py_ssize_t r, rows = spans.shape[0], wrong = -1
    cdef char text[LONGEST]
    cdef char* stop
    cdef long number
    cdef int32_t[::1] numbers
    result = np.empty(rows, np.int32)
    numbers = result
    with nogil:
        for r in range(rows):
            number_text(data, spans[r, 0], spans[r, 1], text)
            number = strtol(text, &stop, 10)
            if stop == text or number < -2147483648 or number > 2147483647:
                wrong = r
                break
            numbers[r] = <int32_t> number
    return result, wrong


cdef inline Py_ssize_t decode(const uint8_t* at, Py_ssize_t length, bint doubled, uint32_t* out) noexcept nogil:
    """Write the characters of UTF-8 to `out`, or only count them where it is NULL; return their number, or -1."""
    cdef Py_ssize_t i = 0, count = 0, more, _
    cdef uint32_t c
    while i < length:
        c = at[i]
        i += 1
        if c >= 0x80:
            if 0xC2 <= c < 0xE0:
                more, c = 1, c & 0x1F
            elif 0xE0 <= c < 0xF0:
                more, c = 2, c & 0x0F
            elif 0xF0 <= c < 0xF5:
                more, c = 3, c & 0x07
            else:
                return -1
            if i + more > length:
                return -1
            for _ in range(more):
                if at[i] & 0xC0 != 0x80:
                    return -1
                c = c << 6 | (at[i] & 0x3F)
                i += 1
            if (more == 2 and (c < 0x800 or 0xD800 <= c < 0xE000)) or (more == 3 and not 0x10000 <= c < 0x110000):
                return -1
        elif doubled and c == 34:
            i += 1
        if out != NULL:
            out[count] = c
        count += 1
    return count


def strings(const uint8_t[::1] data not None, const int64_t[:, :] spans not None):
    """Return (texts, row): each field's text, of one common width; `row` is the first that is no UTF-8, or -1."""
    cdef Py_ssize_t r, rows = spans.shape[0], wrong = -1, width = 1, count, length
    cdef int64_t begin, end
    cdef uint32_t[:, ::1] texts
    cdef const uint8_t* at
    if data.shape[0] == 0:
        return np.zeros(rows, "U1"), -1
    with nogil:
        for r in range(rows):
            begin, end = spans[r, 0], spans[r, 1]
            length = (end if end >= 0 else ~end) - begin
            count = decode(&data[0] + begin, length, end < 0, NULL)
            if count < 0:
                wrong = r
                break
            width = max(width, count)
    if wrong >= 0:
        return None, wrong
    result = np.zeros((rows, width), np.uint32)
    texts = result
    with nogil:
        for r in range(rows):
            begin, end = spans[r, 0], spans[r, 1]
            at = &data[0] + begin
            decode(at, (end if end >= 0 else ~end) - begin, end < 0, &texts[r, 0])
    return result.view(f"U{width}").reshape(rows), -1
