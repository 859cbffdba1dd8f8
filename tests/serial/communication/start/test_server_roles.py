"""Who works and who serves: from the environments of all ranks, or a clear refusal."""

import os

import pytest

from dist_ms.communication.start.roles import Claim, Roles, assign, claim, copy_role, order
from dist_ms.parallel.servers.roles import is_worker

W, S, C = "worker", "server", "scheduler"


def claims(names=(), servers="", workers="", asked=True, size=3):
    names = names or [""] * size
    return [Claim(name, servers, workers, asked) for name in names]


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        (claims(), None),
        (claims(servers="0"), None),
        (claims(["MS_WORKER"] * 2), None),
        (claims(servers="1"), [W, W, S]),
        (claims(servers="2", workers="1"), [W, S, S]),
        (claims(["MS_SCHED", "MS_SERVER", "MS_WORKER"]), [C, S, W]),
        (claims(["MS_PSERVER", "MS_WORKER"], "1", "1"), [S, W]),
    ],
)
def test_roles(given, wanted):
    assert assign(given) == wanted


@pytest.mark.parametrize(
    ("given", "error", "text"),
    [
        (claims(servers="3"), ValueError, "must leave a rank to work, but got 3 for 3 ranks"),
        (claims(servers="1", workers="1"), ValueError, "must add up to the number of ranks, 3, but got 1 and 1"),
        (claims(servers="-1"), ValueError, "MS_SERVER_NUM must be a number, but got '-1'"),
        (claims(["MS_BOSS"] * 2), ValueError, "but got 'MS_BOSS' on rank 0"),
        (claims(["MS_SERVER", "", "MS_WORKER"]), ValueError, r"ranks \[1\] have none"),
        (claims(["MS_SERVER"] * 2), ValueError, "must have a worker, but got 2 servers and none"),
        (claims(["MS_SERVER", "MS_WORKER"], "2"), ValueError, "MS_SERVER_NUM must be the number of ranks"),
        (claims(servers="1", asked=False), RuntimeError, "started with 1 parameter servers, but the script"),
        ([*claims(servers="1"), *claims(servers="2")], ValueError, r"the same on every rank, but got \['1', '2'\]"),
    ],
)
def test_contradictions(given, error, text):
    with pytest.raises(error, match=text):
        assign(given)


@pytest.mark.parametrize("roles", [[S, W, C, W], [W, S], [C, C, W, S, S]])
def test_order_puts_workers_first_and_keeps_their_order(roles):
    numbers = order(roles)
    assert sorted(numbers) == list(range(len(roles)))
    ranked = [roles[numbers.index(n)] for n in range(len(roles))]
    assert ranked == sorted(roles, key=[W, S, C].index)
    for role in set(roles):
        mine = [n for n, r in zip(numbers, roles, strict=True) if r == role]
        assert mine == sorted(mine)
    assert Roles(W, roles.count(W), roles.count(S)).server_rank(0) == roles.count(W)


def test_a_rank_says_what_its_environment_says():
    assert claim({"MS_ROLE": "MS_SERVER", "MS_SERVER_NUM": "2"}) == Claim("MS_SERVER", "2", "", claim({}).asked)


def test_scripts_see_their_role_before_init(monkeypatch):
    for rank, role in enumerate(["MS_WORKER", "MS_WORKER", "MS_PSERVER"]):
        monkeypatch.delenv("MS_ROLE", raising=False)
        monkeypatch.setenv("MS_SERVER_NUM", "1")
        assert copy_role(rank, 3) == 2
        assert os.environ["MS_ROLE"] == role
    assert not is_worker()
