"""Random fault plans: what goes wrong in a training job, on which rank and in which step, and how it must end.

`python -m tests.jobs.failure.fault_plans 0 100` runs the plans of the seeds 0 to 99 and reports. As root most of them
run on two machines, made of network namespaces.
"""

from __future__ import annotations

import json
import random
import re
import shlex
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from tests.jobs.conftest import command, environment
from tests.jobs.hosts import Hosts, missing, up

LIMIT = 10  # seconds in which a job must end after the fault
STEPS = 40

_UNLIKE = r"must do the same, but got:\n(  rank \d: .*\n)*  rank {rank}: "
_NAN = r"FloatingPointError: \[rank {rank} of {ranks}\](.|\n)*must be finite(.|\n)*rank {rank}: loss nan"

# Between machines another rank may be quicker to tell than the daemon of the killed one's machine.
_LOST = r"rank \d of {ranks} lost its connection to (a rank on node|another rank)"
_ENDED = r"rank {rank} of {ranks} was ended by signal %d|" + _LOST

# Per fault what the job's error output must contain.
FAULTS = {
    "killed": _ENDED % 9,
    "killed in backward": _ENDED % 9,
    "segfault": _ENDED % 11,
    "raises in its loop": r"\[rank {rank} of {ranks}\] uncaught exception\n(.|\n)*ZeroDivisionError",
    "raises in forward": r"\[rank {rank} of {ranks}\] uncaught exception\n(.|\n)*ZeroDivisionError: in construct",
    "raises in backward": r"\[rank {rank} of {ranks}\] uncaught exception\n(.|\n)*ZeroDivisionError: in a hook",
    "raises in a thread": r"\[rank {rank} of {ranks}\] uncaught exception in thread",
    "skips a barrier": _UNLIKE + "(?!barrier)",
    "another collective": _UNLIKE + "all_gather",
    "another size": _UNLIKE + r"all_reduce\(float32\[5\]",
    "another root": _UNLIKE + r"broadcast\(.*root 1",
    "a batch of another shape": r"\[rank {rank} of {ranks}\] uncaught exception\n(.|\n)*Error",
    "skips a step": r"waits for rank {rank}, which has ended|" + _UNLIKE,
    "leaves early": r"waits for rank {rank}, which has ended",
    "leaves with an error code": r"\[rank {rank} of {ranks}\] exit with code 3",
    "NaN in its data": _NAN,
    "NaN in a weight": _NAN,
    "another weight": r"DesyncError: \[rank {rank} of {ranks}\] Parameter '.*weight'(.|\n)*  rank {rank}(:|\n)",
    "sleeps": r"has waited 2 s \(DIST_MS_TIMEOUT\)(.|\n)*rank {rank} is not answering",
    "stopped": r"has waited 2 s \(DIST_MS_TIMEOUT\)(.|\n)*rank {rank} is not answering",
}

