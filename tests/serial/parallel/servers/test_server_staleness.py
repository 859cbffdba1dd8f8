"""Weights on servers at a bounded staleness: updates are averages, and no row is older than the bound, kept or not."""

import math

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import nn
from dist_ms.common.tensor.sparse_tensor import RowTensor
from dist_ms.parallel.servers.messages import Kind
from tests.serial.parallel.servers.served_line import Line

ROWS, COLUMNS, RATE = 9, 2, 0.5
START = np.arange(ROWS * COLUMNS, dtype=np.float32).reshape(ROWS, COLUMNS)


def tables(line, staleness, cached=0, partition="hash"):
    """Each worker's end of a table that SGD updates."""
    links = []
    for client in line.clients:
        table = ms.Parameter(ms.Tensor(START), name="table")
        table.set_param_ps(staleness=staleness, partition=partition)
        table.looked_up, table.cached_rows = True, cached
        optimizer = nn.SGD([table], RATE)
        links.append(client.table(table))
        client.begin(optimizer)
    return links


class Updates:
    """What the table must be after each update: the average of every worker's n-th gradient, times the rate."""

    def __init__(self, workers):
        self.values, self._pushed = [START.copy()], [[] for _ in range(workers)]

    def push(self, worker, ids, values):
        gradient = np.zeros_like(START)
        gradient[ids] = values
        self._pushed[worker].append(gradient)
        number = len(self.values) - 1
        if all(len(pushed) > number for pushed in self._pushed):
            mean = sum(pushed[number] for pushed in self._pushed) / len(self._pushed)
            self.values.append(self.values[-1] - np.float32(RATE) * mean)

    def age_of(self, ids, rows):
        """By how many updates the oldest of some rows is behind the newest values."""
        shown = (np.abs(np.stack(self.values)[:, ids] - rows) < 1e-4).all(2)
        assert shown.any(0).all(), "a row shows values that were never there"
        return int(shown[::-1].argmax(0).max())


@pytest.mark.parametrize("servers, partition", [(1, "hash"), (2, "hash"), (2, "range")])
@pytest.mark.parametrize("ahead", [False, True])
@pytest.mark.parametrize("cached", [0, 3, ROWS])
@pytest.mark.parametrize("staleness", [0, 1, 3])
def test_every_row_is_new_enough_and_the_table_right_in_the_end(staleness, cached, ahead, partition, servers):
    workers, steps = 2, 25
    random = np.random.default_rng([staleness, cached, ahead, servers])
    line = Line(workers, servers)
    links, updates = tables(line, staleness, cached, partition), Updates(workers)
    units = [(server, server.units[0]) for server in line.servers]
    oldest = kept = 0
    while any(link.clock < steps for link in links):
        worker = int(random.integers(workers))
        link = links[worker]
        if link.clock == steps or not all(unit.may_read(link.clock) for _, unit in units):
            continue
        ids = np.sort(random.choice(ROWS, 6, replace=False))
        rows = link.pull(ids)
        # The rows of this worker's n-th step show at least n - staleness updates.
        age = updates.age_of(ids, rows)
        assert len(updates.values) - 1 - age >= link.clock - staleness
        if not cached and not ahead:
            assert age == 0
        oldest = max(oldest, age)
        gradient = random.integers(1, 9, (len(ids), COLUMNS)).astype(np.float32) * (1 + worker)
        if ahead:
            link.prefetch(np.sort(random.choice(ROWS, 6, replace=False)))
        link.push(RowTensor(ms.Tensor(ids), ms.Tensor(gradient), START.shape))
        updates.push(worker, ids, gradient)
        kept = link.cache.hits if link.cache is not None else 0
    assert len(updates.values) == steps + 1
    for link in links:
        np.testing.assert_allclose(link.fetch(), updates.values[-1], rtol=0, atol=1e-4)
    if cached == ROWS and staleness:
        assert kept and oldest  # old rows were used, so that the bound was met


@pytest.mark.parametrize("ahead", [False, True])
@pytest.mark.parametrize("late", [0, 1])
def test_rows_of_a_server_that_is_behind_count_as_old(late, ahead):
    line = Line(2, 2)
    links = tables(line, 2, cached=ROWS)
    ids = np.arange(ROWS)
    gradient = RowTensor(ms.Tensor(ids), ms.Tensor(np.ones_like(START)), START.shape)
    links[0].push(gradient)
    line.mail[1].slow = late
    links[1].push(gradient)  # the other server has made update 1
    (links[0].prefetch if ahead else links[0].pull)(ids)
    line.mail[1].hurry()
    for _ in range(2):
        for link in links:
            link.push(gradient)
    assert (links[0].pull(ids) <= START - RATE).all()  # at clock 3 every row shows at least update 1


@pytest.mark.parametrize("staleness", [0, 1, 3])
def test_the_fastest_worker_waits_at_the_bound(staleness):
    line = Line(2, 1)
    links = tables(line, staleness)
    gradient = RowTensor(ms.Tensor([0]), ms.Tensor([[1.0, 1.0]]), START.shape)
    for _ in range(staleness):
        links[0].pull(np.array([0]))
        links[0].push(gradient)
    links[0].pull(np.array([0]))
    links[0].push(gradient)
    with pytest.raises(TimeoutError, match="Pulling rows of 'table'"):
        links[0].pull(np.array([0]))
    links[1].push(gradient)
    np.testing.assert_array_equal(links[0].pull(np.array([0])), START[:1] - RATE)


