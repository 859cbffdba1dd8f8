"""Parameter servers: rows per second against the limits of memory and loopback, and Wide&Deep against PyTorch DDP.

    python benchmarks/bench_ps.py rows      pushes and pulls of 2 workers and 1 server
    python benchmarks/bench_ps.py tables    the time of a step with tables of 1e5 to 2e7 rows
    python benchmarks/bench_ps.py widedeep --torch TORCH_VENV/bin/python --peer bench_torch.py

Each part starts its own jobs. Medians; peers take turns.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time

import numpy as np

FIELDS, DENSE, COLUMNS = 26, 13, 16


def launch(workers: int, servers: int, *words: str) -> dict:
    """Run this file as a job and return what worker 0 found."""
    command = [sys.executable, "-m", "dist_ms.launch", "run", "-n", str(workers)]
    command += ["--servers", str(servers)] if servers else []
    env = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run([*command, __file__, *words], capture_output=True, text=True, env=env, timeout=300)
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout.strip().splitlines()[-1])


def join() -> tuple[int, int]:
    """Join the job."""
    import dist_ms as ms
    from dist_ms.communication import get_group_size, get_rank, init

    ms.set_ps_context(enable_ps=True)
    init()
    ms.set_seed(1)
    return get_rank(), get_group_size()


def peak_memory() -> float:
    """The most memory this process has had, in MB."""
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def job_rows(rows: int, count: int, steps: int) -> dict:
    """Pull and push rows as fast as possible."""
    from dist_ms import nn
    from dist_ms.common.tensor.sparse_tensor import row_tensor
    from dist_ms.communication import get_comm
    from dist_ms.parallel.servers.client import client

    join()
    layer = nn.EmbeddingLookup(rows, COLUMNS)
    layer.embedding_table.set_param_ps(init_in_server=True)
    optimizer = nn.SGD(layer.trainable_params(), 0.01)
    link = client().begin(optimizer).tables[0]
    random = np.random.default_rng(get_comm().rank)
    times = []
    for step in range(steps + 3):
        ids = np.unique(random.integers(0, rows, count))
        begin = time.perf_counter()
        got = link.pull(ids)
        link.push(row_tensor(ids, got, (rows, COLUMNS)))
        if step >= 3:
            times.append((time.perf_counter() - begin) / len(ids))
    seconds = statistics.median(times)
    return {"rows_per_s": 1 / seconds, "MB_per_s": 2 * COLUMNS * 4 / seconds / 1e6, "peak_MB": peak_memory()}


def job_loopback(nbytes: int) -> dict:
    """Send arrays from one rank to another."""
    from dist_ms.communication import get_comm

    rank, _ = join()
    comm, data, times = get_comm(), np.ones(nbytes, np.uint8), []
    for _ in range(20):
        begin = time.perf_counter()
        if rank == 0:
            comm.send(data, 1)
            comm.recv(data, 1)
        else:
            comm.recv(data, 0)
            comm.send(data, 0)
        times.append(time.perf_counter() - begin)
    return {"MB_per_s": 2 * nbytes / statistics.median(times) / 1e6}


def job_widedeep(rows: int, steps: int, lazy: bool = True, batch: int = 256) -> dict:
    """Train the peer's model: the same shapes, batch and kind of data."""
    import dist_ms as ms
    from dist_ms import Tensor, nn, ops
    from dist_ms.parallel.servers.roles import is_worker

    rank, size = join()

    class WideDeep(nn.Cell):
        """A table of all fields, a wide part and three dense layers."""

        def __init__(self) -> None:
            super().__init__()
            self.table = nn.EmbeddingLookup(rows, COLUMNS)
            self.wide = nn.Dense(DENSE, 2)
            self.deep = nn.SequentialCell(
                nn.Dense(FIELDS * COLUMNS + DENSE, 256), nn.ReLU(), nn.Dense(256, 64), nn.ReLU(), nn.Dense(64, 2)
            )
            self.loss = nn.CrossEntropyLoss()

        def construct(self, ids: Tensor, x: Tensor, y: Tensor) -> Tensor:
            found = self.table(ids)
            return self.loss(self.deep(ops.concat((found.reshape((ids.shape[0], -1)), x), 1)) + self.wide(x), y)

    net = WideDeep()
    net.table.embedding_table.set_param_ps(init_in_server=True)
    if size > 1:
        ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
    kind = nn.LazyAdam if lazy else nn.Adam
    step = nn.TrainOneStepCell(net, kind(net.trainable_params(), 1e-3))
    random = np.random.default_rng(rank)
    ids = Tensor(random.integers(0, rows, (batch, FIELDS)))
    x = Tensor(random.standard_normal((batch, DENSE), np.float32))
    y = Tensor(random.integers(0, 2, batch).astype(np.int32))
    times = []
    for i in range(steps + 5):
        begin = time.perf_counter()
        loss = float(step(ids, x, y).asnumpy())
        if i >= 5:
            times.append(time.perf_counter() - begin)
    seconds = statistics.median(times)
    return {
        "samples_per_s": batch * size / seconds, "step_ms": 1e3 * seconds, "loss": loss, "peak_MB": peak_memory(),
        "servers": is_worker(),
    }  # fmt: skip


