"""Launchers that start several processes without MPI: each is named, and nothing else is taken for one."""

import pytest

from dist_ms.communication.start.launched import check_launcher, launched_size

# What they set, by their documentation; torchrun also sets OMP_NUM_THREADS.
TORCHRUN = {
    "LOCAL_RANK": "1",
    "RANK": "1",
    "GROUP_RANK": "0",
    "ROLE_RANK": "1",
    "ROLE_NAME": "default",
    "LOCAL_WORLD_SIZE": "2",
    "WORLD_SIZE": "2",
    "GROUP_WORLD_SIZE": "1",
    "ROLE_WORLD_SIZE": "2",
    "MASTER_ADDR": "localhost",
    "MASTER_PORT": "29500",
    "TORCHELASTIC_RESTART_COUNT": "0",
    "TORCHELASTIC_MAX_RESTARTS": "0",
    "TORCHELASTIC_RUN_ID": "none",
    "TORCHELASTIC_USE_AGENT_STORE": "True",
    "TORCHELASTIC_ERROR_FILE": "/x/error.json",
    "TORCH_NCCL_ASYNC_ERROR_HANDLING": "1",
}
MSRUN = {
    "MS_WORKER_NUM": "2",
    "MS_SCHED_HOST": "127.0.0.1",
    "MS_SCHED_PORT": "8118",
    "MS_TOPO_TIMEOUT": "600",
    "MS_ROLE": "MS_WORKER",
    "MS_NODE_ID": "1",
    "RANK_SIZE": "2",
}
SRUN = {
    "SLURM_JOB_ID": "7",
    "SLURM_NTASKS": "4",
    "SLURM_STEP_ID": "0",
    "SLURM_STEP_NUM_TASKS": "4",
    "SLURM_PROCID": "3",
    "SLURM_LOCALID": "1",
    "SLURM_MPI_TYPE": "none",
}


@pytest.mark.parametrize(
    ("environ", "begin", "seen", "command"),
    [
        (TORCHRUN, "[rank 1 of 2]", "torchrun has started this one (RANK=1, WORLD_SIZE=2,", "dist-ms run -n 2"),
        ({"RANK": "0", "WORLD_SIZE": "8"}, "[rank 0 of 8]", "(RANK=0, WORLD_SIZE=8)", "mpirun -n 8 python"),
        (MSRUN, "[rank ? of 2]", "msrun has started this one (MS_WORKER_NUM=2, MS_ROLE", "dist-ms run -n 2"),
        (
            {**MSRUN, "MS_NODE_RANK": "1", "RANK_ID": "1"},
            "[rank 1 of 2]",
            "(RANK_ID=1, MS_WORKER_NUM=2,",
            "mpirun -n 2",
        ),
        ({**MSRUN, "MS_ROLE": "MS_SCHED"}, "[rank ? of 2]", "MS_ROLE=MS_SCHED", "dist-ms run -n 2"),
        (
            {"MS_WORKER_NUM": "1", "MS_SERVER_NUM": "1", "MS_ROLE": "MS_PSERVER"},
            "[rank ? of 2]",
            "(MS_WORKER_NUM=1, MS_SERVER_NUM=1, MS_ROLE=MS_PSERVER)",
            "dist-ms run -n 1 --servers 1",
        ),
        (SRUN, "[rank 3 of 4]", "srun without MPI has started this one (SLURM_PROCID=3", "srun --mpi=pmix -n 4 python"),
        ({"HOROVOD_RANK": "1", "HOROVOD_SIZE": "3"}, "[rank 1 of 3]", "horovodrun has", "mpirun -n 3 python"),
    ],
)
def test_who_started_the_process_and_what_is_right(environ, begin, seen, command):
    with pytest.raises(RuntimeError) as caught:
        check_launcher("init", environ)
    text = str(caught.value)
    assert text.startswith(f"{begin} For 'init', several processes must be started by an MPI launcher, but ")
    assert seen in text and command in text and "DIST_MS_ALONE=1" in text
    check_launcher("init", {**environ, "DIST_MS_ALONE": "1"})
    # The same variables in a job of MPI's mean nothing, whatever they say.
    for mpi in ({"OMPI_COMM_WORLD_SIZE": "2"}, {"PMI_SIZE": "1"}, {"MV2_COMM_WORLD_SIZE": "2"}):
        check_launcher("init", {**environ, **mpi})


@pytest.mark.parametrize(
    "environ",
    [
        {},
        {"WORLD_SIZE": "1", "RANK": "0", "MASTER_ADDR": "localhost", "MASTER_PORT": "29500"},  # one pod or process
        {"WORLD_SIZE": "1"},
        {"WORLD_SIZE": "4"},  # left over
        {"RANK": "3"},
        {"RANK": "4", "WORLD_SIZE": "4"},
        {"RANK": "captain", "WORLD_SIZE": "4"},
        {"RANK_ID": "1", "RANK_SIZE": "2", "DEVICE_ID": "1"},  # what init() itself hands on to children
        {"MS_WORKER_NUM": "2", "MS_SERVER_NUM": "1"},  # for an mpirun that is yet to come
        {"MS_WORKER_NUM": "1", "MS_ROLE": "MS_WORKER"},
        {"MS_ROLE": "MS_WORKER"},
        {"SLURM_JOB_ID": "7", "SLURM_NTASKS": "8", "SLURM_PROCID": "0", "SLURM_NNODES": "2"},  # a batch script
        {"SLURM_STEP_NUM_TASKS": "1", "SLURM_PROCID": "0", "SLURM_NTASKS": "1"},  # srun --pty
        {**SRUN, "SLURM_MPI_TYPE": "pmix", "PMIX_RANK": "3", "PMIX_NAMESPACE": "slurm.pmix.7.0"},
        {**SRUN, "SLURM_MPI_TYPE": "pmi2", "PMI_RANK": "3", "PMI_SIZE": "4", "PMI_FD": "9"},
        # Pods and containers that run one process each, or none of MPI's: addresses of services are not ranks.
        {"KUBERNETES_SERVICE_HOST": "10.0.0.1", "RANK_SERVICE_PORT": "80", "WORLD_SIZE_PORT": "tcp://10.0.0.3:80"},
        {"SM_HOSTS": '["algo-1","algo-2"]', "SM_CURRENT_HOST": "algo-1", "SM_NUM_GPUS": "0", "MASTER_PORT": "7777"},
    ],
)
def test_other_variables_are_no_launcher(environ):
    check_launcher("init", environ)


def test_alone_holds_against_srun_and_not_against_mpi():
    assert launched_size({**SRUN}) == ("SLURM_STEP_NUM_TASKS", 4)
    assert launched_size({**SRUN, "DIST_MS_ALONE": "1"}) is None
    for mpi in ({"PMIX_RANK": "3"}, {"OMPI_COMM_WORLD_SIZE": "2"}):
        assert launched_size({**SRUN, **mpi, "DIST_MS_ALONE": "1"}) is not None


def test_the_script_is_named_in_the_command(monkeypatch):
    monkeypatch.setattr("sys.argv", ["folder/train.py", "--lr", "1"])
    with pytest.raises(RuntimeError, match=r"'dist-ms run -n 2 train\.py' or 'mpirun -n 2 python train\.py';"):
        check_launcher("init", TORCHRUN)
