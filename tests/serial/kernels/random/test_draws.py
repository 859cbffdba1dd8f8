"""Keys drawn from NumPy's generators are the numbers that `randint` gives."""

import threading

import numpy as np

from dist_ms._ext import draws
from dist_ms.common.random import seed


def test_keys_are_two_numbers_of_randint():
    np.random.seed(5)
    wanted = [(int(high) << 31) | int(low) for high, low in np.random.randint(0, 2**31, (50, 2))]
    np.random.seed(5)
    assert [seed.next_key() for _ in range(50)] == wanted
    np.random.seed(5)
    assert [draws.key(np.random.get_bit_generator()) for _ in range(50)] == wanted


def test_no_number_is_drawn_twice_by_threads():
    np.random.seed(6)
    wanted = {seed.next_key() for _ in range(4000)}
    np.random.seed(6)
    found = [[] for _ in range(4)]
    threads = [
        threading.Thread(target=lambda to: to.extend(seed.next_key() for _ in range(1000)), args=(f,)) for f in found
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {key for keys in found for key in keys} == wanted