def rows_report() -> None:
    """Rows per second, against copying in memory and sending between two ranks."""
    array = np.ones(1 << 24, np.float32)
    begin = time.perf_counter()
    for _ in range(5):
        array.copy()
    print(f"memory copy       {5 * array.nbytes / (time.perf_counter() - begin) / 1e6:10.0f} MB/s")
    print(f"two ranks, 4 MB   {launch(2, 0, 'job', 'loopback', '4000000')['MB_per_s']:10.0f} MB/s")
    for count in (1000, 10000, 50000):
        found = launch(2, 1, "job", "rows", "1000000", str(count), "30")
        print(
            f"{count:6} rows a step: {found['rows_per_s'] / 1e6:8.2f} million rows/s pulled and pushed by each of "
            f"2 workers, {found['MB_per_s']:8.0f} MB/s of values"
        )


def tables_report() -> None:
    """The time of a step against the size of the table."""
    found = {rows: launch(2, 1, "job", "widedeep", str(rows), "30") for rows in (100_000, 1_000_000, 20_000_000)}
    for rows, row in found.items():
        print(f"{rows:>10} rows: {row['step_ms']:7.2f} ms a step, worker's peak memory {row['peak_MB']:.0f} MB")
    print(f"ratio largest to smallest {found[20_000_000]['step_ms'] / found[100_000]['step_ms']:.2f}")


def widedeep_report(torch: str, peer: str, repeats: int) -> None:
    """Samples per second against PyTorch DDP on the same two cores."""
    results: dict[str, list[float]] = {}
    for _ in range(repeats):
        for name, ranks in (("servers 2+1", (2, 1)), ("servers 2+2", (2, 2)), ("all-reduce", (2, 0))):
            results.setdefault(name, []).append(launch(*ranks, "job", "widedeep", "1000000", "30")["samples_per_s"])
        for name, more in (("torch dense", []), ("torch sparse", ["--sparse"])):
            command = [torch, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", peer]
            command += ["--model", "widedeep", "--threads", "1", "--parallel", "--steps", "20", *more]
            done = subprocess.run(command, capture_output=True, text=True, timeout=300)
            lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
            if not lines:
                raise SystemExit(done.stderr)
            results.setdefault(name, []).append(json.loads(lines[0])["samples_per_s"])
    best = statistics.median(results["servers 2+1"])
    for name, values in results.items():
        middle = statistics.median(values)
        print(f"{name:12} {middle:10.0f} samples/s   servers 2+1 are {best / middle:5.2f} times as fast")


def main() -> None:
    """Run a part, or be a rank of one."""
    if sys.argv[1:2] == ["job"]:
        numbers = [int(word) for word in sys.argv[3:]]
        result = {"rows": job_rows, "loopback": job_loopback, "widedeep": job_widedeep}[sys.argv[2]](*numbers)
        from dist_ms.communication import get_rank

        if get_rank() == 0:
            print(json.dumps(result), flush=True)
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=("rows", "tables", "widedeep"))
    parser.add_argument("--torch", help="a Python that has PyTorch, for widedeep")
    parser.add_argument("--peer", help="the script that trains with it, for widedeep")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    if options.part == "widedeep":
        if not (options.torch and options.peer):
            parser.error("widedeep needs --torch and --peer")
        widedeep_report(options.torch, options.peer, options.repeats)
    else:
        {"rows": rows_report, "tables": tables_report}[options.part]()


if __name__ == "__main__":
    main()