SCRIPT = """
import json, os, signal, sys, threading, time
import numpy as np
import dist_ms as ms
from dist_ms import Tensor, nn
from dist_ms.communication import get_comm, get_rank, init
from dist_ms.parallel import compression
plan = json.loads(sys.argv[1])
init()
comm, rank = get_comm(), get_rank()
here = rank == plan["rank"]
now = -1

class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        width = plan["width"]
        self.fc1, self.fc2, self.fc3 = nn.Dense(8, width), nn.Dense(width, width), nn.Dense(width, 4)
    def construct(self, x):
        x = self.fc2(ms.ops.tanh(self.fc1(x)))
        if here and now == plan["step"] and plan["fault"] == "raises in forward":
            raise ZeroDivisionError("in construct")
        return self.fc3(ms.ops.tanh(x))

def hook(grad):  # of the last weight but one: reductions are under way
    if here and now == plan["step"] and plan["fault"] == "raises in backward":
        raise ZeroDivisionError("in a hook")
    if here and now == plan["step"] and plan["fault"] == "killed in backward":
        fail("killed", None)

def fail(fault, x):
    open("began", "w").close()
    if fault == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    elif fault == "segfault":
        os.kill(os.getpid(), signal.SIGSEGV)
    elif fault == "stopped":
        os.kill(os.getpid(), signal.SIGSTOP)
    elif fault == "raises in its loop":
        1 / 0
    elif fault == "raises in a thread":
        threading.Thread(target=lambda: 1 / 0, name="worker").start()
        time.sleep(30)
    elif fault == "another collective":
        comm.all_gather(np.zeros(3, np.float32))
    elif fault == "another size":
        comm.all_reduce(np.zeros(5, np.float32))
    elif fault == "another root":
        comm.broadcast(np.zeros(3, np.float32), 1)
    elif fault == "a batch of another shape":
        return x[:, :5]
    elif fault == "leaves early":
        sys.exit(0)
    elif fault == "leaves with an error code":
        sys.exit(3)
    elif fault == "NaN in its data":
        x[0, 0] = np.nan
    elif fault == "NaN in a weight":
        net.fc1.weight.asnumpy()[0, 0] = np.nan
    elif fault == "another weight":
        weight = net.fc1.weight if plan["step"] % 2 else net.fc2.weight
        weight.asnumpy().reshape(-1).view(np.uint32)[5] ^= 1 << 20
    elif fault == "sleeps":
        time.sleep(60)
    return x

ms.set_seed(3)
ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True, **plan["context"])
net = Net()
net.fc2.weight.register_hook(hook)
weights = net.trainable_params()
kinds = {"SGD": nn.SGD, "Adam": nn.Adam, "Momentum": lambda p: nn.Momentum(p, 0.01, 0.9)}
step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), kinds[plan["optimizer"]](weights))
if plan["wire"]:
    step.grad_reducer.register_comm_hook(getattr(compression, plan["wire"])())
step.grad_reducer.overlap = plan["overlap"]
data = np.random.default_rng(rank)
for now in range(plan["steps"]):
    x = data.standard_normal((6, 8)).astype(np.float32)
    if here and now == plan["step"]:
        if plan["fault"] == "skips a step":
            open("began", "w").close()
            continue
        if plan["fault"] not in ("skips a barrier",):
            x = fail(plan["fault"], x)
        else:
            open("began", "w").close()
    if plan["fault"] != "skips a barrier" or not (here and now == plan["step"]):
        comm.barrier()
    step(Tensor(x), Tensor(np.ones((6, 4), np.float32)))
    if now % 4 == 0:
        comm.all_reduce(np.ones(3, np.float32), "max")
print("trained to the end", flush=True)
"""


@dataclass(frozen=True)
class FaultPlan:
    """What goes wrong.

    Attributes:
        seed: the plan's number.
        ranks: the number of ranks.
        fault: a key of FAULTS.
        rank: where.
        step: when.
        steps: the length of the job.
        optimizer: what it trains with.
        context: more settings of the parallel context.
        overlap: reductions while backward goes on.
        wire: the name of a compression; None: gradients travel as they are.
        width: of the model's layers.
        slots: the ranks of each machine; empty: one machine.
    """

    seed: int
    ranks: int
    fault: str
    rank: int
    step: int
    steps: int
    optimizer: str
    context: dict
    overlap: bool
    wire: str | None
    width: int
    slots: tuple[int, ...] = ()

    @property
    def pattern(self) -> str:
        """What the error output must contain."""
        return FAULTS[self.fault].format(rank=self.rank, ranks=self.ranks)

    def without_fault(self) -> FaultPlan:
        """The same job, in which nothing goes wrong."""
        return replace(self, fault="nothing", step=-1)


@dataclass(frozen=True)
class Outcome:
    """How a job ended: None for a code is a job that hung; seconds count from the fault."""

    code: int | None
    seconds: float
    out: str
    err: str

    def complaint(self, plan: FaultPlan) -> str | None:
        """What is wrong with it."""
        if self.code is None:
            return "it hung"
        if self.code == 0:
            return "it ended as if all were well"
        if "trained to the end" in self.out and plan.fault not in ("leaves early", "skips a step"):
            return "a rank trained on silently"
        if self.seconds > LIMIT:
            return f"it ended after {self.seconds:.1f} s"
        if not re.search(plan.pattern, self.err):
            return f"the error output does not contain {plan.pattern!r}"
        return None


