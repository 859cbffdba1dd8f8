"""TFRecord files for tests: records as they stand in a file, and examples."""

import struct

from dist_ms._ext.checksums import masked
from dist_ms.mindrecord.tfrecord import example_class


def framed(record):
    """A record as it stands in a file."""
    length = struct.pack("<Q", len(record))
    return length + struct.pack("<I", masked(length)) + record + struct.pack("<I", masked(record))


def example(values):
    """An example of lists of bytes, ints or floats."""
    message = example_class()()
    for name, items in values.items():
        kind = "bytes" if isinstance(items[0], bytes) else "float" if isinstance(items[0], float) else "int64"
        getattr(message.features.feature[name], f"{kind}_list").value.extend(items)
    return message.SerializeToString()
