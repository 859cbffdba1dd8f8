"""Jobs that are killed at random moments, and started again until they end: an unbroken one's bits, and nothing left.

DIST_MS_TEST_KILLS says how often each of these jobs is killed (2 by default; 34 are 340 in all).
"""

import os
import random

import pytest

from tests.jobs.conftest import MPIRUN
from tests.jobs.resuming.killed_job import Place

KILLS = int(os.environ.get("DIST_MS_TEST_KILLS", "2"))
VICTIMS, MOMENTS = ["rank", "launcher", "mpirun", "ranks"], ["training", "saving", "starting", "saving"]


@pytest.fixture
def place(tmp_path, request):
    if MPIRUN is None:
        pytest.skip("there is no mpirun")
    found = Place(tmp_path, random.Random(request.node.name))
    yield found
    found.close()


class Kills:
    """Kills jobs until it has done so often enough; each way and moment in turn, in an order of its own."""

    def __init__(self, place, name):
        self.place, self.done, self._states = place, 0, 0
        self._draw = random.Random(name)
        self._plan = []

    def next(self):
        if not self._plan:
            self._plan = [(victim, moment) for victim in VICTIMS for moment in MOMENTS]
            self._draw.shuffle(self._plan)
        return self._plan.pop()

    def until_done(self, start):
        """Kill jobs, each in a folder of its own until it ends; return the folders."""
        folders = []
        while self.done < KILLS:
            folders.append(f"broken{len(folders)}")
            while self.done < KILLS:
                job = start(folders[-1])
                killed = self.place.kill(job, folders[-1], *self.next())
                self.done += killed
                self.place.verify(folders[-1])
                if not killed:
                    break
        return folders


@pytest.mark.parametrize(
    ("ranks", "workers", "servers"),
    [(1, True, 0), (2, True, 0), (4, False, 0), (2, False, 2)],
    ids=["1", "2 workers", "4", "2 servers"],
)
def test_kills_change_no_bit(place, ranks, workers, servers):
    options = {"workers": workers, "servers": servers}
    wanted = place.bits(place.start("whole", ranks, **options))
    kills = Kills(place, f"{ranks} {servers}")
    for folder in kills.until_done(lambda folder: place.start(folder, ranks, **options)):
        assert place.bits(place.start(folder, ranks, **options)) == wanted
        assert place.verify(folder)
        assert not [name for name in os.listdir(place.folder / folder) if name.startswith(".")]
        place.check_rows(folder)


@pytest.mark.parametrize("shards", [True, False], ids=["virtual shards", "rows"])
def test_kills_on_other_numbers_of_ranks(place, shards):
    """Each time on another number: no row is missed or comes twice, and with virtual shards the bits are the same."""
    changes = {"DIST_MS_VIRTUAL_SHARDS": "4"} if shards else {}
    options = {"workers": True, **changes}
    wanted = place.bits(place.start("whole", 1, **options)) if shards else None
    draw = random.Random(shards)
    kills = Kills(place, f"shards {shards}")
    for folder in kills.until_done(lambda folder: place.start(folder, draw.choice([1, 2, 4]), **options)):
        found = place.bits(place.start(folder, draw.choice([1, 2, 4]), **options))
        assert wanted in (None, found)
        place.check_rows(folder)


@pytest.mark.parametrize(
    ("ranks", "victim", "workers"),
    [(1, "launcher", False), (2, "rank", True), (2, "mpirun", False), (4, "ranks", False)],
)
def test_each_that_can_be_killed(place, ranks, victim, workers):
    wanted = place.bits(place.start("whole", ranks, workers=workers))
    for _ in range(KILLS):
        place.kill(place.start("broken", ranks, workers=workers), "broken", victim, "training")
        place.verify("broken")
    assert place.bits(place.start("broken", ranks, workers=workers)) == wanted
    assert not [name for name in os.listdir(place.folder / "broken") if name.startswith(".")]


def test_two_ranks_then_four_then_one(place):
    """With virtual shards: the bits are those of one rank, and each row comes once."""
    options = {"DIST_MS_VIRTUAL_SHARDS": "4", "workers": True}
    wanted = place.bits(place.start("whole", 1, **options))
    for ranks in (2, 4):
        place.kill(place.start("broken", ranks, **options), "broken", "ranks", "training")
    assert place.bits(place.start("broken", 1, **options)) == wanted
    place.check_rows("broken")
