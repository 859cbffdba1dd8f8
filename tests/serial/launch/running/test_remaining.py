"""Whom a failure is blamed on, and what the next attempt of a job has."""

import pytest

from dist_ms.launch.command import Job
from dist_ms.launch.hosts import Host, parse_hosts
from dist_ms.launch.main import make_parser
from dist_ms.launch.mpirun import LaunchError
from dist_ms.launch.reports import parse
from dist_ms.launch.run_options import make_job
from dist_ms.launch.running.faults import Fault, fault_of
from dist_ms.launch.running.remaining import Remaining, TooFewSlots

KILLED = "was ended by signal 9 (SIGKILL)"


def left(ranks, offered="", least=None, silent=(), **changes):
    hosts = parse_hosts(offered) if offered else ()
    shown, wanted = [], ranks
    for host in hosts:
        if wanted:
            shown.append(Host(host.name, min(wanted, host.slots)))
            wanted -= shown[-1].slots
    job = Job(ranks, "python", ["x.py"], hosts=tuple(shown), offered=hosts, **changes)
    return Remaining(job, least, lambda hosts: set(silent))


def slots(remaining):
    return ",".join(f"{host.name}:{host.slots}" for host in remaining.job.hosts)


@pytest.mark.parametrize(
    ("line", "failure", "wanted"),
    [
        ("rank=2 host=b status=137", {}, Fault(2, "b", KILLED)),
        ("rank=2 host=b status=135", {}, Fault(2, "b", "was ended by signal 7 (SIGBUS)")),
        ("rank=2 host=b status=139", {}, None),  # a program's own error
        ("rank=2 host=b status=143", {}, Fault()),  # a machine may shut down
        ("rank=2 host=b status=3", {}, None),
        ("rank=2 host=b code=1 cause=exception what=ValueError said=no", {}, None),
        (
            "rank=2 host=b code=1 cause=missing what=is stopped or cut off",
            {},
            Fault(2, "b", "did not answer: it is stopped or cut off"),
        ),
        ("rank=2 host=b code=1 cause=missing what=computes, is stopped or lost", {}, Fault()),
        ("rank=0 host=a status=14", {"lost": "a rank on b"}, Fault(None, "b", "lost its connections")),
        ("rank=0 host=a status=14", {"lost": "another rank"}, Fault(None, "", "lost its connections")),
        (None, {}, Fault(None, "", "lost its connections")),
        (None, {"rank": "3", "node": "c", "signal": "9"}, Fault(3, "c", KILLED)),
        (None, {"rank": "3", "node": "c", "signal": "11"}, None),
    ],
)
def test_what_is_no_error_of_the_program(line, failure, wanted):
    assert fault_of(line and parse(line), failure) == wanted


def test_a_machine_whose_rank_was_killed_is_left_out():
    remaining = left(4, "a:2,b:2,c:2")
    assert remaining.after(None) == "" and slots(remaining) == "a:2,b:2"
    line = remaining.after(Fault(2, "b", KILLED))
    assert line == f"dist-ms: b left out, 4 ranks on a:2,c:2: rank 2 {KILLED} on b."
    # No machine is without blame: all of them again.
    remaining.after(Fault(0, "a", KILLED))
    assert slots(remaining) == "a:2,c:2"


@pytest.mark.parametrize(
    ("fault", "name"),
    [
        (Fault(2, "node2.cluster", KILLED), "node2"),
        (Fault(2, "x", KILLED), "10.0.0.2"),
        (Fault(0, "x", KILLED), "10.0.0.1"),
        (Fault(None, "10.0.0.2", ""), "10.0.0.2"),
        (Fault(None, "10.0.0.9", ""), None),
    ],
)
def test_machines_are_known_by_name_or_by_the_order_of_ranks(fault, name):
    hosts = "node1:2,node2:1,s:3" if "node" in fault.host else "10.0.0.1:2,10.0.0.2:1,s:3"
    remaining = left(3, hosts)
    remaining.after(fault)
    names = {host.name for host in remaining.job.hosts}
    assert (names & {name} == set()) if name else names == {"10.0.0.1", "10.0.0.2"}