@pytest.mark.parametrize("staleness, moved", [(0, 2.0), (1, 2.0), (5, 2.0), (math.inf, 4.0)])
@pytest.mark.parametrize("what", ["table", "dense"])
def test_gradients_of_one_update_are_averaged(staleness, moved, what):
    line = Line(2, 1)
    if what == "table":
        links = tables(line, staleness)
        for link, value in zip(links, (2.0, 6.0), strict=True):
            link.push(RowTensor(ms.Tensor([4]), ms.Tensor([[value, value]]), START.shape))
        found = links[0].fetch()[4] - START[4]
    else:
        weights = [ms.Parameter(ms.Tensor(START), name="w") for _ in line.clients]
        optimizers = [nn.SGD([weight], RATE) for weight in weights]  # what nobody holds, servers forget
        for weight, optimizer, client in zip(weights, optimizers, line.clients, strict=True):
            weight.set_param_ps(staleness=staleness)
            client.begin(optimizer)
        for client, value in zip(line.clients, (2.0, 6.0), strict=True):
            client.dense[0].push([ms.Tensor(np.full_like(START, value))])
        line.clients[0].refresh()
        found = (weights[0].asnumpy() - START)[4]
    np.testing.assert_array_equal(found, [-moved, -moved])


@pytest.mark.parametrize("staleness", [0, 3])
@pytest.mark.parametrize("ahead", [False, True])
@pytest.mark.parametrize("writer", [0, 1])
def test_rows_that_were_kept_before_the_table_was_overwritten_are_not_used(staleness, ahead, writer):
    line = Line(2, 2)
    links = tables(line, staleness, cached=ROWS)
    ids = np.arange(ROWS)
    gradient = RowTensor(ms.Tensor([0, 5]), ms.Tensor(np.ones((2, COLUMNS), np.float32)), START.shape)
    for link in links:
        link.push(gradient)
    links[0].pull(ids)
    if ahead:
        links[0].prefetch(ids)
    links[writer].store(-START)
    if writer == 0 or staleness == 0:  # else another worker's values may be older, as far as the bound allows
        np.testing.assert_array_equal(links[0].pull(ids), -START)
    np.testing.assert_array_equal(links[0].fetch(), -START)
    for _ in range(staleness + 1):
        for link in links:
            link.push(gradient)
    want = -START
    want[[0, 5]] -= RATE * (staleness + 1)
    np.testing.assert_array_equal(links[0].pull(ids), want)


@pytest.mark.parametrize("staleness", [0, 2])
def test_a_gradient_is_that_of_the_values_before_new_ones_were_pulled(staleness):
    line = Line(1, 1)
    weight = ms.Parameter(ms.Tensor(START), name="w")
    weight.set_param_ps(staleness=staleness)
    optimizer = nn.SGD([weight], RATE)
    line.clients[0].begin(optimizer)
    ones = ms.Tensor(np.ones_like(START))
    _, back = ms.vjp(lambda x: x * weight, ones)
    line.clients[0].dense[0].push([ones])
    line.clients[0].refresh()
    np.testing.assert_array_equal(weight.asnumpy(), START - RATE)
    found = back(ones)
    np.testing.assert_array_equal((found[0] if isinstance(found, tuple) else found).asnumpy(), START)


@pytest.mark.parametrize("what", ["table", "dense"])
def test_a_learning_rate_that_is_written_to_is_the_servers_next_one(what):
    line = Line(1, 2)
    weight = ms.Parameter(ms.Tensor(START), name="w")
    weight.set_param_ps()
    weight.looked_up = what == "table"
    optimizer = nn.SGD([weight], RATE)
    link = line.clients[0].begin(optimizer)
    ones = ms.Tensor(np.ones_like(START))
    link.push({0: ones})
    optimizer.learning_rate.set_data(ms.Tensor(0.25, ms.float32))
    link.push({0: ones})
    np.testing.assert_array_equal(weight.asnumpy(), START - RATE - 0.25)


def test_rows_that_were_kept_before_a_checkpoint_was_loaded_are_not_used(tmp_path):
    line = Line(1, 2)
    (link,), (client,) = tables(line, 0, cached=ROWS), line.clients
    ids = np.arange(ROWS)
    gradient = RowTensor(ms.Tensor(ids), ms.Tensor(np.ones_like(START)), START.shape)
    link.push(gradient)
    saved = [(str(tmp_path), {unit: link.clock}) for unit in link.units]
    client.ask_all(Kind.SAVE, [0, 0], saved, "Saving")
    np.testing.assert_array_equal(link.pull(ids), START - RATE)
    link.push(gradient)
    np.testing.assert_array_equal(link.pull(ids), START - 2 * RATE)
    client.ask_all(Kind.LOAD, [0, 0], [(str(tmp_path), [unit]) for unit in link.units], "Loading")
    np.testing.assert_array_equal(link.pull(ids), START - RATE)