def plan_of(seed: int) -> FaultPlan:
    """Draw a plan; neighbouring seeds have different faults."""
    draw = random.Random(seed)
    slots = draw.choice(((), (1, 1), (2, 1), (2, 2)))
    ranks = sum(slots) or draw.choice((2, 3, 4))
    fault = list(FAULTS)[seed % len(FAULTS)]
    wire = draw.choice((None, None, "Float16Wire", "BFloat16Wire"))
    context: dict = {} if draw.random() < 0.5 else {"comm_fusion": {"allreduce": {"mode": "size", "config": 1}}}
    # A rank's own slice of a weight is right by definition: after an update all ranks have it.
    if wire is None and draw.random() < 0.4 and fault != "another weight":
        context |= {"enable_parallel_optimizer": True, "parallel_optimizer_config": {"parallel_optimizer_threshold": 0}}
    return FaultPlan(
        seed,
        ranks,
        fault,
        draw.randrange(ranks),
        draw.randrange(STEPS // 2),
        STEPS,
        draw.choice(("SGD", "Adam", "Momentum")),
        context,
        overlap=draw.random() < 0.6,
        wire=wire,
        width=draw.choice((32, 700)),
        slots=slots,
    )


def run_plan(plan: FaultPlan, folder: Path, hosts: Hosts | None = None) -> Outcome:
    """Run a plan's job in a folder of its own, on machines where it asks for them."""
    script, began = folder / "faulty.py", folder / "began"
    script.write_text(SCRIPT)
    began.unlink(missing_ok=True)
    changes = {"OMP_NUM_THREADS": "1", "DIST_MS_NON_FINITE": "raise", "DIST_MS_DESYNC_STEPS": "10"}
    if plan.fault in ("sleeps", "stopped"):
        changes["DIST_MS_TIMEOUT"] = "2"
    options = [f"--mpi-args={shlex.join([*hosts.mpi_options(plan.slots), '--bind-to', 'none'])}"] if plan.slots else []
    words = command("dist-ms", plan.ranks, script, json.dumps(asdict(plan)), options=options)
    if plan.slots:
        words = [*hosts.on_first(), *words]
    start = time.time()
    try:
        done = subprocess.run(
            words, capture_output=True, timeout=90, env=environment(**changes), cwd=folder, check=False
        )
    except subprocess.TimeoutExpired as hung:
        return Outcome(None, 90, (hung.stdout or b"").decode(), (hung.stderr or b"").decode())
    seconds = time.time() - (began.stat().st_mtime if began.exists() else start)
    return Outcome(done.returncode, seconds, done.stdout.decode(), done.stderr.decode())


def main(first: int, last: int) -> int:
    """Run the plans of some seeds, report each and the sum, and return how many went wrong."""
    wrong, slowest, ways = 0, 0.0, Counter()
    reason = missing()
    with ExitStack() as stack:
        temporary = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        hosts = stack.enter_context(up(temporary)) if reason is None else None
        for seed in range(first, last):
            plan = plan_of(seed)
            if hosts is None:
                plan = replace(plan, slots=())
            folder = temporary / str(seed)
            folder.mkdir()
            outcome = run_plan(plan, folder, hosts)
            complaint = outcome.complaint(plan)
            wrong += complaint is not None
            slowest = max(slowest, outcome.seconds)
            way = [
                f"{len(plan.slots) or 1} machine(s)",
                f"{plan.ranks} ranks",
                "overlap" if plan.overlap else "blocking",
                plan.wire or "float32",
                "parallel optimizer" if "enable_parallel_optimizer" in plan.context else "whole optimizer",
            ]
            ways.update(way)
            where = f"rank {plan.rank}, step {plan.step}, {', '.join(way)}, {plan.optimizer}, width {plan.width}"
            print(f"{seed:4d} {plan.fault:28s} {outcome.seconds:5.1f} s  {complaint or 'ok'}  ({where})", flush=True)
            if complaint:
                print(outcome.err[-3000:], flush=True)
    if reason is not None:
        print(f"all on one machine: {reason}")
    print(", ".join(f"{way}: {number}" for way, number in sorted(ways.items())))
    print(
        f"{last - first} plans: {last - first - wrong} ended in a clear error, {wrong} did not; slowest {slowest:.1f} s"
    )
    return wrong


if __name__ == "__main__":
    sys.exit(min(main(int(sys.argv[1]), int(sys.argv[2])), 1))
