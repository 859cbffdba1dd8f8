#!/bin/bash
# Several ranks on one node of Slurm: sbatch examples/cluster/slurm_one_node.sh train.py RUNS/first
# The script saves and resumes: Model.train(..., callbacks=[RunCheckpoint(folder, ...)], resume=folder).
#SBATCH --job-name=dist_ms
#SBATCH --nodes=1
#SBATCH --ntasks=2
#SBATCH --cpus-per-task=1
#SBATCH --time=01:00:00
#SBATCH --output=%x-%j.out
#SBATCH --open-mode=append
# A minute before the time is over the ranks are asked to stop; the job then goes back into the queue.
#SBATCH --signal=B:USR1@60
#SBATCH --requeue

# The environment of dist_ms; DIST_MS names the command where it is not on PATH.
: "${DIST_MS:=dist-ms}"

# The number of ranks is the allocation's. A rank that fails brings the job back from its last state, three times.
"$DIST_MS" run --restarts 3 --grace 50 "$@" &
job=$!
trap 'kill -USR1 $job' USR1 TERM
wait $job
code=$?
while kill -0 $job 2>/dev/null; do # a signal has ended the wait, not the job
    wait $job
    code=$?
done
if [ $code = 75 ]; then # stopped on request, and saved
    scontrol requeue "$SLURM_JOB_ID"
fi
exit $code
