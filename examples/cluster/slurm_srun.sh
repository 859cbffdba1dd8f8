#!/bin/bash
# Ranks on several nodes, started by srun itself: sbatch examples/cluster/slurm_srun.sh train.py RUNS/first
# Slurm's PMIx plugin and the MPI library that mpi4py finds must know each other: `srun --mpi=list` has pmix.
#SBATCH --job-name=dist_ms
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=2
#SBATCH --cpus-per-task=4
#SBATCH --time=01:00:00
#SBATCH --output=%x-%j.out
#SBATCH --open-mode=append
# Without B: the signal goes to the ranks; they agree on a step, save and end with code 75.
#SBATCH --signal=USR1@60
#SBATCH --requeue

: "${PYTHON:=python}"
export OMP_NUM_THREADS=${SLURM_CPUS_PER_TASK:-1}

srun --mpi=pmix "$PYTHON" "$@"
code=$?
if [ $code = 75 ]; then
    scontrol requeue "$SLURM_JOB_ID"
fi
exit $code
