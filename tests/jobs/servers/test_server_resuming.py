"""What parameter servers hold is part of a job's state."""

import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

DIST_MS = Path(sys.executable).with_name("dist-ms")
SERVED = """
    import hashlib, sys, numpy as np, dist_ms as ms
    from dist_ms import nn
    from dist_ms.communication import init, get_rank, get_group_size
    ms.set_ps_context(enable_ps=True)
    init()
    folder, stop = sys.argv[1], int(sys.argv[2])
    ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
    ms.set_seed(3)
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.table = nn.EmbeddingLookup(50, 4)
            self.table.embedding_table.set_param_ps()
            self.d = nn.Dense(4, 1)
            self.e = nn.Dense(1, 1)
            self.e.weight.set_param_ps()
        def construct(self, i):
            return self.e(self.d(self.table(i)).mean(1))
    net = Net()
    class Stop(ms.train.Callback):
        comes_last = True
        def on_train_step_end(self, c):
            if c.original_args().cur_step_num == stop:
                c.request_stop()
    opt = nn.Adam(net.trainable_params(), 0.05)
    model = ms.train.Model(net, nn.MSELoss(), opt)
    r = np.random.RandomState(get_rank())
    data = [(r.randint(0, 50, (8, 3)).astype(np.int32), r.rand(8, 1).astype(np.float32)) for _ in range(6)]
    model.train(2, data, callbacks=[Stop(), ms.train.RunCheckpoint(folder, every_steps=100)], resume=folder)
    out = net(ms.Tensor(np.arange(48).reshape(16, 3).astype(np.int32))).asnumpy()
    print("bits", hashlib.sha256(out.tobytes()).hexdigest()[:16], flush=True)
"""


def test_what_servers_hold_comes_back(tmp_path, write):
    """Stopped after step 4 with one server, resumed with two and with none: the bits of a run that never stopped."""
    script = write(textwrap.dedent(SERVED))

    def train(folder, stop, servers):
        words = ["--servers", str(servers)] if servers else []
        job = subprocess.Popen(
            [DIST_MS, "run", "-n", "2", *words, "--threads", "1", script, tmp_path / folder, str(stop)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        out, _ = job.communicate(timeout=90)
        assert job.returncode == 0 and "does not train the parameters" not in out, out
        return re.search(r"bits (\w+)", out)[1]

    wanted = train("whole", 0, 1)
    assert train("first", 4, 1) != wanted
    shutil.copytree(tmp_path / "first", tmp_path / "second")
    assert train("first", 0, 2) == train("second", 0, 0) == wanted