def test_ranks_that_the_user_has_placed_are_not_guessed():
    remaining = left(2, "10.0.0.1:1,10.0.0.2:1,s:1", mpi_args=["--map-by", "node"])
    assert remaining.after(Fault(1, "x", KILLED)) == "" and slots(remaining) == "10.0.0.1:1,10.0.0.2:1"


def test_a_machine_that_does_not_answer_is_left_out_until_it_does():
    silent = {"b"}
    remaining = left(3, "a:2,b:1,c:1", silent=silent)
    remaining._find_silent = lambda hosts: silent
    assert remaining.after(Fault()) == "dist-ms: b left out, 3 ranks on a:2,c:1: b does not answer."
    silent.add("c")
    with pytest.raises(TooFewSlots, match="^b, c do not answer, and the others have 2 slots for 3 ranks or more$"):
        remaining.after(Fault())
    silent.remove("b")
    assert remaining.after(Fault()) == "dist-ms: c left out, 3 ranks on a:2,b:1: c does not answer."


def test_fewer_ranks():
    silent = set()
    remaining = left(4, "a:2,b:2", least=2)
    remaining._find_silent = lambda hosts: silent
    line = remaining.after(Fault(3, "b", KILLED))
    assert line == f"dist-ms: 3 ranks instead of 4 on a:2,b:1: rank 3 {KILLED} on b."
    silent.add("a")
    with pytest.raises(TooFewSlots):
        left(4, "a:2,b:2", least=3, silent={"a"}).after(Fault())
    assert remaining.after(Fault()) == "dist-ms: a left out, 2 ranks instead of 3 on b:2: a does not answer."
    silent.clear()
    assert remaining.after(Fault()) == "dist-ms: 3 ranks instead of 2 on a:2,b:1: a answers again."


def test_fewer_ranks_on_one_machine():
    remaining = left(4, least=3)
    assert remaining.after(Fault(2, "h", KILLED)) == f"dist-ms: 3 ranks instead of 4: rank 2 {KILLED}."
    assert remaining.after(Fault(2, "h", KILLED)) == "" and remaining.job.ranks == 3
    assert left(4).after(Fault(2, "h", KILLED)) == ""


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("-n 4 --min-ranks 2", "--min-ranks must come with --restarts N"),
        ("-n 4 --elastic --min-ranks 5", "--min-ranks must be 4 or less, the number of ranks, but got 5"),
        ("-n 4 --elastic --servers 1", "--elastic must come without --servers, but got 1: what a server holds is lost"),
        ("-n 1 --elastic", "--elastic must have 2 ranks or more, but got 1"),
        ("-n 4 --min-ranks 5 --restarts 1", "--min-ranks must be 4 or less, the number of ranks, but got 5"),
        ("-n 4 --servers 1 --hosts a:5 --min-ranks 5 --restarts 1", "--min-ranks must be 4 or less"),
        ("-n 4 --hosts a:5 --spares", "--spares must come with --restarts N"),
        ("-n 4 --hosts a:4 --spares --restarts 1", "--spares must have machines with more slots than ranks, but there"),
    ],
)
def test_what_contradicts_itself(line, error):
    with pytest.raises(LaunchError, match=error):
        make_job(make_parser().parse_args(["run", *line.split(), "x.py"]), ["x.py"], {})


def test_spares_are_taken_unless_they_are_refused():
    words = "run -n 2 --hosts a:2,b:2 --restarts 1 x.py".split()
    assert len(make_job(make_parser().parse_args(words), ["x.py"], {}).offered) == 2
    words.insert(1, "--no-spares")
    assert len(make_job(make_parser().parse_args(words), ["x.py"], {}).offered) == 1
