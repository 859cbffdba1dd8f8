"""The ring of machines over which a traced job measures its network."""

from dist_ms.profiler.links import link_rate


def found(comm, nodes):
    rates = comm.gather_objects(link_rate(comm, nodes))
    assert all(rate is None or rate[1] > 0 for rate in rates)
    return [rate and rate[0] for rate in rates]


def test_each_machine_sends_to_the_next(world):
    size = world.comm.size
    assert found(world.comm, range(size)) == [*range(1, size), 0]


def test_the_first_rank_of_a_machine_sends(world):
    size = world.comm.size
    assert found(world.comm, [1, *[0] * (size - 1)]) == [1, 0, *[None] * (size - 2)]


def test_on_one_machine_nobody_sends(world):
    assert found(world.comm, [0] * world.comm.size) == [None] * world.comm.size
