"""A dozen random fault plans; `python -m tests.jobs.fault_plans FIRST LAST` runs as many as wanted."""

import pytest

from tests.jobs.fault_plans import FAULTS, plan_of, run_plan

# One seed for every second kind of fault, each drawn with its own rank, step, optimizer and settings.
SEEDS = [19 * turn + kind for turn, kind in enumerate((0, 3, 4, 6, 8, 10, 11, 12, 14, 15, 16, 18))]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_fault_ends_the_job_in_a_clear_error(seed, write, tmp_path):
    plan = plan_of(seed)
    outcome = run_plan(plan, tmp_path)
    assert outcome.complaint(plan) is None, (plan, outcome)


def test_seeds_cover_the_faults():
    assert {plan_of(seed).fault for seed in range(len(FAULTS))} == set(FAULTS)
    assert len({plan_of(seed).fault for seed in SEEDS}) == len(SEEDS)


def test_the_same_job_without_a_fault_ends_well(write, tmp_path):
    outcome = run_plan(plan_of(0).without_fault(), tmp_path)
    assert outcome.code == 0, outcome.err
    assert outcome.out.count("trained to the end") == plan_of(0).ranks
